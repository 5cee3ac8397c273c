# `make` alone lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

BIN := .venv/bin
PYTEST := $(BIN)/pytest
ARGS ?=
SERVICES := api dispatcher status-ingest notifier reconciler
IMAGES := $(SERVICES:%=pilot-%) evolution-simulator
EXPORT := export --no-emit-workspace --no-header --format requirements-txt --quiet

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z][a-z0-9-]*:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-14s %s\n", $$1, $$2 }'

.PHONY: setup
setup: ## Create .venv from requirements.lock and install the workspace (skipped when up to date)
	@tools/setup

.PHONY: demo
demo: setup ## Start everything and watch messages travel to READ; Ctrl-C stops it (DEMO_ONCE=1: end by itself)
	@$(BIN)/python -m local_stack demo

.PHONY: stack
stack: setup ## Start backing services, the five services and the gateway simulator, and stay until Ctrl-C
	@$(BIN)/python -m local_stack up

.PHONY: test
test: setup ## Run the whole test suite; ARGS are passed on to pytest
	@$(PYTEST) $(ARGS)

.PHONY: test-fast
test-fast: setup ## Run the fast ring: unit, architecture and gateways
	@$(PYTEST) -m 'not slow' tests/unit tests/architecture tests/gateways $(ARGS)

.PHONY: mutations
mutations: setup ## Remove one rule after another: a test must fail each time; ARGS="-k limits" tries some, ARGS=--list lists
	@$(BIN)/python -m tests.mutations $(ARGS)

.PHONY: check
check: setup lint types imports ## Run all static checks

.PHONY: fmt
fmt: setup ## Format the code and apply safe fixes
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

.PHONY: lint
lint: setup ## Check format and style
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .

.PHONY: types
types: setup ## Check types (mypy strict)
	@$(BIN)/mypy libs/*/src services/*/src tools/*/src

.PHONY: imports
imports: setup ## Check the import rules between and inside services
	@$(BIN)/lint-imports

.PHONY: migrate
migrate: setup ## Migrate each service's schema in the database of DATABASE_URL / DATABASE_ADMIN_URL
	@for service in $(SERVICES); do $(BIN)/python -m $${service//-/_} migrate; done

.PHONY: openapi
openapi: setup ## Write services/api/openapi.json anew; refuses an edit that breaks clients
	@$(BIN)/python -m api.app.documentation.snapshot

.PHONY: bench
bench: setup ## Measure ours beside references in one run; ARGS name benches (relay wakeup faults claim dispatch notify accept ingest life)
	@$(BIN)/python -m tests.bench $(ARGS)

.PHONY: simulate
simulate: setup ## Run lanes through days of traffic in virtual time; ARGS: --messages --tenants --lanes --days --seed
	@$(BIN)/python -m tests.simulation lanes $(ARGS)

.PHONY: fuzz
fuzz: setup ## Post 100,000 broken webhooks at a running status-ingest; ARGS: --bodies --seed
	@$(BIN)/python -m tests.fuzz $(ARGS)

.PHONY: compose-check
compose-check: setup ## Check docker-compose.yml against the compose schema
	@$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml

.PHONY: k8s-check
k8s-check: setup ## Check the Kubernetes manifests against strict schemas
	@$(BIN)/kubernetes-validate --strict -k 1.32 deploy/k8s/base/*.yaml

.PHONY: lock
lock: ## Resolve dependencies anew: requirements.lock and its runtime and build parts
	@uv=$$(command -v uv || echo .run/uv/bin/uv); \
	if [ ! -x "$$uv" ]; then python3 -m venv .run/uv; .run/uv/bin/pip install -qq uv; fi; \
	"$$uv" lock --quiet --upgrade; \
	"$$uv" $(EXPORT) --all-packages --all-groups -o requirements.lock > /dev/null; \
	"$$uv" $(EXPORT) $(IMAGES:%=--package %) --no-dev -o requirements-runtime.lock > /dev/null; \
	echo hatchling | "$$uv" pip compile --quiet --generate-hashes --no-header \
		-c requirements.lock -o requirements-build.lock - > /dev/null

.PHONY: clean
clean: ## Remove .venv, .run and caches
	@rm -rf .venv .run .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache uv.lock
	@find libs services tools tests -name __pycache__ -type d -prune -exec rm -rf {} +
