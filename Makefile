# Every target does its own set-up, in .venv. `make help` lists them.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo quick test tests boundscheck check spark oldest bench soak docs clean

BIN := .venv/bin
VENV := .venv/made
INSTALLED := .venv/ready
WARMED := .venv/warmed
REWRITTEN := .venv/rewritten
SPARK := .cache/spark
OLDEST := .cache/oldest
HAS_JAVA := { command -v java >/dev/null || [ -n "$$JAVA_HOME" ]; }
SPARK_TESTS := tests/engines/test_spark.py tests/pipeline/files/test_spark.py tests/pipeline/test_table_joins.py tests/test_docs.py::test_examples_run[docs/guide/spark.md]
QUICK := tests/model tests/kernels tests/text tests/schemes tests/decisions tests/evaluation tests/sources tests/test_contracts.py
BOUNDSCHECKED := tests/kernels tests/text tests/schemes tests/decisions
NO_KERNEL := test_shards test_memory_files test_fulltext test_html test_laws test_analysis test_unicode test_stems test_costs test_machine_code \
    test_tables_file test_arrays test_check test_log test_manifest test_columns test_containers test_ranking test_charsets test_url_rules
STATISTICS := _law or match_rates or bound_says or the_angle or cost_no_more
MANY_WORDS := generated_words or every_class

# The first of these that is Python 3.11 or newer; `make PYTHON=/path/to/python` names one.
PYTHON := python3.11 python3 python3.12 python3.13 python3.14

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 16

demo: $(WARMED) ## find the near duplicates of the bundled sample collection
	@$(BIN)/neardup demo

quick: $(WARMED) ## run the tests of single modules with few examples, those that failed first (about a minute)
	HYPOTHESIS_PROFILE=ci $(BIN)/pytest -q -m "not soak" --failed-first --numprocesses 2 $(QUICK)

test: tests boundscheck ## run the tests, and the array code again with bounds checks
	@echo "Left out: the tests on Spark (make spark) and those that take minutes (make soak)."

tests: $(WARMED) $(REWRITTEN)
	$(BIN)/pytest -m "not soak" --numprocesses 3 --dist worksteal # three: tests wait for processes and disks a part of the time

# With machine code of its own, hardly optimized, which compiles sooner; `make --jobs` does so while that of the other
# tests is compiled. In one process: several would compile the same kernels at the same time.
boundscheck: $(INSTALLED)
	HYPOTHESIS_PROFILE=ci NUMBA_BOUNDSCHECK=1 NUMBA_OPT=1 NUMBA_CACHE_DIR="$(CURDIR)/.cache/boundscheck" \
	    $(BIN)/pytest -q -m "not soak" -k "not ($(STATISTICS) or $(MANY_WORDS))" $(BOUNDSCHECKED) \
	    $(foreach name,$(NO_KERNEL),--ignore-glob='*/$(name).py')

spark: $(SPARK)/installed $(WARMED) ## run the tests on Spark, if there is Java; PySpark (456 MB) is installed into .cache/spark
	@if ! $(HAS_JAVA); then \
	    echo "The tests on Spark are left out: there is no Java. Install Java 17 or newer, or set JAVA_HOME."; exit 0; fi; \
	PYTHONPATH="$(CURDIR)/$(SPARK)" $(BIN)/pytest -q -m "not soak" $(SPARK_TESTS)

# Current releases of the library datasets cannot make a data set with that release of Arrow.
oldest: $(OLDEST)/installed $(INSTALLED) ## run the tests with the oldest supported releases of all libraries (long)
	PYTHONPATH="$(CURDIR)/$(OLDEST)" NUMBA_CACHE_DIR="$(CURDIR)/$(OLDEST)/kernels" $(BIN)/neardup warm
	PYTHONPATH="$(CURDIR)/$(OLDEST)" NUMBA_CACHE_DIR="$(CURDIR)/$(OLDEST)/kernels" $(BIN)/pytest -q -m "not soak" --numprocesses 2 \
	    -k "not (dataset or rows_of_a_sequence)"

check: $(INSTALLED) ## formatting, lint, types, import contracts
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(WARMED) ## measure against other libraries (long; they get environments of their own)
	$(BIN)/python benchmarks/all.py

soak: $(WARMED) ## run the tests that take minutes (all: about six hours); those on Spark after make spark
	PYTHONPATH="$(CURDIR)/$(SPARK)" TMPDIR="$${TMPDIR:-/tmp}" $(BIN)/pytest -m soak --timeout=0

docs: $(WARMED) ## run the examples of the documentation and follow its links
	$(BIN)/pytest -q tests/test_docs.py

clean: ## remove everything that make has made
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build
	find src tests benchmarks tools -type d -name __pycache__ -prune -exec rm -rf {} +

# The environment counts as made only when nothing is being installed into it: after an interrupted set-up, the next one
# starts from nothing. The constraints are named by a relative path, because pip splits these variables at spaces.
PIP_INSTALL := PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 \
    $(BIN)/python -m pip install --quiet --no-compile

$(VENV):
	@if [ -e .venv ]; then echo "The last set-up was interrupted: starting again."; rm -rf .venv; fi
	@found=; for python in $(PYTHON); do \
	    if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	    echo "neardup needs Python 3.11 or newer, and none of these is: $(PYTHON)." >&2; \
	    echo "Install one, or name it: make PYTHON=/path/to/python3.11" >&2; \
	    exit 1; \
	fi; \
	echo "Setting up .venv with $$("$$found" --version): installing neardup and its development tools (a minute or two)." && \
	"$$found" -m venv .venv
	@$(PIP_INSTALL) --upgrade pip # the one that comes with Python 3.11 takes twice the time to choose packages
	@touch $@

$(INSTALLED): pyproject.toml constraints.txt | $(VENV)
	@rm -f $(VENV) $@
	@$(PIP_INSTALL) -e '.[dev]'
	@touch $(VENV) $@

# A folder of its own: PySpark takes half a minute to install, and no other tests need it. Without Java it is left out.
$(SPARK)/installed: pyproject.toml constraints.txt | $(VENV)
	@rm -rf $(SPARK)
	@if $(HAS_JAVA); then \
	    echo "Installing PySpark into $(SPARK) (about a minute)." && mkdir -p $(SPARK) && \
	    $(PIP_INSTALL) --target $(SPARK) pyspark && touch $@; \
	fi

$(OLDEST)/installed: pyproject.toml tools/oldest_releases.py | $(VENV)
	@rm -rf $(OLDEST)
	@mkdir -p $(OLDEST) && $(BIN)/python tools/oldest_releases.py >$(OLDEST)/releases.txt
	@$(BIN)/python -m pip install --quiet --no-compile --only-binary :all: --target $(OLDEST) -r $(OLDEST)/releases.txt
	@touch $@

# Bytecode of what a command loads and compiled kernels are kept next to their sources, so the first command a person
# runs is as fast as the second, also where PYTHONDONTWRITEBYTECODE is set.
$(WARMED): $(INSTALLED) $(wildcard src/neardup/kernels/*.py)
	@find src -name '*.nb[ic]' -delete # Numba does not see changes of the parts that kernels of other files call
	@$(BIN)/python -m compileall -q src
	@PYTHONDONTWRITEBYTECODE= $(BIN)/neardup warm
	@touch $@

# pytest compiles the tests with assertions of its own, and keeps them. Here one process does so, later several at once.
$(REWRITTEN): | $(WARMED)
	@PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --collect-only -q >/dev/null || true # the tests themselves report errors
	@touch $@
