#!/usr/bin/env bash
# Builds kwok into a folder, and puts the stages that come with it into a file beside it: `install.sh FOLDER`.
set -euo pipefail
folder=$1
go build -trimpath -o "$folder/kwok" sigs.k8s.io/kwok/cmd/kwok
stages=$(go list -m -f '{{.Dir}}' sigs.k8s.io/kwok)/kustomize/stage
for file in "$stages"/pod/fast/pod-*.yaml "$stages"/node/fast/node-*.yaml "$stages"/node/heartbeat/node-*.yaml; do
    cat "$file"
    printf '\n---\n'
done >"$folder/stages.yaml"
