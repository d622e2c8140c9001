# Plain venv and pip; `make setup` is quick when nothing changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN_READY := $(VENV)/.ready-run
READY := $(VENV)/.ready
BENCH_READY := $(VENV)/.ready-bench

.PHONY: help setup test test-slow poison lint bench clean
.PHONY: demo quickstart quickstart-full status board preflight round1 round2 train resume failpack

# Everything, with the tools of the developers. The first target, so a plain `make` runs it.
setup: $(READY)

help:
	@echo "start:      setup demo quickstart quickstart-full status board"
	@echo "owner:      preflight round1 round2 train resume failpack"
	@echo "developers: test test-slow poison lint bench clean"

# What runs need, without those tools.
$(RUN_READY): pyproject.toml packages/askgate-env/pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "AskGate needs Python 3.11 or later: make setup PYTHON=python3.11" >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing AskGate and torch into $(VENV): several GB, as torch from PyPI includes CUDA on Linux; some minutes"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable packages/askgate-env --editable '.[train]'
	touch $@

$(READY): $(RUN_READY) requirements.txt
	@echo "installing the tools of the developers: some minutes"
	$(BIN)/python -m pip install --quiet --requirement requirements.txt
	touch $@

$(BENCH_READY): $(READY)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[bench]'
	touch $@

# Base and trained policy side by side, without training.
demo: $(RUN_READY)
	$(BIN)/askgate demo

# The whole loop on the embedded model. Run it again to resume; only stages whose inputs changed are repeated.
quickstart: $(RUN_READY)
	$(BIN)/askgate quickstart

quickstart-full: $(RUN_READY)
	$(BIN)/askgate quickstart --full

status: $(RUN_READY)
	$(BIN)/askgate status

board: $(RUN_READY)
	$(BIN)/askgate board

# The owner's run (profile rc1). Every target resumes where the last one stopped.
preflight:
	./ops/run_local_rc1.sh

round1:
	UNTIL=round1 ./ops/run_local_rc1.sh

round2:
	UNTIL=round2 ./ops/run_local_rc1.sh

train: setup
	@test -f reports/preflight/round2_pass.json || { echo "预检未通过：禁止开跑 (no ticket: run make round1 round2)"; exit 2; }
	$(BIN)/python -m train.ppo_runner --config configs/ppo_scale.yaml

resume: setup
	@test -L checkpoints/rc1/latest || ls -d checkpoints/rc1/seed_*/latest >/dev/null 2>&1 \
		|| { echo "无 latest 检查点 (no checkpoint to resume from)"; exit 2; }
	$(BIN)/python -m train.ppo_runner --config configs/ppo_scale.yaml --resume-from checkpoints/rc1/latest

failpack:
	@if [ -x $(BIN)/python ]; then $(BIN)/python -m src.runtime.failpack; else $(PYTHON) -m src.runtime.failpack; fi

test: setup
	$(BIN)/python -m pytest -q -n auto --dist loadfile

test-slow: setup
	$(BIN)/python -m pytest -q -m slow

poison: setup
	$(BIN)/python -m pytest -q -n auto --dist loadfile tests/poison tests/gates/test_ticket.py

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/import_cycles.py
	$(BIN)/deptry src
	cd packages/askgate-env && $(CURDIR)/$(BIN)/deptry src

bench: $(BENCH_READY)
	$(BIN)/python bench/data_plane.py
	$(BIN)/python bench/scoring.py
	$(BIN)/python bench/rollout.py
	$(BIN)/python bench/train_cpu.py
	$(BIN)/python bench/reward.py
	$(BIN)/python bench/verify.py

clean:
	rm -rf build dist *.egg-info packages/*/src/*.egg-info packages/*/build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src packages tests scripts ops -name __pycache__ -type d -prune -exec rm -rf {} +
