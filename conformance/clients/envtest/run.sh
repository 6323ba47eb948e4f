#!/usr/bin/env bash
# Runs the checks: `run.sh KUBECTL FOLDER PROGRAMS`. A real kube-apiserver gets a real kube-controller-manager; this one lives by a flag.
set -eu
kubectl=$1
source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$source/../assets.sh"
assets envtest "$HOME/assets"
export KUBEBUILDER_ASSETS=$HOME/assets
if [ -n "${ETCD-}" ]; then
    export MANAGER=$3/kube-controller-manager
else
    export FAKE_APISERVER_FLAGS=--like-a-cluster
fi
"$2/checks"
