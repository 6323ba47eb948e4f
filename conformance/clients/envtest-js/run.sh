#!/usr/bin/env bash
# Runs the checks of envtest-js: `run.sh KUBECTL FOLDER`.
set -eu
kubectl=$1
source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$source/../assets.sh"
assets envtest "$HOME/assets"
KUBEBUILDER_ASSETS=$HOME/assets node "$source/checks.js" "$2"
