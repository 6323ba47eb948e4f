#!/usr/bin/env bash
# Runs the checks of fabric8's port of envtest: `run.sh KUBECTL FOLDER`.
set -eu
kubectl=$1
. "$(dirname "${BASH_SOURCE[0]}")/../assets.sh"
assets kubeapitest "$HOME/assets"
version=$(basename "$2"/lib/kube-api-test-*.jar .jar)
KUBE_API_TEST_DIR=$HOME/assets java -cp "$2/classes:$2/lib/*" Checks "${version##*-}"
