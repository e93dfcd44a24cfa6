PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# Stamps of what is installed: they live inside the environment, so they go when it goes.
DEMO := $(VENV)/.installed-demo
TEST := $(VENV)/.installed-test
DEV := $(VENV)/.installed-dev
RIVALS := $(VENV)/.installed-rivals
DOCS := $(VENV)/.installed-docs
GPU := $(VENV)/.installed-gpu
# Tests that need no more than the extra "test": no cluster, no browser, no pinned versions.
PORTABLE := -q -n auto -m "not system" tests $(addprefix --ignore=tests/,benchmarks docs integrations package)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-all test-oldest test-newest test-gpu lint format docs dist bench bench-gpu clean

help: ## List these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(firstword $(MAKEFILE_LIST)) | while IFS='|' read -r name text; do printf '  make %-11s %s\n' "$$name" "$$text"; done

demo: $(DEMO) ## Install what the demo needs (once) and run it
	@$(BIN)/listwright demo

test: $(TEST) ## Run tests and doctests, without those that need a database, a cluster, a browser or a build
	$(BIN)/listwright warmup
	$(BIN)/pytest -q -n auto -m "not system"

test-all: lint test ## Check style, types and imports, then run all tests: those of the whole system, too
	$(BIN)/pytest -q -n auto -m system

test-oldest: ## Test with the lowest versions that pyproject.toml allows, in an environment of its own
	$(PYTHON) -m venv --clear .venv-oldest
	.venv-oldest/bin/pip install --quiet uv
	.venv-oldest/bin/uv pip install --quiet --python .venv-oldest --resolution lowest-direct -e ".[test]"
	NUMBA_CACHE_DIR=.venv-oldest/numba .venv-oldest/bin/pytest $(PORTABLE)

test-newest: ## Test with the newest versions that there are, in an environment of its own
	$(PYTHON) -m venv --clear .venv-newest
	.venv-newest/bin/pip install --quiet -e ".[test]"
	NUMBA_CACHE_DIR=.venv-newest/numba .venv-newest/bin/pytest $(PORTABLE)

test-gpu: $(GPU) ## Test the GPU path on a machine with CUDA; skipped elsewhere
	$(BIN)/pytest -q -rs tests/gpu

lint: $(DEV) ## Check style, types and imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(DEV) ## Sort imports and format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(DOCS) ## Write code, its output and the benchmarks' figures into the pages, and build build/docs
	$(BIN)/python docs/pages.py
	$(BIN)/python -m benchmarks.results_page
	$(BIN)/python docs/run_snippets.py
	$(BIN)/python docs/notebooks.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

dist: $(DEV) ## Build the wheel and the sdist into dist
	$(BIN)/python -m build --no-isolation

bench: $(RIVALS) ## Time our code and the peers' on the same inputs; writes docs/performance.md
	$(BIN)/python -m benchmarks.speed

bench-gpu: $(GPU) ## Time selection on a CUDA GPU; writes benchmarks/gpu/results.json and docs/gpu.md
	$(BIN)/python -m benchmarks.gpu

clean: ## Remove caches and build outputs; the environment stays
	rm -rf build dist report report.html .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests -type d -name __pycache__ -prune -exec rm -rf {} +

$(DEMO): pyproject.toml constraints.txt | $(BIN)/pip
	@echo "Installing listwright into $(VENV) ..."
	@$(PIP) install -e ".[cli,plots]" -c constraints.txt
	@touch $@

$(TEST): pyproject.toml constraints.txt | $(BIN)/pip
	@echo "Installing listwright and what its tests need into $(VENV) ..."
	@$(PIP) install -e ".[test]" -c constraints.txt
	@touch $@

$(DEV): pyproject.toml constraints.txt | $(BIN)/pip
	@echo "Installing listwright and all development tools into $(VENV) ..."
	@$(PIP) install -e ".[dev]" -c constraints.txt
	@touch $@

$(DOCS): pyproject.toml constraints.txt | $(BIN)/pip
	@echo "Installing what builds the pages into $(VENV) ..."
	@$(PIP) install -e ".[docs]" -c constraints.txt
	@touch $@

$(RIVALS): pyproject.toml constraints.txt | $(BIN)/pip
	@echo "Installing listwright and its peers into $(VENV) ..."
	@$(PIP) install -e ".[rivals]" -c constraints.txt
	@touch $@

$(GPU): pyproject.toml constraints.txt | $(BIN)/pip
	@echo "Installing listwright, PyTorch and Triton into $(VENV) ..."
	@$(PIP) install -e ".[gpu]" pytest -c constraints.txt
	@touch $@

$(BIN)/pip:
	@$(PYTHON) -m venv $(VENV)
