#!/usr/bin/env bash
# Runs the checks of kwok: `run.sh KUBECTL FOLDER`. It plays the kubelets of all nodes by the stages that it comes with; there is no scheduler, so that
# pods name their nodes.
set -u
kubectl=$1 folder=$2
source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$source/../shell.sh"

"$folder/kwok" --config="$folder/stages.yaml" --kubeconfig="$KUBECONFIG" --manage-all-nodes=true --server-address= >"$folder/kwok.log" 2>&1 &
kwok=$!
trap 'kill "$kwok"; wait "$kwok" 2>/dev/null; rm -rf "$work"' EXIT

# waits OBJECT... CONDITION: until all have it.
waits() { k wait --timeout=15s --for="${*: -1}" "${@:1:$#-1}"; }
# pod NAME NODE FIELD...: a pod on a node.
pod() { local IFS=,; echo "{apiVersion: v1, kind: Pod, metadata: {name: $1}, spec: {nodeName: $2, containers: [{name: c, image: i}], ${*:3}}}"; }
# node NAME: a node.
node() { echo "{apiVersion: v1, kind: Node, metadata: {name: $1}}"; }
# create FUNCTION ARGUMENT...: creates what one of the functions above prints.
create() { "$@" | k create -f -; }

version=$(sed -n 's/^require sigs.k8s.io\/kwok //p; s/^\tsigs.k8s.io\/kwok \(v[^ ]*\).*/\1/p' "$source/go.mod")
echo "client kwok $version"
run_file "$source/checks.sh"
