"""Every citation resolves, and what BibTeX is made of is well-formed."""

import re

import pytest

from equipoise import catalog
from equipoise.catalog import bibliography

KINDS = {
    "article": {"author", "title", "journal", "year"},
    "book": {"author", "title", "publisher", "year"},
    "incollection": {"author", "title", "booktitle", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "misc": {"author", "title", "year", "eprint", "archiveprefix"},
}

every_work = pytest.mark.parametrize("work", bibliography.works(), ids=lambda work: work.key)


@pytest.mark.parametrize("instance", catalog.all(), ids=lambda instance: instance.name)
def test_every_citation_of_the_catalogue_resolves(instance):
    assert instance.reference.cite
    for key in instance.reference.cite:
        assert bibliography.entry(key).key == key


def test_every_entry_is_cited():
    cited = {key for instance in catalog.all() for key in instance.reference.cite}
    assert {work.key for work in bibliography.works()} == cited


@every_work
def test_an_entry_is_well_formed_bibtex(work):
    found = re.fullmatch(r"@(\w+)\{(\S+),\n((?:  \w+ = \{.+\},\n)+)\}", work.bibtex)
    assert found
    kind, name, body = found.groups()
    fields = dict(re.findall(r"  (\w+) = \{(.+)\},\n", body))
    assert name == work.key
    assert set(fields) >= KINDS[kind]
    assert re.fullmatch(r"(19|20)\d\d", fields["year"])
    assert all(len(author.split()) >= 2 or author == "others" for author in fields["author"].split(" and "))
    assert all(value.count("{") == value.count("}") and not set(value) & set("\\@%#") for value in fields.values())
    assert re.fullmatch(r"\d+--\d+", fields.get("pages", "1--2"))
    assert re.fullmatch(r"\d{4}\.\d{4,5}", fields.get("eprint", "1000.0000"))


@every_work
def test_an_entry_reads_on_one_line(work):
    assert "\n" not in work.text
    assert work.title in work.text
    assert str(work.year) in work.text
    assert " and others" not in work.text


def test_a_file_holds_each_wanted_work_once():
    text = bibliography.bibtex(["Hinton02nc", "Baird05ijcnn", "Hinton02nc"])
    assert re.findall(r"@\w+\{(\w+),", text) == ["Baird05ijcnn", "Hinton02nc"]
    assert len(re.findall("^@", bibliography.bibtex(), re.MULTILINE)) == len(bibliography.works())


def test_an_unknown_key_names_the_nearest():
    with pytest.raises(ValueError, match="Gutmann10aistats"):
        bibliography.entry("Gutman10aistats")
