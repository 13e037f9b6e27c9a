# `make demo` and `make test` do all of their own set-up in .venv and .tox; a second call reuses it.
.DEFAULT_GOAL := help
.PHONY: help demo test test-core check lint format dashboard clean
# What one call has set up, another must see: no two recipes side by side.
.NOTPARALLEL:

DISTRIBUTIONS := retrai_core $(patsubst %/pyproject.toml,%,$(wildcard retrai_goals_*/pyproject.toml retrai_testkit/pyproject.toml retrai_tools_*/pyproject.toml plugins/*/pyproject.toml)) .
PYPROJECTS := $(addsuffix /pyproject.toml,$(DISTRIBUTIONS))
# What `pip install retrai` brings, and so all that the demo needs; a test holds it to pyproject.toml.
WITH_RETRAI := retrai_core retrai_goals_python $(addprefix plugins/retrai_,goal_support goals_shell llm_litellm llm_offline llm_replay memory_file permissions plugin_dev receipts sandbox_bwrap sandbox_local tools_code) .

# A name on PATH may be a shim for a version that is not there, so each is tried by running it.
define FIND_PYTHON
for name in $(PYTHON) python3.14 python3.13 python3.12 python3.11 python3 python; do \
  if "$$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
    found="$$name"; break; \
  fi; \
done; \
if [ -z "$$found" ]; then \
  echo 'retrai needs Python 3.11 or newer, with its venv module (Debian: apt-get install python3-venv).' >&2; \
  echo 'None was found on PATH; name one with: make PYTHON=/path/to/python3 $(MAKECMDGOALS)' >&2; \
  exit 1; \
fi
endef

help:
	@echo 'make demo       fix examples/quickstart in a temporary folder: no key, no network'
	@echo 'make check      ruff, pyright, import-linter, and the tests that start no run: 2 minutes'
	@echo 'make test-core  the core alone, with the sandbox local'
	@echo 'make test       everything: the core alone, lint, then the whole suite'
	@echo 'make lint       ruff, pyright and import-linter'
	@echo 'make format     let ruff format the code'
	@echo 'make dashboard  build the web dashboard into plugins/retrai_server; needs node 20.19 or newer'
	@echo 'make clean      remove .venv and .tox'

demo: .venv/.installed
	@.venv/bin/retrai demo

test: .venv/.tox-installed .tox/.current
	@.venv/bin/tox run

test-core: .venv/.tox-installed .tox/.current
	@.venv/bin/tox run -e core

check: .venv/.tox-installed .tox/.current
	@.venv/bin/tox run -e lint,check

lint: .venv/.tox-installed .tox/.current
	@.venv/bin/tox run -e lint

format: .venv/.tox-installed .tox/.current
	@.venv/bin/tox exec -e lint -- ruff format
	@.venv/bin/tox exec -e lint -- ruff check --fix

# The built files are committed: only who changes the sources needs node.
dashboard:
	@cd plugins/retrai_server/web && npm ci --no-fund --no-audit && npm run build

.venv/.python:
	@found=; $(FIND_PYTHON); \
	echo "making .venv with $$found"; \
	"$$found" -m venv .venv && .venv/bin/python -m pip install -q -c constraints.txt uv
	@touch $@

# uv is quicker; pip is asked where uv fails, since only pip reads the user's own pip.conf.
define INSTALL
.venv/bin/uv pip install -q --python .venv/bin/python $(1) || .venv/bin/python -m pip install -q $(1)
endef

.venv/.installed: .venv/.python $(PYPROJECTS) constraints.txt
	@echo 'installing retrai and its plugins into .venv'
	@$(call INSTALL,-c constraints.txt $(addprefix -e ./,$(WITH_RETRAI)))
	@touch $@

.venv/.tox-installed: .venv/.python constraints.txt
	@$(call INSTALL,-c constraints.txt tox tox-uv)
	@touch $@

# tox installs each distribution once; new metadata (an entry point, a dependency) needs new ones.
.tox/.current: $(PYPROJECTS) constraints.txt tox.ini
	@rm -rf .tox/core .tox/lint .tox/all && mkdir -p .tox && touch $@

clean:
	rm -rf .venv .tox
