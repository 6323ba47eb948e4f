#!/usr/bin/env bash
# Runs the checks of kubectl: `run.sh KUBECTL`.
set -u
kubectl=$1
source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$source/../shell.sh"
. "$source/transcript.sh"

echo "client kubectl $("$kubectl" version --client | sed -n 's/Client Version: //p')"
# First, as they show what a new cluster has.
for file in "$source"/transcripts/*.txt; do
    name=transcript-$(basename "$file" .txt)
    eval "check:$name() { transcript '$file'; }"
    run "$name"
done
for file in "$source"/checks/*.sh; do run_file "$file"; done
for manifest in "$source"/manifests/*.yaml; do
    name=apply-$(basename "$manifest" .yaml)
    eval "check:$name() { manifest '$manifest'; }"
    run "$name"
done
