# Everything needs only Python >= 3.10 and, for the VS Code client, Node. `make demo` and `make test` do the set-up.
.PHONY: setup setup-python setup-client setup-editors pictures demo test test-python test-client test-slow test-all fuzz truth benchmarks lint format docs site clean
.DEFAULT_GOAL := setup

# The first interpreter that is new enough; say `make PYTHON=/path/to/python3.12` for another one.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python3.10 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1 && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
PYTESTFLAGS ?=
ALONE := tests/truth/pytorch tests/editors

setup: setup-python setup-client

setup-python: $(VENV)/.ready

setup-client: node_modules/.ready

$(VENV)/.ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "loaderlint needs Python 3.10 or newer. Install one, or run: make PYTHON=/path/to/python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV) || { echo "The venv module is missing; on Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=23"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

node_modules/.ready: package.json package-lock.json
	@command -v npm >/dev/null || { echo "The VS Code client needs Node 20 or newer (https://nodejs.org). The Python side alone: make test-python"; exit 1; }
	npm ci --no-audit --no-fund
	@touch $@

# Real editors for tests/editors: some with apt-get, the rest into .editors (without them these tests are skipped).
setup-editors: setup
	scripts/setup_editors.sh

# The pictures of the documentation, out of what VS Code shows in its tests.
pictures: setup-editors
	$(BIN)/python -m pytest tests/editors -k "finding_is_shown or what_runs_where or questions or not_open or notebook"
	PYTHONPATH=. $(BIN)/python -m tests.editors.pictures

# The examples hold faults on purpose, so exit code 1 is what is wanted here.
demo: setup-python
	@$(BIN)/loaderlint check --hints examples/ || test $$? -eq 1

test: test-python test-client

# `make test` and what it leaves out: tests that are marked as slow, real PyTorch, real editors.
test-all:
	@status=0; \
	$(MAKE) test || status=$$?; \
	$(MAKE) test-slow || status=$$?; \
	exit $$status

# These tests run on all cores.
PARALLEL := $(addprefix --ignore=,$(ALONE)) -n auto --dist worksteal

test-python: setup-python
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow" $(PYTESTFLAGS)

# Programs on real PyTorch start processes of their own, so one process of pytest runs them. Editors mostly wait (their
# tests take 40 % of a core), so they run beside everything else. A part that fails does not stop the others.
test-slow: setup-python
	@status=0; \
	mkdir -p build; \
	$(BIN)/python -m pytest tests/editors $(PYTESTFLAGS) >build/editors.log 2>&1 & editors=$$!; \
	$(BIN)/python -m pytest $(PARALLEL) -m slow $(PYTESTFLAGS) || status=$$?; \
	$(BIN)/python -m pytest tests/truth/pytorch $(PYTESTFLAGS) || status=$$?; \
	wait $$editors || status=$$?; \
	cat build/editors.log; \
	exit $$status

test-client: setup
	npm run build
	npm test

# The long form of tests/robustness: FUZZ times as many random cases as in `make test`, and every size of every input.
FUZZ ?= 20
fuzz: setup-python
	LOADERLINT_FUZZ=$(FUZZ) $(BIN)/python -m pytest tests/robustness -n auto --dist worksteal $(PYTESTFLAGS)

# Real PyTorch, before and after the tool's own fixes (a large download; without it tests/truth/pytorch is skipped).
truth: setup-python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r tests/truth/requirements.txt
	$(BIN)/python -m pytest tests/truth $(PYTESTFLAGS)

# An hour or two; `.venv/bin/python -m benchmarks --quick` is a look of some minutes.
benchmarks: setup-python
	$(BIN)/python -m benchmarks

lint: setup-python
	$(BIN)/ruff format --check server tests scripts benchmarks || { echo "To format these files: make format"; exit 1; }
	$(BIN)/ruff check server tests scripts benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: setup-python
	$(BIN)/ruff format server tests scripts benchmarks
	$(BIN)/ruff check --fix server tests scripts benchmarks

docs: setup-python
	$(BIN)/python -m scripts.generate_docs

# The documentation site in build/site; `OFFLINE=true make site` for one whose search works without a server.
site: docs
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	$(BIN)/python -m mkdocs build --quiet

clean:
	rm -rf $(VENV) .editors .node .benchmarks node_modules dist out build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find server tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +
