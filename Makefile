# All targets share one virtual environment; the stamp file says that it is up to date.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.PHONY: demo test lint types unit integration soak soak-unit tpch requirements clean

test: lint types unit integration

demo: $(STAMP)
	$(BIN)/python examples/tpch/demo.py

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy -p dbt.adapters.icebergmv

unit: $(STAMP)
	$(BIN)/pytest tests -n 2

soak-unit: $(STAMP)
	$(BIN)/python -m tests.randomised.soak --histories 10000

# Two processes, each with a Spark of its own; a file stays in one of them.
integration: $(STAMP)
	$(BIN)/pytest integration -n 2 --dist loadfile

# SOAK="--seed 7 --minutes 20" passes options on.
soak: $(STAMP)
	$(BIN)/python -m integration.randomised.soak --histories 300 --mutants $(SOAK)

tpch: $(STAMP)
	TPCH_VIEWS=all $(BIN)/pytest integration/test_tpch_views.py

requirements: $(STAMP)
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.10 --no-emit-index-url \
		--no-header --output-file requirements-dev.txt requirements-dev.in

clean:
	rm -rf $(VENV)

$(STAMP): requirements-dev.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Cannot set up: Python 3.10 or newer is needed. Set PYTHON=<path>.")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --requirement requirements-dev.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $(STAMP)
