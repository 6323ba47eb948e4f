#!/usr/bin/env bash
# Runs the checks of kubectl: `run.sh KUBECTL`.
set -u
kubectl=$1
source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$source/../shell.sh"

echo "client kubectl $("$kubectl" version --client | sed -n 's/Client Version: //p')"
for file in "$source"/checks/*.sh; do run_file "$file"; done
for manifest in "$source"/manifests/*.yaml; do
    name=apply-$(basename "$manifest" .yaml)
    eval "check:$name() { manifest '$manifest'; }"
    run "$name"
done
