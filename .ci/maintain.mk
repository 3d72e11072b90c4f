# What maintainers run; `make help-maintain` lists it.
.PHONY: help-maintain setup-dev setup-docs test-models test-docs test-all attack real verify-lock archive docs architectures notebooks site
.PHONY: docker-build docker-run docker-test bench bench-errors bench-gpu lint lock clean

help-maintain:  ## this list
	@$(LISTED) .ci/maintain.mk

setup-docs:
	@requirements/setup.sh docs

setup-dev:  ## add torch, transformers, and the tools of test and lint
	@requirements/setup.sh models dev

test-models: setup-dev  ## the tests that run models: extraction, measures, experiments, a reader's model
	@python -m pytest -m "models and not long"

test-docs: setup-dev  ## run the commands of README and pages, notebooks and the studies of small models, as they are written
	@python -m pytest -rs -m docs

test-all: setup-dev  ## every test, on all cores: pages, stages, packaging and what is killed too (ARGS=)
	@OMP_NUM_THREADS=1 pytest -n auto --maxprocesses 4 --dist worksteal -rs $(ARGS)

attack: setup-dev  ## spoilt checkpoints, kills and signals by the thousand, by seed; the table in docs/robustness.md (ARGS="--seed 1 --cases 99")
	@python tests/attack.py --table docs/robustness.md $(ARGS)

real: setup-models  ## two trained models (package index) against their record, one trained here against a plain loop: 6 minutes
	@python tests/real/check.py
	@python tests/real/trained.py

verify-lock: setup  ## prove from a bare clone that dvc.lock fits code and parameters; runs no stage
	@python tests/lock_proof.py

archive:  ## dist/layerwise-VERSION.tar.gz of the last commit, with provenance and checksums
	@python3 .ci/build_archive.py dist

docs: setup-dev  ## docs/*.md from the imports, dvc.yaml, the judged claims and the bench of error rates
	@python docs/architecture.py
	@python docs/pipeline.py
	@python docs/claims.py
	@python docs/calibration.py
	@python docs/api.py
	@python docs/machine.py

architectures: setup-dev  ## docs/architectures.md: every causal class of transformers, tiny, against a plain loop (ten minutes)
	@python docs/architectures.py

notebooks: setup-dev  ## examples/*.ipynb with their outputs, as a forge shows them
	@python docs/notebooks.py

site: setup-docs  ## README and docs/ as a site that opens from disk: site/index.html
	@NO_MKDOCS_2_WARNING=1 mkdocs build --config-file .ci/mkdocs.yml --quiet --strict
	@echo site/index.html

VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
# DOCKER=podman works too. What the container writes goes to WORK; ARGS is its command.
override DOCKER := $(or $(DOCKER),docker)
override WORK := $(or $(WORK),$(CURDIR)/artifact)
ARGS ?=
docker-build:  ## the image (BUILD_ARGS="--build-arg TORCH=cuda12 --build-arg BASE=..." for older drivers)
	$(DOCKER) build --tag $(or $(IMAGE),layerwise) --build-arg VERSION=$(VERSION) \
		--build-arg REVISION=$(shell git rev-parse HEAD 2>/dev/null || echo unknown) $(BUILD_ARGS) .

docker-run:  ## the image's default command, or ARGS="doctor"; GPUS=none where there is no GPU
	@mkdir -p "$(WORK)"
	$(DOCKER) run --rm $(if $(filter none,$(GPUS)),,--gpus $(or $(GPUS),all)) \
		--user "$$(id -u):$$(id -g)" --volume "$(WORK):/artifact" --env HF_TOKEN layerwise $(ARGS)

docker-test: ARGS = test
docker-test: docker-run  ## the tests inside the image

bench: setup-models  ## measure speed against the notebooks' way (QUICK=1 for a short run)
	@for script in extraction tracing whole growth; do python benchmarks/$$script.py $(if $(QUICK),--quick); done
	@python benchmarks/memory.py

bench-errors: setup  ## how often an answer is wrong, on data whose truth is known (QUICK=1, ARGS="RESULT... --write")
	@python benchmarks/calibration.py $(if $(QUICK),--quick) $(ARGS)

bench-gpu: setup-models  ## the same on a GPU: seconds, memory, half-precision noise (TORCH=cuda)
	@python benchmarks/gpu.py

lint: setup-dev  ## ruff, mypy, the contracts of imports, hadolint, and hints on words
	ruff check code tests benchmarks .ci docs requirements
	ruff format --check code tests benchmarks .ci docs requirements
	mypy
	lint-imports --no-cache
	hadolint Dockerfile
	@python docs/words.py

# Needs uv, and the CPU build of torch where uv looks (UV_FIND_LINKS or UV_INDEX). A layer takes the
# versions of the one below it.
COMPILE = uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-find-links --no-emit-index-url
lock:  ## resolve the *.in files again, with hashes, for Python 3.11 and newer
	@command -v uv >/dev/null || { echo "make lock needs uv on PATH" >&2; exit 2; }
	@while read -r name below; do lock=$$name.lock; \
		$(COMPILE) $$name.in $${below:+--constraints requirements/$$below.lock} -o $$lock >/dev/null; \
		{ echo "# Made by \`make lock\` from $$(basename $$name).in; do not edit."; cat $$lock; } >$$lock.part; \
		mv $$lock.part $$lock; \
	done < <(printf '%s\n' requirements/read "requirements/pipeline read" "requirements/dev pipeline" \
		"requirements/docs dev" "requirements/cpu dev" "requirements/cuda dev" "requirements/cuda12 dev" \
		.ci/audit)

clean:  ## remove what `make reproduce` and the tools made; .venv, data and what was measured stay
	rm -rf results/published/[!vt]* figures/pdf/published report/published paper/generated paper/published.pdf
	rm -rf dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find code tests benchmarks .ci docs -name __pycache__ -prune -exec rm -rf {} +
