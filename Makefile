# Each target does all its own set-up: Python 3.11+, pip and a C++ compiler are enough.
PYTHON ?= python3
BIN := .venv/bin
QUIETLY := --quiet --no-compile --constraint constraints.txt

# Only what is imported is compiled, once; where this is set, every process would compile torch anew.
unexport PYTHONDONTWRITEBYTECODE

# pip and apt, lint and tests side by side
MAKEFLAGS += --jobs=2

.PHONY: quickstart test lint suite browser tables screenshots clean

quickstart: .venv/installed
	$(BIN)/lengthlab quickstart

test: lint suite  # side by side: lint is through before the first test begins

lint: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyrefly check

suite: .venv/installed-dev .venv/compiled browser
	# Three: many tests wait for processes of their own; one at a time: slow tests come first; groups share a server or a browser
	$(BIN)/pytest -n 3 --maxschedchunk 1 --dist loadgroup

browser:  # the report is tested in a real browser
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing chromium, in which the report is tested"; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null && exit 0; \
	fi; \
	echo "no chromium here and none could be installed: the report is not tested in a browser"

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "lengthlab needs Python 3.11 or newer; try make PYTHON=python3.11")'
	# The pip that comes with Python 3.11 takes long to put into .venv, and half a minute longer to choose among wheels.
	$(PYTHON) -m venv --without-pip .venv
	$(PYTHON) -m pip --python $@ install $(QUIETLY) pip || \
	  { $(PYTHON) -m venv .venv && $(BIN)/pip install $(QUIETLY) --upgrade pip; }

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install $(QUIETLY) --editable .
	touch $@

# pip unpacks one wheel after another; the largest come first, side by side
.venv/torch: .venv/bin/python constraints.txt
	$(BIN)/pip install $(QUIETLY) torch numpy
	touch $@

.venv/large: .venv/bin/python constraints.txt
	$(BIN)/pip install $(QUIETLY) --no-deps duckdb onnxruntime playwright ray scipy transformers
	touch $@

# What every worker imports is compiled once, while pip needs one core only; else each would compile all of it.
.venv/compiled: .venv/torch
	$(BIN)/python -c 'import torch, torch._dynamo, torch._inductor.compile_fx, torch.onnx, torch.distributed.run'
	touch $@

.venv/installed-dev: .venv/torch .venv/large pyproject.toml constraints.txt
	$(BIN)/pip install $(QUIETLY) --editable '.[dev]'
	touch $@ .venv/installed

tables: .venv/installed  # renew the tables of the README and the docs from the registries
	$(BIN)/python -m lengthlab.cli.doc_tables README.md docs/*.md src/lengthlab/*/__init__.py

screenshots: .venv/installed-dev browser  # renew the pictures of the page in the docs
	$(BIN)/python docs/screenshots.py

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis
