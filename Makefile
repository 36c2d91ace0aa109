# Every target sets up what it needs: Python 3.12 or newer, pip and make are enough.
# Name an interpreter with PYTHON=..., pass options to pytest with PYTEST_ARGS="-k auc".

VENV := .venv
BIN := $(VENV)/bin
PYTHON_CANDIDATES := $(PYTHON) python3.12 python3.13 python3.14 python3 python
# Tests of one file run in one process, where they share what they compile.
PYTEST_ARGS ?= -n auto --dist loadfile --no-loadscope-reorder
PAGES := $(wildcard *.md docs/*.md docs/*/*.md)

.PHONY: demo test test-fast doctest seen fuzz mutants lint docs bench studies validate release clean
.DELETE_ON_ERROR:

demo: $(VENV)/.installed
	@mkdir -p build
	$(BIN)/dmfroc demo --plot build/dmfroc-demo.png

# What several processes of the tests compile is compiled once, a third of all time: a folder
# that outlasts the checkout, JAX_COMPILATION_CACHE_DIR=..., saves it next time.
test test-fast: export JAX_COMPILATION_CACHE_DIR := $(or $(JAX_COMPILATION_CACHE_DIR),$(CURDIR)/build/compiled)
test test-fast: export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS := 0.1
test: doctest
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# Without the examples and the tests that are marked as slow.
test-fast: $(VENV)/.installed-test
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m 'not seen and not slow'

# Examples call all that is public; there, what every function takes and returns is checked for the
# shapes and types that it names. That makes calls several times as slow, too slow for all tests.
doctest: $(VENV)/.installed-test
	$(BIN)/python -m pytest --quiet -n auto --dist loadfile --jaxtyping-packages=dmfroc,beartype.beartype --doctest-modules --doctest-glob='*.md' dmfroc $(PAGES)

# All that users see against what it was: for changes that should change none of it.
seen: $(VENV)/.installed-test
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m seen tests/test_what_is_seen.py

# 20,000 generated calls, FUZZ_ARGS="--cases 1000 --seed 7" for others; every wrong option, all
# pairs of arguments with rows, all pairs of options; 500 damaged state files, 200 sources that
# change, 100 kills of scans; interrupts of all long calls. `make test` has a sample of each.
fuzz: $(VENV)/.installed-test
	$(BIN)/python tests/fuzz/fuzz.py $(FUZZ_ARGS)
	$(BIN)/python tests/fuzz/files.py
	$(BIN)/python tests/fuzz/abuse.py
	$(BIN)/python tests/fuzz/rows.py
	$(BIN)/python tests/option_analyses.py | diff docs/option_pairs.csv -
	$(BIN)/python tests/fuzz/persistent_state.py
	$(BIN)/python tests/fuzz/interrupt_calls.py

# Random changes of the package that no test notices, by room: MUTANTS_ARGS="--n 40 --seed 7" for
# others. It takes hours; --minutes sets how many.
mutants: $(VENV)/.installed-test
	$(BIN)/python tests/fuzz/mutants.py $(MUTANTS_ARGS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python .ci/words.py
	$(BIN)/mypy

docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx --jobs auto --quiet --fail-on-warning --keep-going docs docs/_build/html
	@echo 'The documentation is in docs/_build/html/index.html.'

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks

# All pages of docs/experiments, and how long each took; what is stored is not computed again.
studies: $(VENV)/.installed
	@for study in $(filter-out experiments/_%,$(wildcard experiments/*.py)); do \
		start=$$(date +%s); \
		$(BIN)/python $$study || exit; \
		echo "$$study took $$(($$(date +%s) - start)) seconds"; \
	done

# What guarantees name: tests, golden values, and a short study of coverage; half an hour.
validate: $(VENV)/.installed-test
	$(BIN)/python tests/validate.py $(VALIDATE_ARGS)

# Both archives, built twice, then used with the lowest and newest libraries on each Python that is
# there: some ten minutes. RELEASE_ARGS="--python python3.12" for one.
release: $(VENV)/.installed-dev
	$(BIN)/python .ci/release.py $(RELEASE_ARGS)

clean:
	rm -rf $(VENV) build dist docs/_build docs/api/generated .hypothesis .mypy_cache .pytest_cache .ruff_cache

# One stamp per extra, renewed when pyproject.toml changes.
$(VENV)/.installed: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo 'Installing dmfroc into $(VENV); the first time takes a minute or two.'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-%: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo 'Installing dmfroc[$*] into $(VENV); the first time takes a minute or two.'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@

# A candidate counts only if it runs: version managers leave launchers that do not.
$(VENV)/pyvenv.cfg:
	@for python in $(PYTHON_CANDIDATES); do \
		if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then \
			exec "$$python" -m venv --clear $(VENV); \
		fi; \
	done; \
	echo 'dmfroc needs Python 3.12 or newer; tried: $(strip $(PYTHON_CANDIDATES)).' >&2; \
	echo 'Install it, or name it: make PYTHON=/path/to/python3.12 ...' >&2; \
	exit 1
