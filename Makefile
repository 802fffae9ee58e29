# All targets share one virtual environment; the stamp file says that it is up to date.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
# A notice of the theme about its successor, at every build.
export NO_MKDOCS_2_WARNING := 1

.PHONY: bench bench-full clean coverage demo docs hooks integration lint long matrix quick release-check requirements soak \
	soak-unit test tpch types unit versions

# lint, types and tests/ share the machine; integration/ has it for itself.
test:
	$(MAKE) --jobs=2 lint types unit
	$(MAKE) integration

# The view beside what people write by hand; BENCH="--views by_day --rows 5000000 --docs" passes options on.
bench: $(STAMP)
	$(BIN)/python -m benchmarks.bench $(BENCH)

bench-full: $(STAMP)
	$(BIN)/python -m benchmarks.bench --full $(BENCH)

demo: $(STAMP)
	$(BIN)/python examples/tpch/demo.py

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python scripts/lint_imports.py
	$(BIN)/mkdocs build --strict --quiet

types: $(STAMP)
	$(BIN)/mypy -p dbt.adapters.icebergmv -p tests -p integration

# The site of docs/, README and CHANGELOG: open .site/index.html. A link to nothing is an error.
docs: $(STAMP)
	$(BIN)/mkdocs build --strict

# The fast tests without the slowest: some minutes on two idle cores.
quick: $(STAMP)
	$(BIN)/pytest tests -n 2 -m "not slow and not long"

unit: $(STAMP)
	$(BIN)/pytest tests -n 2 -m "not long"

# tests/ over the engine; fails below the bar in pyproject.toml. Python 3.12 and newer trace at less cost with sysmon.
coverage: $(STAMP)
	COVERAGE_CORE=$$($(BIN)/python -c 'import sys; print("sysmon" if sys.version_info >= (3, 12) else "ctrace")') \
		$(BIN)/pytest tests -n 2 --cov --cov-report=term

soak-unit: $(STAMP)
	$(BIN)/python -m tests.randomised.soak --histories 10000

# Two processes, each with a Spark of its own; a file stays in one of them.
integration: $(STAMP)
	$(BIN)/pytest integration -n 2 --dist loadfile -m "not long"

# What `make unit` and `make integration` leave out: more places of the same tests.
long: $(STAMP)
	$(BIN)/pytest tests -n 2 -m long
	$(BIN)/pytest integration -n 2 --dist loadfile -m long
	STITCHED_SHAPES=all $(BIN)/pytest integration/reads/test_stitched_shapes.py
	$(BIN)/pytest integration/refresh/test_table_layout.py --lake hadoop \
		-k "every_kind or writes_of_others or rolled or moves"

# SOAK="--seed 7 --minutes 20" passes options on.
soak: $(STAMP)
	$(BIN)/python -m integration.randomised.soak --histories 300 --mutants $(SOAK)

tpch: $(STAMP)
	TPCH_VIEWS=all $(BIN)/pytest integration/parity/test_tpch_views.py

# The whole life of materialized views: every connection and catalog, both readers, both layouts; a process a life.
matrix: $(STAMP)
	$(BIN)/pytest integration/connections/test_life_cycle.py integration/catalogs/test_life_cycle.py \
		integration/catalogs/test_combinations.py integration/catalogs/test_life_cycle_over_spark.py \
		-n 2 -k "not in_this_process"

# The lowest and the newest allowed versions, each in an environment of its own: an hour or more.
# VERSIONS="--environment lowest --dry-run" passes options on.
versions: $(STAMP)
	$(BIN)/pip install --quiet uv
	$(BIN)/python scripts/versions.py $(VERSIONS)

# The checks of `make lint` and `make types` before every commit.
hooks: $(STAMP)
	$(BIN)/pre-commit install

# Builds the distributions, checks them, and imports the wheel in an empty environment (docs/releasing.md).
release-check: $(STAMP)
	$(BIN)/python scripts/release_check.py

requirements: $(STAMP)
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.10 --no-emit-index-url \
		--no-header --output-file requirements-dev.txt requirements-dev.in

clean:
	rm -rf $(VENV) .versions .release .site

$(STAMP): requirements-dev.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Cannot set up: Python 3.10 or newer is needed. Set PYTHON=<path>.")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --requirement requirements-dev.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $(STAMP)
