# `make` or `make help` lists the targets.
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.PHONY: help setup test reproduce reproduce-full bench bench-gpu lint lock clean

export PATH := $(CURDIR)/.venv/bin:$(PATH)
export MPLBACKEND := Agg
export DVC_NO_ANALYTICS := 1
export PYTHONHASHSEED := 0
# The date in the PDF: the release of the third paper, not the day of the run.
export SOURCE_DATE_EPOCH := 1767744000
export FORCE_SOURCE_DATE := 1

LATEX := texlive-latex-recommended texlive-latex-extra texlive-science latexmk

help:  ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1\t\2/p' Makefile | expand -t 18

setup:  ## make .venv from the hash-checked lock, if it is not there (TORCH=cpu|cuda, PYTHON=...)
	@requirements/setup.sh

test: setup  ## run the tests; skipped ones are listed with their reason
	@pytest -rs

reproduce: setup  ## recompute the published numbers and run the mini pipeline: offline, no GPU
	@if command -v latexmk >/dev/null; then papers="typeset@published typeset@mini"; \
	else papers="render-published render@mini"; \
		echo "No latexmk: the papers stay LaTeX source. For PDFs: apt install $(LATEX)"; fi; \
	dvc repro report-published report@mini $$papers
	@layerwise summary published mini

reproduce-full: setup  ## measure every number again from the weights: network, GPU, LaTeX
	layerwise fetch
	dvc repro
	@layerwise summary published mini full

bench: setup  ## measure speed against the notebooks' way (QUICK=1 for a short run)
	@for script in $(filter-out benchmarks/gpu.py benchmarks/peers.py,$(wildcard benchmarks/*.py)); \
		do python $$script $(if $(QUICK),--quick); done

bench-gpu: setup  ## the same on a GPU: seconds, memory, half-precision noise (TORCH=cuda)
	@python benchmarks/gpu.py

lint: setup  ## ruff and mypy
	ruff check code tests benchmarks
	ruff format --check code tests benchmarks
	mypy

# Needs uv, and the CPU build of torch where uv looks (UV_FIND_LINKS or UV_INDEX).
lock:  ## resolve the *.in files again, with hashes, for Python 3.11 and newer
	@command -v uv >/dev/null || { echo "make lock needs uv on PATH" >&2; exit 2; }
	@for name in requirements/cpu requirements/cuda benchmarks/peers; do lock=$$name.lock; \
		uv pip compile -q $$name.in --universal --python-version 3.11 \
			--generate-hashes --no-header --no-emit-find-links --no-emit-index-url \
			-o $$lock >/dev/null; \
		{ echo "# Made by \`make lock\` from $$(basename $$name).in; do not edit."; cat $$lock; } >$$lock.part; \
		mv $$lock.part $$lock; done

clean:  ## remove what `make reproduce` and the tools made; .venv, data and results/full stay
	rm -rf results/published results/mini figures/published figures/mini paper/generated
	rm -rf report/published report/mini
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find code tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
