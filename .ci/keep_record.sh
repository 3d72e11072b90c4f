#!/usr/bin/env bash
# Keep dvc.lock and the verdicts as they were unpacked: without git they are the record that a run is compared with
# (code/layerwise/run/doctor/recorded.py). What is kept already stays: the files beside it may be a run's by now.
set -euo pipefail
cd .dvc
[ ! -d record ] || exit 0
rm -rf record.part
mkdir record.part
cp ../dvc.lock ../results/published/verdicts.csv record.part
mv record.part record
