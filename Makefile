# Everything runs from .venv, which the targets create with the first usable Python.
PYTHON ?= $(firstword $(foreach name,python3 python3.13 python3.12 python3.11,\
	$(shell $(name) -c 'import sys; sys.version_info >= (3, 11) and print("$(name)")' 2>/dev/null)))
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check -qq install --no-deps --require-hashes
COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url
# Services load their modules in half the time when Python may keep what it has compiled.
export PYTHONDONTWRITEBYTECODE :=

SESSION ?=
DATA ?=
DSN ?=
JUNK ?=

# A copied or outdated environment is created again.
ifneq ($(shell $(PY) -c 'import sys; print(sys.version_info >= (3, 11))' 2>/dev/null),True)
.PHONY: $(PY)
endif

.DEFAULT_GOAL := help
.PHONY: help run test check shape format openapi pins demo bench-quality bench-hot bench-cache bench-assemble bench-learning clean bench-junk bench-precision bench-steps bench-conflict bench-paging proof-timeline proof-isolation proof-fuzz proof-overload proof-fairness proof-restarts proof-upgrade verify-deploy verify-readme verify-types verify-docker verify-observability proof-mcp

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-28s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/run.stamp ## Run the whole cluster here, with sample data, until Ctrl-C
	@$(PY) -m local --stop-with-parent

test: check ## Check the code, then run every test on its own servers; what fails runs once more, alone
	@$(PY) -m pytest -n auto --maxprocesses 4 --dist worksteal || { test $$? -eq 1 && \
		echo "What failed runs once more, alone. What passes now failed beside others:" && \
		$(PY) -m pytest --last-failed --last-failed-no-failures none --maxfail 3 -rpfE; }

check: $(VENV)/dev.stamp ## Check formatting, lint, types, import directions, security findings, statements, and the shape of the code
	@$(PY) -m ruff format --check --quiet .
	@$(PY) -m ruff check --quiet .
	@$(PY) -m mypy
	@$(PY) -c 'from importlinter.cli import lint_imports_command as lint; lint(["--no-logo"])'
	@$(PY) -m bandit -q -c pyproject.toml -r --severity-level medium services shared local clients
	@$(PY) -m tools.distribution --check
	@$(PY) -m tools.shape

shape: $(VENV)/run.stamp ## Measure functions, files, folders and imports, and fail above a limit
	@$(PY) -m tools.shape

format: $(VENV)/dev.stamp ## Format the code and apply the safe lint fixes
	@$(PY) -m ruff check --quiet --fix . ; $(PY) -m ruff format --quiet .

openapi: $(VENV)/dev.stamp ## Write the API's document and both clients from the code
	@$(PY) -m tools.openapi
	@$(PY) -m tools.mcp

.PHONY: statements
statements: $(VENV)/dev.stamp ## Write docs/statements.md: which statements reach one tenant, and what they break
	@$(PY) -m tools.distribution

.PHONY: audit
audit: ## Look for known vulnerabilities in what the services install (needs uv, and a registry that knows them)
	@command -v uv >/dev/null || { echo "make audit needs uv"; exit 1; }
	@uv tool run --quiet pip-audit@2.10.1 --strict --no-deps --disable-pip -r requirements/run.txt

pins: ## Compile requirements/*.txt from *.in (needs uv)
	@command -v uv >/dev/null || { echo "make pins needs uv"; exit 1; }
	@$(COMPILE) -o requirements/run.txt requirements/run.in
	@$(COMPILE) -o requirements/local.txt requirements/local.in
	@$(COMPILE) -o requirements/dev.txt requirements/dev.in
	@$(COMPILE) -o requirements/deploy.txt requirements/deploy.in
	@$(COMPILE) -o requirements/node.txt requirements/node.in
	@$(COMPILE) -o requirements/multilingual.txt requirements/multilingual.in
	@$(COMPILE) -o requirements/adapters.txt requirements/adapters.in
	@$(COMPILE) -o requirements/crewai.txt requirements/crewai.in
	@$(COMPILE) -o requirements/browser.txt requirements/browser.in

.PHONY: console
console: console/node_modules/.stamp ## Build the console, the web page of operators, into the service that serves it
	@cd console && PATH="$(abspath $(VENV))/bin:$$PATH" npm run --silent build

demo: $(VENV)/run.stamp ## Play agents' transcripts and ask questions about them: SESSION=files or folders
	@test -n "$(SESSION)" || { echo "make demo needs SESSION=files or folders"; exit 2; }
	@$(PY) -m bench.demo $(SESSION)

bench-quality: $(VENV)/run.stamp ## Measure retrieval on a data set: DATA=folder, DOCUMENTS=1 for documents of users, GRAPH=1 with facts
	@test -n "$(DATA)" || { echo "make bench-quality needs DATA=folder"; exit 2; }
	@$(PY) -m bench.quality "$(DATA)"

bench-hot: $(VENV)/run.stamp ## Compare copies in memory with the search statement: DATA=folder
	@test -n "$(DATA)" || { echo "make bench-hot needs DATA=folder"; exit 2; }
	@$(PY) -m bench.quality.hot "$(DATA)"

.PHONY: bench-text-first bench-stores
bench-text-first: $(VENV)/run.stamp ## Measure what answering from words alone costs: DATA=folder
	@test -n "$(DATA)" || { echo "make bench-text-first needs DATA=folder"; exit 2; }
	@$(PY) -m bench.quality.text_first "$(DATA)"

.PHONY: bench-vault
bench-vault: $(VENV)/run.stamp ## Measure the index of a folder and its search: DATA=folder, else 1,000 notes that link each other
	@$(PY) -m bench.vault $(DATA)

bench-stores: $(VENV)/run.stamp ## Measure assemble over all five stores and the graph against its SQL alone: SCALE=small
	@$(PY) -m bench.stores

.PHONY: bench-consolidation
bench-consolidation: $(VENV)/run.stamp ## Measure what is learned without a model, and the search beside it: DATA=folder LIMIT=1
	@test -n "$(DATA)" || { echo "make bench-consolidation needs DATA=folder"; exit 2; }
	@$(PY) -m bench.consolidation "$(DATA)"

bench-junk: $(VENV)/run.stamp ## Measure what unrelated text in other stores costs: DATA=folder JUNK=folder
	@test -n "$(DATA)" -a -n "$(JUNK)" || { echo "make bench-junk needs DATA=folder JUNK=folder"; exit 2; }
	@$(PY) -m bench.quality.junk "$(DATA)" "$(JUNK)"

bench-precision: $(VENV)/run.stamp ## Measure how much of a block is wanted: DATA="folder folder" asks data sets, too
	@$(PY) -m bench.precision $(DATA)

bench-steps: $(VENV)/run.stamp ## Measure the search for steps of coding agents: DATA=folder of transcripts
	@test -n "$(DATA)" || { echo "make bench-steps needs DATA=folder"; exit 2; }
	@$(PY) -m bench.steps "$(DATA)"

bench-delta: $(VENV)/run.stamp ## Measure what delta assembly saves of the tokens that a host injects: DATA=folder of transcripts
	@$(PY) -m bench.delta $(DATA)

bench-conflict: $(VENV)/run.stamp ## Measure whether the newest of contradicting statements comes first: FACTS=130
	@$(PY) -m bench.conflict

bench-paging: $(VENV)/run.stamp ## Measure what the paging of a context keeps: DATA=folder of transcripts, BUDGET=16000, PLOT=file.svg
	@$(PY) -m bench.paging $(DATA)

.PHONY: bench-gateway-cost
bench-gateway-cost: $(VENV)/run.stamp ## Measure what paging at the gateway saves of a provider's bill: DATA=folder of transcripts, SESSIONS=20
	@test -n "$(DATA)" || { echo "make bench-gateway-cost needs DATA=folder"; exit 2; }
	@$(PY) -m bench.gateway_cost "$(DATA)"

.PHONY: bench-gateway
bench-gateway: $(VENV)/run.stamp ## Measure what the gateway adds to 50 sessions, and the memory of 1,000 idle streams: SESSIONS=50 ROUNDS=3
	@$(PY) -m bench.gateway

.PHONY: bench-asking
bench-asking: $(VENV)/run.stamp ## Measure answers to questions about a session, and their tokens: DATA=folder of transcripts
	@$(PY) -m bench.asking $(DATA)

.PHONY: bench-sessions
bench-sessions: $(VENV)/run.stamp ## Measure how many turns a second page, and reads of sessions against their SQL alone: SESSIONS=1000
	@$(PY) -m bench.sessions

.PHONY: replay
replay: $(VENV)/run.stamp ## Play transcripts through the paging of the API: SESSION=file or folder, BUDGET=16000, PICTURE=file.svg
	@test -n "$(SESSION)" || { echo "make replay needs SESSION=file or folder"; exit 2; }
	@$(PY) -m bench.paging.replay "$(SESSION)"

bench-cache: $(VENV)/run.stamp ## Measure cache writes against their SQL alone, a plain insert and a naive path
	@$(PY) -m bench.cache

.PHONY: bench-indexing
bench-indexing: $(VENV)/run.stamp ## Measure how fast vectors follow an import, and what other callers notice: MESSAGES=200 ROUNDS=3
	@$(PY) -m bench.indexing

bench-assemble: $(VENV)/run.stamp ## Measure assemble against its SQL alone: SCALE=small for a quick look
	@$(PY) -m bench.assemble

# The data of the conversations lies beside the project where it is worked on.
.PHONY: bench
bench: DATA := $(or $(DATA),$(wildcard ../shared/data/locomo-dev))
bench: $(VENV)/run.stamp ## Compare Scrubjay with three other memories: DATA=folder, SCALE=small for minutes
	@test -n "$(DATA)" || { echo "make bench needs DATA=folder"; exit 2; }
	@$(PY) -m bench.race "$(DATA)"

bench-learning: $(VENV)/run.stamp ## Simulate callers whose feedback teaches weights
	@$(PY) -m bench.learning

bench-recall: $(VENV)/run.stamp ## Measure search over 100,000 memories of 100 agents or 100 tenants, against plain SQL
	@$(PY) -m bench.recall

.PHONY: bench-policies
bench-policies: $(VENV)/run.stamp ## Measure what row-level security costs writes, searches and assemble, in pairs: SCALE=small
	@$(PY) -m bench.policies

.PHONY: bench-disk bench-growth bench-promises bench-layers
bench-disk: $(VENV)/run.stamp ## Measure the bytes of an entry and a memory, by table and index: DATA=folder
	@test -n "$(DATA)" || { echo "make bench-disk needs DATA=folder"; exit 2; }
	@$(PY) -m bench.disk "$(DATA)"

bench-growth: $(VENV)/run.stamp ## Measure what grows from 10,000 to 1,000,000 items: SCALE=small for 100,000, PLOT=folder
	@$(PY) -m bench.growth $(if $(PLOT),--plot "$(PLOT)")

bench-layers: $(VENV)/run.stamp ## Measure where the time of one write goes, layer by layer
	@$(PY) -m bench.layers

bench-promises: $(VENV)/run.stamp ## Measure every promise of speed against its bar: SCALE=small for minutes
	@$(PY) -m bench.promises

verify-deploy: $(VENV)/deploy.stamp ## Check the chart, the compose file and the Dockerfile, without an engine or a cluster
	@$(PY) -m deploy.verify

verify-observability: $(VENV)/deploy.stamp ## Run the dashboards' queries on the Prometheus of a live cluster, and try each alert
	@$(PY) -m proofs.observability

verify-readme: $(VENV)/run.stamp ## Follow README.md word by word: start the cluster, run each block as printed
	@$(PY) -m tools.readme

verify-types: $(VENV)/dev.stamp .node/stamp ## Compile minimal bodies against TypeScript types made of the API's document
	@$(PY) -m proofs.typescript

.PHONY: verify-typescript
verify-typescript: $(VENV)/dev.stamp .node/stamp ## Pack the TypeScript client, compile what uses it strictly, and make every call on a cluster
	@$(PY) -m proofs.typescript_client

.PHONY: verify-console
verify-console: $(VENV)/dev.stamp $(VENV)/browser.stamp console/node_modules/.stamp ## Build the console again, byte for byte, and use it in a real browser (needs Chromium): SHORT=1 for a quick look
	@$(PY) -m proofs.console.built
	@$(PY) -m proofs.console $(if $(SHORT),--short)

.PHONY: verify-python
verify-python: $(VENV)/dev.stamp .adapters/stamp .node/stamp ## Build, check, install and type the Python client as its users have it
	@$(PY) -m proofs.python_client

verify-docker: $(VENV)/deploy.stamp ## Build the image and run docker-compose.yml on a Docker engine: SESSION=files to play
	@SESSION="$(SESSION)" $(PY) -m deploy.verify.engine

.PHONY: verify-adapters
verify-adapters: $(VENV)/dev.stamp .adapters/stamp .crewai/stamp ## Run the suites of agent frameworks over the adapters, in an environment of their own: SHORT=1 for a quick look
	@MYPYPATH=clients/python/src .adapters/bin/python -m mypy --config-file proofs/adapters/mypy.ini
	@MYPYPATH=clients/python/src .crewai/bin/python -m mypy --config-file proofs/adapters/mypy.ini \
		clients/python/src/scrubjay/adapters/crewai.py proofs/adapters/suites/crewai.py
	@$(PY) -m proofs.adapters $(if $(SHORT),--short)

proof-timeline: $(VENV)/run.stamp ## Prove that no reader of the timeline misses an event: SHORT=1 for a quick look
	@$(PY) -m proofs.timeline $(if $(SHORT),--short)

proof-mcp: $(VENV)/dev.stamp .node/stamp ## Prove that any MCP client works on any replica: SHORT=1 for a quick look
	@$(PY) -m proofs.mcp $(if $(SHORT),--short)

proof-isolation: $(VENV)/dev.stamp ## Prove that no key sees or changes what its bounds do not reach: SHORT=1 for a quick look
	@$(PY) -m proofs.isolation $(if $(SHORT),--short)

.PHONY: proof-tenants
proof-tenants: $(VENV)/dev.stamp ## Prove that no tenant reaches what is another's, through a pooler (needs pgbouncer): SHORT=1 for a quick look
	@$(PY) -m proofs.isolation.tenants $(if $(SHORT),--short)

proof-fuzz: $(VENV)/dev.stamp ## Prove that no input causes a 5xx or an undocumented answer: SHORT=1 for a quick look
	@$(PY) -m proofs.fuzz $(if $(SHORT),--short)

proof-overload: $(VENV)/run.stamp ## Prove that services shed overload and survive slow clients: SHORT=1 for a quick look
	@$(PY) -m proofs.overload $(if $(SHORT),--short)

proof-fairness: $(VENV)/run.stamp ## Prove that one tenant cannot stop the others: SHORT=1 for a quick look
	@$(PY) -m proofs.fairness $(if $(SHORT),--short)

.PHONY: proof-purge
proof-purge: $(VENV)/run.stamp ## Prove that purges leave nothing in tables, files or logs: SHORT=1 for a quick look
	@$(PY) -m proofs.purge $(if $(SHORT),--short)

.PHONY: proof-paging
proof-paging: $(VENV)/run.stamp ## Prove that paging corrupts nothing and records every change: SHORT=1 for a quick look
	@$(PY) -m proofs.paging $(if $(SHORT),--short)

.PHONY: proof-vault
proof-vault: $(VENV)/run.stamp ## Prove that the index of a folder stands kills and hostile files: SHORT=1 for a quick look
	@$(PY) -m proofs.vault $(if $(SHORT),--short)

.PHONY: proof-sessions
proof-sessions: $(VENV)/run.stamp ## Prove that kills lose nothing of a session's trail: SHORT=1 for a quick look
	@$(PY) -m proofs.sessions $(if $(SHORT),--short)

.PHONY: proof-consolidation
proof-consolidation: $(VENV)/run.stamp ## Prove that kills change nothing of what sessions teach, and loops learn nothing: SHORT=1 for a quick look
	@$(PY) -m proofs.consolidation $(if $(SHORT),--short)

.PHONY: proof-webhooks
proof-webhooks: $(VENV)/dev.stamp ## Prove that every event reaches its receiver, and no private address is reached: SHORT=1 for a quick look
	@$(PY) -m proofs.webhooks $(if $(SHORT),--short)

.PHONY: proof-junk
proof-junk: $(VENV)/run.stamp ## Prove that unrelated text in other stores gets no credit: SHORT=1 for a quick look
	@$(PY) -m proofs.junk $(if $(SHORT),--short)

.PHONY: proof-freshness
proof-freshness: $(VENV)/run.stamp ## Prove that what is answered from copies in memory is never stale: SHORT=1 for a quick look
	@$(PY) -m proofs.freshness $(if $(SHORT),--short)

proof-restarts: $(VENV)/run.stamp ## Prove that rolling restarts drop nothing (needs haproxy): SHORT=1 for a quick look
	@$(PY) -m proofs.restarts $(if $(SHORT),--short)

proof-upgrade: $(VENV)/run.stamp ## Prove that the previous code keeps working while the schema changes: PREVIOUS=commit, SHORT=1
	@PREVIOUS="$(PREVIOUS)" $(PY) -m proofs.upgrade $(if $(SHORT),--short)

.PHONY: proof-citus
proof-citus: $(VENV)/dev.stamp ## Prove that Citus runs it, and moves a tenant while agents write: DSN=of an empty, prepared database
	@test -n "$(DSN)" || { echo "make proof-citus needs DSN=an administrator's address of a coordinator"; exit 2; }
	@DSN="$(DSN)" $(PY) -m proofs.citus

clean: ## Remove the environment and the caches, but keep the stack's data in .data
	@rm -rf $(VENV) .node .console console/node_modules .race .adapters .crewai .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/dev.stamp: requirements/dev.txt $(VENV)/run.stamp
	@echo "Installing what the checks and tests need ..."
	@$(PIP) -r requirements/run.txt -r requirements/local.txt -r requirements/dev.txt
	@touch $@

$(VENV)/browser.stamp: requirements/browser.txt $(VENV)/dev.stamp
	@echo "Installing what drives a browser ..."
	@$(PIP) -r requirements/browser.txt
	@touch $@

$(VENV)/deploy.stamp: requirements/deploy.txt $(VENV)/run.stamp
	@echo "Installing what the checks of the deployment need ..."
	@$(PIP) -r requirements/run.txt -r requirements/local.txt -r requirements/deploy.txt
	@touch $@

$(VENV)/run.stamp: requirements/run.txt requirements/local.txt shared/search/languages/model.py $(PY)
	@echo "Installing what the services need (a minute or so, the first time) ..."
	@$(PIP) -r requirements/run.txt -r requirements/local.txt
	@$(PY) -m shared.search.languages
	@touch $@

.adapters/stamp: requirements/adapters.txt $(PY)
	@echo "Installing the agent frameworks (a minute or so, the first time) ..."
	@$(PY) -m venv --clear .adapters
	@.adapters/bin/python -m pip --disable-pip-version-check -qq install --no-deps --require-hashes -r requirements/adapters.txt
	@# The tests of LangGraph's stores are in its source distribution.
	@mkdir -p .adapters/sources && grep -A2 '^langgraph-checkpoint==' requirements/adapters.txt > .adapters/sources/pins.txt
	@.adapters/bin/python -m pip --disable-pip-version-check -qq download --no-deps --no-build-isolation \
		--no-binary langgraph-checkpoint --require-hashes -r .adapters/sources/pins.txt -d .adapters/sources
	@touch $@

.crewai/stamp: requirements/crewai.txt $(PY)
	@echo "Installing CrewAI (a minute or so, the first time) ..."
	@$(PY) -m venv --clear .crewai
	@.crewai/bin/python -m pip --disable-pip-version-check -qq install --no-deps --require-hashes -r requirements/crewai.txt
	@touch $@

.node/stamp: proofs/node/package.json requirements/node.txt $(PY)
	@echo "Installing Node.js and the MCP packages of npm ..."
	@$(PIP) -r requirements/node.txt
	@mkdir -p .node && cp $< .node/
	@cd .node && $(abspath $(VENV))/bin/npm install --no-package-lock --no-audit --no-fund --loglevel=error
	@touch $@

console/node_modules/.stamp: console/package.json console/package-lock.json requirements/node.txt $(PY)
	@echo "Installing what builds the console ..."
	@$(PIP) -r requirements/node.txt
	@cd console && PATH="$(abspath $(VENV))/bin:$$PATH" npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(PY):
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: install it, or name it with PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed, $(PYTHON) is $$($(PYTHON) --version 2>&1): set PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "$(PYTHON) cannot make environments: install its venv package (python3-venv on Debian and Ubuntu)"; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV)

.PHONY: verify-plugin
verify-plugin: $(VENV)/dev.stamp ## Run the real Claude Code and Codex with the plugin, and without: needs npm and a registry
	@PYTHONPATH=clients/python/src $(PY) -m proofs.plugin

.PHONY: proofs proofs-short
proofs: $(VENV)/dev.stamp ## Run the proofs of all promises, in about an hour and a half: ONLY=P1,P15
	@$(PY) -m proofs

proofs-short: $(VENV)/dev.stamp ## Run the short proofs of all promises, in about twenty minutes: ONLY=P1,P15
	@$(PY) -m proofs --short

.PHONY: soak
soak: $(VENV)/run.stamp ## Let a fleet of agents work for two hours, with faults: SHORT=1 for a quick look, or MINUTES=30
	@$(PY) -m proofs.soak $(if $(SHORT),--short)

.PHONY: proof-writes
proof-writes: $(VENV)/run.stamp ## Prove that no acknowledged write is lost while everything is killed: SHORT=1 for a quick look
	@$(PY) -m proofs.writes $(if $(SHORT),--short)

.PHONY: proof-core
proof-core: $(VENV)/run.stamp ## Look at every interleaving of the state machines that all rests on: SHORT=1 for a quick look
	@$(PY) -m proofs.core $(if $(SHORT),--short)

.PHONY: proof-links
proof-links: $(VENV)/dev.stamp ## Prove that no path and no race leads out of a folder: SHORT=1 for a quick look
	@PYTHONPATH=clients/python/src:clients/agent/src $(PY) -m proofs.hostile.links $(if $(SHORT),--short)

.PHONY: proof-blocks
proof-blocks: $(VENV)/dev.stamp ## Prove that stored text cannot forge the structure of a block: SHORT=1 for a quick look
	@PYTHONPATH=clients/python/src $(PY) -m proofs.hostile.blocks $(if $(SHORT),--short)

.PHONY: proof-disk
proof-disk: $(VENV)/run.stamp ## Prove that a full disk loses nothing (as root, on Linux): SHORT=1 for a quick look
	@$(PY) -m proofs.disk $(if $(SHORT),--short)

.PHONY: proof-clocks
proof-clocks: $(VENV)/run.stamp ## Prove that services' clocks do not matter (needs libfaketime): SHORT=1 for a quick look
	@$(PY) -m proofs.clocks $(if $(SHORT),--short)

.PHONY: proof-retries
proof-retries: $(VENV)/dev.stamp ## Prove that a retried write happens once, whichever reply is lost: SHORT=1 for a quick look
	@$(PY) -m proofs.retries $(if $(SHORT),--short)

.PHONY: proof-deadlines
proof-deadlines: $(VENV)/dev.stamp ## Prove that a dependency that stops is not a slow answer: SHORT=1 for a quick look
	@$(PY) -m proofs.deadlines $(if $(SHORT),--short)

.PHONY: proof-degraded
proof-degraded: $(VENV)/dev.stamp ## Prove that answers name what is dead, slow or erroring: SHORT=1 for a quick look
	@$(PY) -m proofs.degraded $(if $(SHORT),--short)

.PHONY: proof-agent
proof-agent: $(VENV)/dev.stamp ## Prove that the agent loses and repeats nothing while it is killed: SHORT=1 for a quick look
	@PYTHONPATH=clients/python/src:clients/agent/src $(PY) -m proofs.agent $(if $(SHORT),--short)

.PHONY: verify-gateway
verify-gateway: $(VENV)/dev.stamp ## Run the real Claude Code and Codex through the gateway, and break it: needs npm and a registry
	@PYTHONPATH=clients/python/src $(PY) -m proofs.gateway

.PHONY: proof-transcripts
proof-transcripts: $(VENV)/run.stamp ## Prove that imports of transcripts survive kills and bring no secret in, and measure them: SHORT=1 for a quick look
	@$(PY) -m proofs.transcripts $(if $(SHORT),--short)
