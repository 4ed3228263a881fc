PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FOLDERS := tools nodes prompts graphs studio plugins
SOURCES := $(shell find $(FOLDERS) -name '*.py' 2>/dev/null)
PACKAGES := ramify.tools ramify.prompts ramify.nodes ramify.graphs ramify.studio ramify.agents ramify.embedded ramify.formats ramify.kinds ramify.lab ramify.serve ramify.stores ramify.testing

# What is imported is compiled then, and kept.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-agents test-core test-embedded test-formats test-kinds test-lab test-serve test-stores test-testing test-all slow faults records torture coverage check bench format browser-test inspect-test fuzz pictures lock licences audit sbom release clean

demo: $(VENV)/.demo ## Ask a two-hop question on the demo corpus
	$(BIN)/ramify ask "In which city was the inventor of the ballpoint pen born?" --tree
	@echo "Next: '$(BIN)/ramify serve' answers in your browser, at http://127.0.0.1:8484"

# What two processes run; the quick tests leave out those of a real language model, a cluster, a server or public data, and the slow ones.
PYTEST := -m pytest -q -n 2 --dist loadgroup
QUICK := -m "not real and not slow"

test: $(VENV)/.test ## Run the quick tests of the core and of the embedded model
	$(BIN)/python $(PYTEST) $(QUICK) tests plugins/embedded

test-core: $(VENV)/.test ## Run the quick tests of the core where the folder plugins/ is absent: in build/core
	$(BIN)/python -m release.core
	cd build/core && .venv/bin/python $(PYTEST) $(QUICK) tests

test-agents test-embedded test-formats test-kinds test-lab test-serve test-testing: test-%: $(VENV)/.test ## Run the quick tests of a plug-in
	$(BIN)/python $(PYTEST) $(QUICK) plugins/$*

test-stores: $(VENV)/.test ## Run the tests of the stores, which start Milvus Lite and Ray
	$(BIN)/python $(PYTEST) plugins/stores

test-all: $(VENV)/.test ## Run all tests, and check that they give the fault matrix
	$(BIN)/python $(PYTEST) --faults=check $(APART)

slow: $(VENV)/.test ## Run all tests on an idle machine, and list those in tests/slow.txt that take longer than half a second
	$(BIN)/python $(PYTEST) --slow=write

faults: $(VENV)/.test ## Run the tests that cause a fault, and make docs/faults.md from those that pass
	$(BIN)/python $(PYTEST) -m fault --faults=write

records: $(VENV)/.test ## Write all pages, lists and snapshots that are derived from the code: prompts, settings, shapes, drawings, langgraph.json
	$(BIN)/python -m tests.records

torture: $(VENV)/.test ## Stress real processes with faults, kills, full disks and losses of power: MINUTES=30, SEED=a number; see build/torture/report.md
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.torture --minutes $(or $(MINUTES),30) $(if $(SEED),--seed $(SEED)) --at-once 128 --out build/torture

coverage: $(VENV)/.test ## Run all tests but the real ones, and count the lines and branches that it reaches, by folder
	$(BIN)/python $(PYTEST) -m "not real" --cov=ramify --cov-branch --cov-report=
	@echo "           lines, missed, branches, half taken, percent of both"
	@for folder in $(FOLDERS); do printf '%-11s' $$folder; $(BIN)/coverage report --precision=2 --include="$$folder/*" | tail -n 1; done

check: $(VENV)/.test ## Lint and check types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(addprefix -p ,$(PACKAGES) plugins.embedded.training release)

bench: $(VENV)/.test ## Measure speed and memory, and print one table: 10 minutes on two idle cores; RAMIFY_DATA names the data
	$(BIN)/python plugins/lab/benchmarks/bench.py

browser-test: $(VENV)/.browser ## Drive the page of the server and the notebook's chat in a real browser and look at them: pictures go to build/browser
	@test -x /usr/bin/chromium || { echo "no browser at /usr/bin/chromium: install Debian's package chromium"; exit 1; }
	$(BIN)/python -m pytest -q -n 0 --force-enable-socket -p tests.browser.lab tests/browser/tour_in_lab.py tests/browser/chat_in_lab.py tests/browser/test_page.py tests/browser/test_stopping.py tests/browser/test_answers.py tests/browser/test_reviewing.py tests/browser/test_collection_tests.py tests/browser/test_own_documents.py tests/browser/test_mcp_app.py

inspect-test: $(VENV)/.inspect ## Run a strategy as a solver in inspect_ai, installed above the tests' packages in build/inspect
	build/inspect/bin/python -m pytest -q -n 0 plugins/lab/tests/test_inspect.py

fuzz: $(VENV)/.fuzz ## Fuzz all that reads what others wrote, guided by coverage: MINUTES=n in all, 20 by default; what breaks goes to build/fuzz
	@if build/atheris/bin/python -c 'import atheris' 2>/dev/null; then build/atheris/bin/python -m tests.fuzz.cover $(or $(MINUTES),20); \
	else echo "fuzz: skipped, there is no wheel of atheris for this Python"; fi

pictures: $(VENV)/.browser ## Make the pictures of the documents anew, from real pages; needs Debian's chromium
	$(BIN)/python docs/pictures.py

lock: build/release/.made ## Pin what ramify needs, with hashes, at the versions of constraints.txt: requirements.lock
	build/release/bin/python -m release.lock

licences: $(VENV)/.test ## List the licences of all dependencies: docs/licences.md
	$(BIN)/python -m release.licences

audit: build/release/.made ## Look all pinned packages up in a database of known vulnerabilities; fails where none is reached
	build/release/bin/python -m release.audit requirements.lock requirements-cuda.lock constraints.txt

sbom: build/release/.made ## List what requirements.lock installs, in CycloneDX's JSON: build/sbom.json
	build/release/bin/cyclonedx-py requirements requirements.lock --pyproject pyproject.toml --output-reproducible --output-file build/sbom.json

release: build/release/.made ## Build wheel and source distribution, try them in an environment of their own; prints how to upload, uploads nothing
	build/release/bin/python -m release.build $(RELEASE)

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

define INSTALL
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt uv
	$(BIN)/python -m release.install $(1)
endef

$(VENV)/.demo: pyproject.toml constraints.txt
	@echo "Installing into $(VENV): 1.5 GB with the CPU build of PyTorch …"
	$(call INSTALL,'.[serve]')
	touch $@

# Strict editable mode, because type checkers do not see into the default one; it lists the files, so new ones need it again.
$(VENV)/.test: pyproject.toml constraints.txt $(SOURCES)
	$(call INSTALL,--strict '.[test]')
	$(BIN)/ramify download smollm2
	-$(BIN)/ramify download e5-multilingual
	touch $@ $(VENV)/.demo

# Playwright brings no browser here: it drives Debian's.
$(VENV)/.browser: $(VENV)/.test
	$(BIN)/python -m release.install axe-playwright-python jupyterlab playwright
	touch $@

# An environment above the tests' own.
define ABOVE
	$(BIN)/python -m venv --clear $(1)
	$(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' > build/outer.pth
	mv build/outer.pth "$$($(1)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/outer.pth"
endef

$(VENV)/.fuzz: $(VENV)/.test
	$(call ABOVE,build/atheris)
	-build/atheris/bin/pip install --quiet --no-deps --only-binary :all: --disable-pip-version-check 'atheris>=3,<4'
	touch $@

# inspect-ai wants an older fsspec than constraints.txt has.
$(VENV)/.inspect: $(VENV)/.test
	$(call ABOVE,build/inspect)
	build/inspect/bin/pip install --quiet --no-compile --disable-pip-version-check 'inspect-ai>=0.3.285,<0.4'
	touch $@

# In an environment of their own: what makes and checks a release is not part of what is checked.
build/release/.made: constraints.txt
	$(PYTHON) -m venv --clear build/release
	build/release/bin/pip install --quiet --disable-pip-version-check -c constraints.txt build cyclonedx-bom pip-audit setuptools twine uv
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage
