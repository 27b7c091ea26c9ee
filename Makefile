PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --constraint constraints.txt --editable
# Three environments in one folder, each holding the one before: what the demo needs, what tests need, all frameworks.
DEMO := .venv/.demo
READY := .venv/.ready
FRAMEWORKS := .venv/.frameworks
# One thread a process: two busy processes on two cores otherwise spend their time waiting for each other's threads.
export OMP_NUM_THREADS ?= 1

.PHONY: demo test test-frameworks test-cpus test-packages test-versions lint bench rivals clean

demo: $(DEMO)
	@$(BIN)/sleuth run zoo/demo/train.py; status=$$?; \
	if [ $$status -ne 1 ]; then echo "the demo should end with status 1 (a finding), not $$status" >&2; exit 1; fi

test: $(READY)
	$(BIN)/python -m pytest -n 2 --ignore tests/frameworks

# Lightning, Hugging Face, Keras, JAX and TensorFlow: three gigabytes.
test-frameworks: $(FRAMEWORKS)
	$(BIN)/python -m pytest -n 2 tests/frameworks

# The tests that compute, as other CPUs would: older instruction sets, other kernels, two threads. Hours.
test-cpus: $(READY)
	$(BIN)/python tests/cpus.py

# The wheel and the sdist, installed and tried on every Python found here. Minutes, and the package index.
test-packages: $(READY)
	$(BIN)/python tests/packaging/package_trial.py

# Other Pythons and torches, each in an environment of its own that is removed afterwards: gigabytes, and hours.
test-versions: $(READY)
	$(BIN)/python benchmarks/versions

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(FRAMEWORKS)
	@set -e; for benchmark in benchmarks/[!_]*.py; do echo "== $$benchmark"; $(BIN)/python "$$benchmark"; done

# Five other tools in environments of their own: gigabytes, and hours.
rivals: $(READY)
	$(BIN)/python benchmarks/rivals

$(DEMO): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(INSTALL) '.[torch]'
	@touch $@

$(READY): $(DEMO)
	$(INSTALL) '.[torch,dev]'
	@touch $@

$(FRAMEWORKS): $(READY)
	$(INSTALL) '.[torch,dev,frameworks]'
	@touch $@

clean:
	rm -rf .venv benchmarks/rivals/.cache .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
