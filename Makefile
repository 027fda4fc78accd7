# Every developer task. The default runs all lints and tests; VENV names the virtual environment that is made and used.
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.kbdb-installed
ENGINE := $(wildcard csrc/*.c csrc/*.h kbdb/_engine*.p*) CMakeLists.txt pyproject.toml
ON_PATH := PATH="$(abspath $(BIN)):$$PATH"

# What `make bench` builds and finds again.
BENCH_WORK ?= build/bench
BENCH_SIZES ?= 1000,10000,100000

.PHONY: all quick lint test test-all c-test fuzz format docs bench bench-gate clean
all: lint c-test test-all

quick: lint test

$(INSTALLED): $(ENGINE)
	test -x $(BIN)/python || python3 -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	touch $@

lint: $(INSTALLED)
	$(ON_PATH) .ci/lint

test: $(INSTALLED)
	$(BIN)/pytest

test-all: $(INSTALLED)
	$(BIN)/pytest -m ""

c-test: $(INSTALLED)
	$(ON_PATH) .ci/c-tests

fuzz: $(INSTALLED)
	$(ON_PATH) .ci/fuzz

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	find csrc tests/c -name '*.[ch]' ! -name unicode_classes.h -print0 | xargs -0 $(BIN)/clang-format -i

docs: $(INSTALLED)
	$(BIN)/python tools/generate_cli_reference.py
	$(BIN)/python tools/run_transcripts.py --write README.md

bench: $(INSTALLED)
	$(BIN)/python -m pip install --quiet -e '.[bench]'
	$(BIN)/python -m bench run --work $(BENCH_WORK) --sizes $(BENCH_SIZES)
	$(BIN)/python -m bench table --work $(BENCH_WORK)

bench-gate:
	$(BIN)/python -m bench.gate $(BENCH_WORK)/results.json

clean:
	rm -rf build dist $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
