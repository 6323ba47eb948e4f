#!/usr/bin/env bash
# Builds Kubernetes' tests into a folder: `install.sh FOLDER`.
#
# The versions are the real control plane's. Go replaces single files of a module only where the module is a folder of its own, so it gets a link to
# where Go has downloaded it.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$1
module=k8s.io/kubernetes
cd "$folder"
cp "$source"/../../control-plane/go.{mod,sum} "$source/main.go" .
ln -sfn "$(go mod download -json $module | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')" kubernetes
go mod edit -replace=$module=./kubernetes
cat > overlay.json <<END
{"Replace": {
    "$folder/kubernetes/cmd/kube-apiserver/app/testing/testserver.go": "$source/testing/testserver.go",
    "$folder/kubernetes/test/integration/framework/etcd.go": "$source/framework/etcd.go"
}}
END
go build -trimpath -o checks main.go
go build -trimpath -o test2json cmd/test2json
for package in apiserver/apply dryrun; do
    go test -c -vet=off -trimpath -overlay=overlay.json -o "$(basename "$package").test" "$module/test/integration/$package"
done
