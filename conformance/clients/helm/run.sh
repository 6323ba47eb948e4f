#!/usr/bin/env bash
# Runs the checks of Helm: `run.sh KUBECTL HELM`.
set -u
kubectl=$1 helm=$2
source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$source/../shell.sh"

# helm in the namespace of the check.
h() { timeout 30 "$helm" --namespace="$ns" "$@"; }

version=$(sed -n 's/^require helm.sh\/helm\/v4 //p; s/^\thelm.sh\/helm\/v4 \(v[^ ]*\).*/\1/p' "$source/go.mod")
echo "client helm $version"
run_file "$source/checks.sh"
