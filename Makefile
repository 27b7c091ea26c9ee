PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
FRAMEWORKS := .venv/.frameworks
# One thread a process: two busy processes on two cores otherwise spend their time waiting for each other's threads.
export OMP_NUM_THREADS ?= 1

.PHONY: demo test test-frameworks lint bench rivals clean

demo: $(READY)
	@$(BIN)/sleuth run zoo/demo/train.py; status=$$?; \
	if [ $$status -ne 1 ]; then echo "the demo should end with status 1 (a finding), not $$status" >&2; exit 1; fi

test: $(READY)
	$(BIN)/python -m pytest -n 2 --ignore tests/frameworks

# Lightning, Hugging Face, Keras, JAX and TensorFlow: three gigabytes.
test-frameworks: $(FRAMEWORKS)
	$(BIN)/python -m pytest -n 2 tests/frameworks

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(FRAMEWORKS)
	@set -e; for benchmark in benchmarks/[!_]*.py; do echo "== $$benchmark"; $(BIN)/python "$$benchmark"; done

# Five other tools in environments of their own: gigabytes, and hours.
rivals: $(READY)
	$(BIN)/python benchmarks/rivals

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[torch,dev]'
	@touch $@

$(FRAMEWORKS): $(READY)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[torch,dev,frameworks]'
	@touch $@

clean:
	rm -rf .venv benchmarks/rivals/.cache .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
