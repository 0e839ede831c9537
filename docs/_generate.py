# ruff: noqa: INP001  (a part of the documentation, not of a package)
"""What pages are made of that nobody writes: the catalogue from the registry, the layers from the import contract.

    registry, pyproject.toml → docs/_generated/catalogue.md, bibliography.md, layers.md        (never committed)

What a page says of a method is what the package derives from its two magnitudes at that moment.
"""

from __future__ import annotations

import ast
import inspect
import tomllib
from collections.abc import Callable, Iterable, Iterator
from math import inf, isfinite, log, pi
from pathlib import Path

from _tex import tex

from equipoise import catalog
from equipoise.catalog import bibliography
from equipoise.catalog.generators import GENERATORS
from equipoise.instance import Instance
from equipoise.interval import Interval
from equipoise.pairing import Pairing

ROOT = Path(__file__).parents[1]
PLACE = Path(__file__).parent / "_generated"

TABLES = {
    1: "Density estimation, part 1",
    2: "Density estimation, part 2",
    3: "Density ratio estimation, part 1",
    4: "Density ratio estimation, part 2",
    5: "Density ratio estimation, part 3",
    6: "Conditional density and ratio estimation",
}
NO_BREAK = "\N{NO-BREAK SPACE}"
EXACT = {pi / 2: "π/2", -pi / 2: "−π/2", 0.5 * log(2.0): "½ log 2"}


def write(place: Path = PLACE) -> list[Path]:
    """Write the generated pages; untouched where nothing has changed, so that Sphinx need not read them again."""
    place.mkdir(exist_ok=True)
    pages = {"catalogue.md": catalogue(), "bibliography.md": literature(), "layers.md": layers()}
    for name, text in pages.items():
        path = place / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    return [place / name for name in pages]


def catalogue() -> str:
    """Tables of the paper's tables, then a section for every method."""
    blocks: list[str] = ["## All methods at a glance"]
    for number, title in TABLES.items():
        blocks += [f"### Table {number}: {title}", overview(catalog.table(number))]
    blocks += ["### Outside of the tables", overview(i for i in catalog.all() if not i.tables), "## Method by method"]
    for instance in catalog.all():
        blocks += section(instance)
    return "\n\n".join(blocks) + "\n"


def literature() -> str:
    """The works cited, one a line, and all of them in BibTeX."""
    works = [f"- {work.text}" for work in bibliography.works()]
    return "\n".join([*works, "", "```bibtex", bibliography.bibtex().rstrip(), "```", ""])


def layers() -> str:
    """The layers of the import contract, top to bottom, each with the first sentence of its docstring."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    names = [name for layer in contract["contracts"][0]["layers"] for name in layer.strip("()").split(" | ")]
    rows = [[f"`{name}`", first_sentence(path)] for name in names if (path := module(name)) is not None]
    return table(["layer", "what it is"], rows) + "\n"


def module(name: str) -> Path | None:
    """The file of a layer; None where it does not exist yet."""
    home = ROOT / "src" / "equipoise"
    return next((path for path in (home / f"{name}.py", home / name / "__init__.py") if path.exists()), None)


def first_sentence(path: Path) -> str:
    """What a module says of itself first."""
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(said.split("\n\n")[0].split()).removesuffix(".")


def overview(instances: Iterable[Instance]) -> str:
    """One row per method."""
    head = ["method", "learns", "K", "surface may have", "magnitudes", "loss"]
    rows = [
        [
            f"[`{i.name}`](#{i.name})",
            i.estimand.words,
            ends(i.interval),
            i.range,
            "bounded" if i.bounded else "unbounded",
            loss(i),
        ]
        for i in instances
    ]
    return table(head, rows)


def section(instance: Instance) -> Iterator[str]:
    """Everything about one method."""
    yield f"### {instance.name}"
    yield call(instance)
    entry = catalog.entries()[instance.name]
    if not isinstance(entry, Instance):
        yield told(entry)
    yield f"$$\n{instance.estimand.tex}\n$$"
    yield table(["what", "value"], facts(instance))
    if instance.name == "f_divergence":
        yield from kinds()
    if instance.reference.cite:
        yield "\n".join(f"- {bibliography.entry(key).text}" for key in instance.reference.cite)


def facts(instance: Instance) -> Iterator[list[str]]:
    """The rows of a method's own table; those marked derived are computed from the magnitudes."""
    printed = instance.printed
    yield ["the surface learns", f"{instance.estimand.words}; height $f$ = `{instance.estimand.frame.formula}`"]
    yield ["K", ends(instance.interval)]
    if instance.reachable != instance.interval:
        yield ["reachable with its pairing (derived)", ends(instance.reachable)]
    if printed:
        yield ["$M^U$, as printed in $f$ and $p$", f"${tex(printed.up)}$"]
        yield ["$M^D$, as printed", f"${tex(printed.down)}$"]
        if printed.loss_up:
            sides = (
                rf"\mathbb{{E}}_U\left[{tex(printed.loss_up)}\right]"
                rf" + \mathbb{{E}}_D\left[{tex(printed.loss_down)}\right]"
            )
            yield ["loss, as printed", f"${sides}$"]
        if printed.erratum:
            yield ["erratum", f"{printed.erratum} See [](errata.md)."]
    yield ["sign (derived)", "positive magnitudes" if instance.sign > 0 else "negative magnitudes, T decreases"]
    yield ["loss (derived)", loss(instance)]
    yield ["bounded (derived)", bounds(instance)]
    yield ["range of the surface (derived)", span(instance)]
    yield ["where only up rows live (derived)", without_down(instance)]
    yield ["where only down rows live (derived)", alone(instance.where_only_down, instance.heights)]
    for k, pairing in enumerate(instance.pairings):
        yield ["pairing" if k == 0 else "or", sampled(pairing)]
    yield ["in the paper", ", ".join([*(f"Table {n}" for n in instance.tables), instance.reference.place])]


def kinds() -> Iterator[str]:
    """The members of f_divergence."""
    rows = []
    for kind, generator in GENERATORS.items():
        member = catalog.f_divergence(kind)
        rows.append([f"`{kind}`", generator.words, ends(member.interval), member.range])
    yield table(["kind", "divergence", "K", "surface may have"], rows)


def told(family: Callable[..., Instance]) -> str:
    """What a family's docstring says, without its list of arguments."""
    paragraphs = (inspect.getdoc(family) or "").split("\n\n")
    return "\n\n".join(" ".join(p.split()) for p in paragraphs if not p.startswith("Arguments:"))


def call(instance: Instance) -> str:
    """How to get it, with a family's parameters at their defaults."""
    arguments = ", ".join(f"{name}={value!r}" for name, value in instance.parameters.items())
    return f"`eq.catalog.{instance.name}({arguments})`" if arguments else f"`eq.catalog.{instance.name}`"


def loss(instance: Instance) -> str:
    """Whether the primitives are implemented in closed form."""
    if instance.has_loss:
        return "closed form"
    return "no closed form"


def bounds(instance: Instance) -> str:
    """The largest magnitudes."""
    if not instance.bounded:
        sides = [side for side, bound in zip(("up", "down"), instance.bounds, strict=True) if not isfinite(bound)]
        return f"no: the {' and the '.join(sides)} magnitude{'s grow' if len(sides) > 1 else ' grows'} without end"
    up, down = (number(float(f"{bound:.3g}")) for bound in instance.bounds)
    return f"yes: at most {up} (up) and {down} (down)"


def span(instance: Instance) -> str:
    """Which heights the surface may take."""
    if instance.range == "any range":
        return "any range"
    if instance.range == "no balance":
        return f"no balance: {first_failure(instance)}"
    return f"must be K: use `eq.surfaces.InRange(surface, instance.interval)`; {first_failure(instance)}"


def first_failure(instance: Instance) -> str:
    """The first condition that fails, in words."""
    failed = next(condition for condition in instance.report.conditions if not condition.holds)
    where = "" if failed.at is None else f" at u = {number(failed.at)}"
    return f"“{failed.text}” fails{where} (theorem at {failed.theorem})"


def without_down(instance: Instance) -> str:
    """Where the up force alone leaves the surface; nowhere, if down rows contain up rows."""
    if isfinite(instance.pairing.z_high):
        end = instance.reachable.high if instance.sign > 0 else instance.reachable.low
        return f"u goes to {number(end)}: the down rows contain up rows, so that both forces live there"
    return alone(instance.where_only_up, instance.heights)


def alone(where: str | float, heights: Interval) -> str:
    """Where a force without its opponent leaves the surface."""
    if isinstance(where, str):
        return {
            "arbitrary": "arbitrary: no force acts there",
            "undecided": "the force stops before a single height is singled out",
        }.get(where, where)
    if not isfinite(where):
        return f"pushed {'up' if where > 0 else 'down'} without end"
    border = " (an end of the heights it may have)" if where in {heights.low, heights.high} else ""
    return f"u goes to {number(where)}{border}"


def sampled(pairing: Pairing) -> str:
    """What is sampled up and down."""
    place = f" ({pairing.place})" if pairing.place else ""
    return f"{pairing.name}: up ${pairing.up}$, down ${pairing.down}$; {pairing.words}{place}"


def ends(interval: Interval) -> str:
    """An interval."""
    return f"({number(interval.low)},{NO_BREAK}{number(interval.high)})"


def number(value: float) -> str:
    """A number as one would write it."""
    if abs(value) == inf:
        return "∞" if value > 0 else "−∞"
    exact = [name for known, name in EXACT.items() if abs(known - value) < 1e-9]
    return exact[0] if exact else f"{value:.4g}".replace("-", "−")


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    """A Markdown table; bars inside of cells are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)


if __name__ == "__main__":
    write()
