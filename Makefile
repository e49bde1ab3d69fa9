# The two that matter:  make demo   make test
# Both set everything up first; only python3, make and git are assumed.

PYTHON ?= python3
UV_LOCK := tools/uv-requirements.txt
BIN := .venv/bin
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help setup packages test-packages demo test test-long tests check fix lock docs screenshots bench paper clean

help:            ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 15

setup: test-packages $(READY)  ## all system packages, and a virtual environment with the pinned dependencies

packages:        ## programs that builds need, installed where we may (as root, with apt-get)
	@sh tools/system-packages

test-packages:   ## the same, and a browser for the tests of pages
	@sh tools/system-packages tests

$(READY): requirements.lock $(UV_LOCK) pyproject.toml
	@PYTHON="$(PYTHON)" sh tools/make-venv $(UV_LOCK)
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --require-hashes --requirements requirements.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

demo: packages $(READY)  ## the main job on bundled data: a month of commits and their signals
	@$(BIN)/python -m examples.digits
	@$(BIN)/python -m examples.pushes

test: test-packages $(READY)  ## lint, types, import rules, and all tests but the long ones
	@$(MAKE) --no-print-directory --jobs 2 check tests

test-long: test-packages $(READY)  ## the long tests: demos, searches for crashes, pages at all sizes
	@$(BIN)/python -m pytest -n 2 --dist worksteal -q -m long

tests: $(READY)  ## the tests of `make test`, without lint
	@$(BIN)/python -m pytest -n 2 --dist worksteal -q -m "not long"

check: $(READY)  ## lint, types and import rules
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache > .venv/imports.log || { cat .venv/imports.log; exit 1; }

fix: $(READY)    ## format and mend what can be mended by itself
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format --quiet .

COMPILE := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --upgrade

lock: $(READY)   ## pin the dependencies anew, and the installer itself
	$(COMPILE) --group dev pyproject.toml --output-file requirements.lock
	echo uv | $(COMPILE) --output-file $(UV_LOCK) -

docs: $(READY)   ## write what the docs take from the code: commands, keys, pictures
	@$(BIN)/python tools/write_docs.py

screenshots: test-packages $(READY)  ## pictures of the pages for the docs
	@$(BIN)/python tools/take_screenshots.py

bench: $(READY)  ## measure labels and times, and hold them to what is promised
	@$(BIN)/python -m bench

paper: $(READY)  ## everything that the paper shows, regenerated: docs/paper/
	@$(BIN)/python -m paper

clean:           ## remove the virtual environment and all caches
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
