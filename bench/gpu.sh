#!/usr/bin/env bash
# The part of the bench that needs no browser, for a machine with a GPU and its Vulkan driver: one call, as it is.
# Usage: bench/gpu.sh [FOLDER]     (results go to bench/results unless a folder is named; a few minutes)
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-bench/results}
command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || true
# Cheapest first, each written as soon as it is there: a time limit costs only what was not reached.
exec timeout --signal=INT "${LIMIT:-600}" npm run --silent bench -- --where node --results "$out" --json "$out/figures-node.json"
