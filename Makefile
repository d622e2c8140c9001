# Plain venv and pip; `make setup` is quick when nothing changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH_READY := $(VENV)/.ready-bench

.PHONY: setup test test-slow poison lint bench clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "AskGate needs Python 3.11 or later: make setup PYTHON=python3.11" >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --requirement requirements.txt
	touch $@

$(BENCH_READY): $(READY)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[bench]'
	touch $@

test: setup
	$(BIN)/python -m pytest -q -n auto

test-slow: setup
	$(BIN)/python -m pytest -q -m slow

poison: setup
	$(BIN)/python -m pytest -q -n auto tests/poison

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(BENCH_READY)
	$(BIN)/python bench/data_plane.py
	$(BIN)/python bench/scoring.py
	$(BIN)/python bench/rollout.py
	$(BIN)/python bench/train_cpu.py

clean:
	rm -rf build dist *.egg-info src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests scripts ops -name __pycache__ -type d -prune -exec rm -rf {} +
