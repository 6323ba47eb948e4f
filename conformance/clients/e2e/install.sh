#!/usr/bin/env bash
# Builds Kubernetes' end-to-end tests into a folder: `install.sh FOLDER VERSION`.
#
# The versions are the real control plane's. Its list of checksums lacks those of modules that only tests import, so that Go adds them, checked by
# Go's database of checksums, to a copy.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$1 version=$2
cd "$folder"
cp "$source"/../../control-plane/go.{mod,sum} "$source/main.go" .
go build -trimpath -o checks main.go
stamp=k8s.io/component-base/version.gitVersion=$version
go test -c -mod=mod -vet=off -trimpath -ldflags "-s -w -X $stamp" -o e2e.test k8s.io/kubernetes/test/e2e
