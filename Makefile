# Every target creates what it needs; `make help` lists them.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   ?= .venv
BIN    := $(VENV)/bin
export OPENBLAS_NUM_THREADS = 1
export OMP_NUM_THREADS = 1
export MKL_NUM_THREADS = 1
# Without bytecode, each of the processes that tests start would compile the library anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo check postgresql chromium quick models others test slow bench reproduce dist docs oldest serve site pictures clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(BIN)/python pyproject.toml
	$(BIN)/pip install -q -e '.[plot]'
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml
	$(BIN)/pip install -q -e '.[dev]'
	@touch $@ $(VENV)/.demo

demo: $(VENV)/.demo  ## minimise a rugged function with two processes and draw the search
	$(BIN)/outcrop demo

check: $(VENV)/.dev  ## lint, format, types, import order
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Tests start a server of their own. Where none can be installed they are skipped, and say so.
postgresql:
	@test -n "$$(command -v postgres || ls -d /usr/lib/postgresql/*/bin 2>/dev/null)" || { \
		echo "installing PostgreSQL"; \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y postgresql; \
	} || echo "PostgreSQL is not installed: the tests with a real server will be skipped"

# Reports and the dashboard are opened in a real browser. Where none can be installed, those tests are skipped, and say so.
chromium:
	@test -n "$$(command -v chromium || command -v chromium-browser)" -a -n "$$(command -v chromedriver)" || { \
		echo "installing Chromium"; \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y chromium chromium-driver; \
	} || echo "Chromium is not installed: the tests with a real browser will be skipped"

# One of two parts that take equally long: models, and the experiments with them.
MODELS = $(addprefix tests/, acquisition bandits experiments inference kernels maximise problems strategies surrogates)

quick: $(VENV)/.dev postgresql chromium  ## the fast tests, in two parts side by side
	+@$(MAKE) --no-print-directory -j2 -Otarget models others

models:
	$(BIN)/pytest -q $(MODELS)

others:
	$(BIN)/pytest -q src tests $(MODELS:%=--ignore=%)

test: check quick  ## what CI runs

slow: $(VENV)/.dev postgresql  ## statistical, race and reproduction tests
	$(BIN)/pytest -q -m slow

bench: $(VENV)/.dev  ## speed, as ratios within one run
	$(BIN)/python -m benchmarks

# Torch by itself first: what depends on it would otherwise take a build of gigabytes. HEBO asks for
# an earlier NumPy than ours and for packages that its defaults do not use: it comes without them.
$(VENV)/.peers: $(VENV)/.dev
	$(BIN)/pip install -q torch==2.13.0
	$(BIN)/pip install -q -e '.[dev,peers]'
	$(BIN)/pip install -q --no-deps HEBO==0.3.6
	@touch $@

# A part, from nothing, on a cluster: make reproduce WHAT="htbo_table1 --renew --runs 32 --executor dask:ADDRESS"
reproduce: $(VENV)/.peers  ## the experiments of the papers, or those of WHAT="NAME … OPTIONS"
	$(BIN)/python -m experiments $(WHAT)

docs: $(VENV)/.dev  ## run every example of README and docs
	$(BIN)/pytest -q tests/test_documents.py

$(VENV)/.site: $(VENV)/.dev
	$(BIN)/pip install -q -e '.[site]'
	@touch $@

site: $(VENV)/.site  ## the documentation as a site in build/pages/site; broken links fail
	$(BIN)/python docs/site.py build/pages
	cd build/pages && $(abspath $(BIN))/zensical build --strict --clean --config-file mkdocs.yml

serve: site  ## the site on http://localhost:8000
	$(BIN)/python -m http.server --bind localhost --directory build/pages/site 8000

# Tests of what depends on versions of other packages, with the oldest that pyproject.toml allows.
# These warn of newer packages that they depend on themselves, which is not our concern. Suggestions
# that were stored with a newer NumPy are not repeated to the last bit.
OLDEST = $(addprefix tests/, bandits cli inference kernels plots reports space study/storage study/test_study.py)

.venv-oldest/.ready: pyproject.toml .ci/oldest.py
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/pip install -q $$($(PYTHON) .ci/oldest.py)
	.venv-oldest/bin/pip install -q --no-deps -e .
	@touch $@

oldest: .venv-oldest/.ready postgresql chromium  ## a part of the fast tests, with the oldest versions allowed
	.venv-oldest/bin/pytest -q -W ignore::DeprecationWarning -k 'not replays_to_the_last_bit' $(OLDEST)

# A wheel from the sdist, installed alone, and every line of the README there.
dist: $(VENV)/.dev  ## wheel and sdist in dist/, tried in an environment of their own
	rm -rf dist build/clean
	$(BIN)/pip install -q build
	$(BIN)/python -m build -q
	$(PYTHON) -m venv build/clean
	build/clean/bin/pip install -q "$$(ls $(CURDIR)/dist/*.whl)[optuna,plot]"
	cp README.md build/clean/
	cd build/clean && bin/python -m doctest README.md
	build/clean/bin/outcrop --version

pictures: $(VENV)/.demo  ## draw the pictures of docs/pictures.md
	$(BIN)/python docs/pictures.py

clean:  ## remove the environment and caches
	rm -rf $(VENV) .venv-oldest .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache build dist
