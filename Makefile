# Every target sets up what it needs. `make` alone explains them.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup run test check bench docs clean

help:  ## explain the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): pyproject.toml
	@echo 'installing, about a minute'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[sqlalchemy]' --group dev
	@touch $@

setup: $(READY)  ## make the virtual environment

run: $(READY)  ## set up, start Clarion embedded, play a small forge, serve http://127.0.0.1:8500 (or PORT=…)
	$(BIN)/clarion demo $(if $(PORT),--port $(PORT))

test: $(READY)  ## set up and run every test
	$(BIN)/pytest -n 2 --dist loadgroup

check: $(READY)  ## ruff, mypy strict, import contracts, docs test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -q tests/docs

bench: $(READY)  ## measure Clarion beside the bare SQL; writes build/bench.json
	$(BIN)/python -m bench

docs: $(READY)  ## regenerate the reference pages made from code
	$(BIN)/python -m tests.docs.generate

clean:  ## remove what the other targets made
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
