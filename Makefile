# Everything runs in .venv, which is made on first use and renewed when requirements.lock or pyproject.toml change.

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
BENCHMARKS := $(sort $(filter-out benchmarks/_%,$(wildcard benchmarks/*.py)))

.DEFAULT_GOAL := help
.PHONY: run test test-all check bench docs clean help

run: $(READY)  ## fit the example density, measure it on fresh rows, and write report and picture into out/
	$(BIN)/python -m equipoise fit data/spirals.csv --test data/spirals_test.csv \
	  --out out/spirals.eqp --report out/spirals.html --plot out/spirals.png

test: $(READY)  ## run the tests
	$(BIN)/python -m pytest

test-all: $(READY)  ## run the tests, the slow ones too
	$(BIN)/python -m pytest -m ""

check: $(READY)  ## lint, format, types, import layers, and docs with warnings as errors
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/lint-imports --no-logo
	@$(MAKE) --no-print-directory docs

bench: $(READY)  ## run every benchmark
ifeq ($(BENCHMARKS),)
	@echo "There are no benchmarks yet."
else
	@set -e; for script in $(BENCHMARKS); do echo "$$script"; $(BIN)/python "$$script"; done
endif

# -E reads every page anew: Sphinx reports the warnings of a page only when it reads it.
docs: $(READY)  ## build the docs into docs/_build/html
	$(BIN)/python -m sphinx -q -E -W -b html docs docs/_build/html

clean:  ## remove what was built, but not the environment (rm -rf .venv)
	rm -rf out build dist docs/_build docs/_generated src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(firstword $(MAKEFILE_LIST)) \
	  | while IFS='|' read -r target text; do printf '  make %-9s %s\n' "$$target" "$$text"; done

# torch comes first and alone: pinned so, pip takes a CPU wheel where one is at hand; asked for by another package,
# it may come as several gigabytes of CUDA.
$(READY): requirements.lock pyproject.toml
	@set -e; \
	if ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
	  for python in python3.11 python3 none; do \
	    if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then break; fi; \
	  done; \
	  if [ $$python = none ]; then \
	    echo "equipoise needs Python 3.11 or later: neither python3.11 nor python3 on the PATH is one." >&2; exit 1; \
	  fi; \
	  echo "Making $(VENV) with $$($$python --version). This takes a minute or two."; \
	  $$python -m venv --clear $(VENV); \
	fi; \
	torch=$$(grep '^torch==' requirements.lock); \
	$(PIP) install "$$torch"; \
	$(PIP) install -r requirements.lock; \
	$(PIP) install --no-deps --no-build-isolation -e .; \
	$(PIP) check; \
	touch $(READY)
