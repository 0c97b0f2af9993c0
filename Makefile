# kadmin: `make demo` runs every step on real brokers, `make test` runs the test suite. Both create .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Tools of a release alone: they are no part of the environment that the tests of the code run in.
TOOLS := .release
TOOLS_READY := $(TOOLS)/.ready
# The extra kerberos is compiled with the Kerberos of the machine: it is no part of that environment either.
KERBEROS := .kerberos
# What Spark meets in tests of the matrix, beside that environment: a server of S3, and the newest PySpark that Delta is
# made for.
SERVERS := .servers
SERVERS_READY := $(SERVERS)/.ready
# Each worker runs the tests of one cluster at a time, and tests/support/suites/plugin.py has them in order. Tests wait
# for servers much of their time: four serve two cores, five where most of them have no brokers.
PYTEST := $(BIN)/python -m pytest --tb=short
SHARED_OUT := --dist loadgroup --no-loadscope-reorder --once-more
WORKERS := -n 4 $(SHARED_OUT)
# The versions of `make test-eras` and `make test-matrix`; `make test` runs on 2.8.2 and 4.4.0.
ERAS := 0.10.2.2,1.1.1,2.3.1,2.4.1,2.8.2,3.9.2
KRAFT := 3.9.2,4.1.2,4.3.0,4.4.0
# Each test process imports the whole package: its compiled files are kept, whatever the machine's default.
unexport PYTHONDONTWRITEBYTECODE

# The folder in which suites keep the branches that they ran; none are measured without it. `make floor` adds them up.
MEASURED :=
MEASURE = $(if $(MEASURED),COVERAGE_FILE=$(MEASURED)/$@)
BRANCHES = $(if $(MEASURED),--cov --cov-report=)

# The suites that are timed, all that .ci/run runs if none is named.
SUITES :=
# How long the fuzzer runs.
SECONDS := 1800
# How many more mutants are judged, all that are left if no number is named.
MUTANTS :=
# How many millions of samples the load is built from, each one a row of the table; 60 if none is named.
MILLIONS :=
# The rows of the planner's tables, all of them if none is named, and how many clusters of each have load.
ROWS :=
SEEDS := 10
CASES := all one-25 adaptive
RUNS := 1
LINK := 80

.PHONY: help setup demo test lint schemas unit live coverage floor test-eras test-matrix test-executor test-containers test-report test-kerberos test-spark test-pages test-release release audit image site bench bench-executor bench-insight bench-planner bench-load-build bench-load-kernel bench-pace bench-suites \
	fuzz mutation clean

help:
	@echo "make setup            create .venv with kadmin in it"
	@echo "make demo             sandbox, snapshot, proposal, apply, election, deletion, on real brokers"
	@echo "make test             linters, types, contracts and the test suite on real ZooKeeper and Kafka"
	@echo "make schemas          schemas/ from the shapes of answers and documents; make test checks that they are committed"
	@echo "make coverage         make test, test-eras and test-spark, with the branch coverage of all three and its floor"
	@echo "make floor            the branch coverage of suites that ran with MEASURED=FOLDER, and its floor"
	@echo "make test-eras        live tests from Kafka 0.10.2 to 4.4, each claim where versions differ"
	@echo "make test-matrix      all of them on every version; before a release"
	@echo "make test-executor    the executor: every kill point, races, records during a reassignment"
	@echo "make test-containers  live tests on brokers in containers, with a Docker daemon"
	@echo "make test-report      the HTML report in a real browser: three widths, light and dark, axe"
	@echo "make test-kerberos    a cluster with Kerberos: tickets, renewal, refusals, on a realm of its own"
	@echo "make test-spark       the load on Spark, and Spark as its users run it: a Connect server, a cluster, spark-submit"
	@echo "make test-pages       commands of the README and of pages beside it, as they stand there; the rest are in test-matrix"
	@echo "make test-release     wheel, action, hook and site, as users meet them"
	@echo "make release          wheel, source distribution, SBOM, provenance and checksums, in dist/; TAG=v1.2.0 for what is published"
	@echo "make audit            known vulnerabilities of what kadmin needs; asks an advisory service"
	@echo "make image            images kadmin and kadmin-planner, on BASE=python:3.13-slim or on this machine's Python"
	@echo "make site             the documentation as a site, in site/"
	@echo "make bench            the figures, as a table"
	@echo "make fuzz             the loader under a coverage-guided fuzzer, SECONDS=1800"
	@echo "make mutation         mutants of loader, validators and payload encoder that the tests find, MUTANTS=200 more"
	@echo "make bench-load-kernel  how even load gets over time, on generated weeks, ROWS=\"S M\" SEEDS=10"
	@echo "make bench-planner    the planner's figures, bounds and times, beside two other planners, ROWS=\"S M\""
	@echo "make bench-load-build  time and memory of load build, MILLIONS=\"60 240\" of samples"
	@echo "make bench-insight    times of inspect, whatif and report on 100,000 partitions"
	@echo "make bench-pace       clients beside copies on limited links (root on Linux), CASES=\"all one-25 adaptive\" RUNS=1 LINK=80"
	@echo "make bench-suites     times of suites, into the table of CONTRIBUTING.md, SUITES=\"lint test\""
	@echo "make bench-executor   requests and times of the executor, as a table"
	@echo "make clean            remove all that these leave here; the downloads in ~/.cache/kadmin stay"

setup: $(READY)

$(READY): requirements.lock pyproject.toml setup.sh
	@./setup.sh "$(PYTHON)" "$(VENV)"

demo: $(READY)
	@./demo.sh

# lint is no prerequisite: beside others, make would begin them all before it came back to the tests.
test: $(READY)
	$(MAKE) lint
	$(MEASURE) $(PYTEST) -n 5 $(SHARED_OUT) $(BRANCHES)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python release/write_schemas.py --check
	$(BIN)/mypy
	$(BIN)/lint-imports

schemas: $(READY)
	$(BIN)/python release/write_schemas.py

unit: $(READY)
	$(PYTEST) $(WORKERS) -m "not live"

live: $(READY)
	$(PYTEST) $(WORKERS) -m live

coverage:
	rm -rf .measured
	$(MAKE) --jobs=1 MEASURED=.measured test test-eras test-spark floor

floor: $(READY)
	$(BIN)/coverage combine --quiet $(MEASURED)/*
	$(BIN)/coverage report --skip-covered --fail-under=94

test-eras: $(READY)
	$(MEASURE) KADMIN_TEST_VERSIONS=$(ERAS) KADMIN_TEST_KRAFT=$(KRAFT) $(PYTEST) $(WORKERS) $(BRANCHES) --suite eras

test-matrix: $(READY) $(SERVERS_READY)
	KADMIN_TEST_VERSIONS=$(ERAS) KADMIN_TEST_KRAFT=$(KRAFT) $(PYTEST) $(WORKERS) --suite matrix

test-executor: $(READY)
	KADMIN_TEST_VERSIONS=$(ERAS) KADMIN_TEST_KRAFT=3.9.2,4.4.0 $(PYTEST) $(WORKERS) --suite executor

test-containers: $(READY) $(TOOLS_READY)
	containers/with-docker.sh $(PYTEST) --suite containers tests/containers -s

test-report: $(READY)
	tests/with-chromium.sh $(PYTEST) --suite browser tests/report

test-kerberos: $(READY)
	tests/with-kerberos.sh $(KERBEROS) $(PYTEST) --suite kerberos --once-more tests/kraft tests/live

test-pages: $(READY)
	$(PYTEST) -n 2 --dist loadgroup --once-more --suite pages tests/live tests/report

test-spark: $(READY)
	$(MEASURE) $(PYTEST) -n 2 --dist loadgroup --once-more $(BRANCHES) --suite spark tests/planner tests/live

$(SERVERS_READY): $(READY) tests/support/planner/servers.lock
	rm -rf $(SERVERS)
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps --target $(SERVERS) --requirement tests/support/planner/servers.lock
	@touch $(SERVERS_READY)

test-release: $(READY) $(TOOLS_READY)
	$(PYTEST) -n 2 -v --suite release tests/release

$(TOOLS_READY): release/requirements.lock
	"$(PYTHON)" -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --require-hashes --no-deps --requirement release/requirements.lock
	@touch $(TOOLS_READY)

release: $(READY) $(TOOLS_READY)
	$(BIN)/python release/build.py $(TOOLS)/bin $(TAG)

audit: $(READY) $(TOOLS_READY)
	$(BIN)/python release/locked.py java report spark >$(TOOLS)/runtime.lock
	$(TOOLS)/bin/pip-audit --strict --disable-pip --require-hashes --requirement $(TOOLS)/runtime.lock

image: $(READY) $(TOOLS_READY)
	PYTHONPATH=release $(BIN)/python containers/build_images.py $(TOOLS)/bin $(BASE)

site: $(READY) $(TOOLS_READY)
	$(BIN)/python release/site_pages.py $(TOOLS)/site
	NO_MKDOCS_2_WARNING=1 $(TOOLS)/bin/mkdocs build --strict --config-file $(TOOLS)/site/mkdocs.yml --site-dir $(CURDIR)/site

bench: $(READY)
	$(BIN)/python benchmarks/run.py
	PYTHONPATH=tests $(BIN)/python benchmarks/validation.py

bench-planner: $(READY)
	PYTHONPATH=tests $(BIN)/python benchmarks/planner.py $(ROWS)

bench-load-kernel: $(READY)
	PYTHONPATH=tests $(BIN)/python benchmarks/load_kernel.py $(ROWS) --seeds $(SEEDS)

bench-pace: $(READY)
	PYTHONPATH=tests $(BIN)/python benchmarks/pace.py $(CASES) --runs $(RUNS) --link $(LINK)

bench-suites: $(READY)
	$(BIN)/python benchmarks/suites.py $(SUITES)

bench-executor: $(READY)
	PYTHONPATH=tests $(BIN)/python benchmarks/executor.py

bench-load-build: $(READY)
	$(BIN)/python benchmarks/load_build.py $(MILLIONS)

bench-insight: $(READY)
	PYTHONPATH=tests $(BIN)/python benchmarks/insight.py

fuzz: $(READY)
	PYTHONPATH=tests $(BIN)/python tests/support/documents/fuzz.py --seconds $(SECONDS)

mutation: $(READY)
	$(BIN)/python benchmarks/mutation.py $(MUTANTS)

# .gitignore is the list of what targets, tests and tools leave here. The downloads in the cache stay.
clean:
	git ls-files -z --others --ignored --exclude-from=.gitignore --directory | xargs -0 rm -rf --
