# What a reader runs; `make` or `make help` lists it. What maintainers run stands in .ci/maintain.mk.
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.PHONY: help setup setup-models setup-test doctor reproduce check-upstream test rehearse reproduce-small reproduce-full

export PATH := $(CURDIR)/.venv/bin:$(PATH)
export MPLBACKEND := Agg
export DVC_NO_ANALYTICS := 1
export PYTHONHASHSEED := 0
# Bytecode is kept whatever the environment says: without it every stage compiles all it imports;
# and so are docstrings, of which captions are made.
export PYTHONDONTWRITEBYTECODE :=
export PYTHONOPTIMIZE :=
# No clock in any bytes; the report's PDF bears the date of the commit instead.
export SOURCE_DATE_EPOCH := 1767744000
export FORCE_SOURCE_DATE := 1

LISTED = awk -F ':.*\#\# ' '/^[a-z-]+:.*\#\# / { printf "%-18s%s\n", $$1, $$2 }'
help:  ## this list
	@$(LISTED) Makefile
	@echo
	@echo 'make help-maintain lists what maintainers run: lint, more tests, docs, the image, the archive'

setup:  ## make .venv from the hash-checked locks, without torch, if it is not there (PYTHON=...)
	@requirements/setup.sh

setup-models:  ## add torch and transformers: what analyze and rehearse need (TORCH=cpu|cuda|cuda12)
	@requirements/setup.sh models

doctor: setup  ## what can run here, and what to do about what cannot
	@python -m layerwise doctor

reproduce: setup  ## recompute what follows from the published numbers: offline, no GPU, a minute of CPU time (STRICT=1)
	@python -m layerwise.run.steps.run published $(if $(STRICT),--strict)

check-upstream: setup  ## compare published/ with the authors' files, number by number, by sha256: network, a few MB
	@python -m layerwise.run.steps.transcribe --check

test test-models: export OMP_NUM_THREADS := 1

setup-test:
	@requirements/setup.sh dev

test: setup-test  ## the tests of statistics, published numbers, claims and marks: no torch, 80 s of CPU time
	@python -m pytest -m "not models and not long and not docs"

rehearse: setup-models  ## run the measured pipeline on random-weight stand-ins in a scratch copy: offline, no GPU
	@python -m layerwise.run.steps.rehearse

reproduce-small: setup-models  ## measure the models that fit here from their weights: network, CPU, an hour (HOURS=, GB=)
	@python -m layerwise.run.steps.small $(if $(HOURS),--hours $(HOURS)) $(if $(GB),--gigabytes $(GB))

reproduce-full: setup-models  ## measure every number again from the weights: network, GPU; again: what failed
	@python -m layerwise.run.steps.run all

include .ci/maintain.mk
