#!/usr/bin/env bash
# Runs those of Kubernetes' end-to-end tests that need no kubelet: `run.sh FOLDER PROGRAMS VERSION`.
#
# They get a server with the usual flags of a cluster, a real kube-controller-manager on it, and a node that is ready: an object. The manager does not
# look after nodes, as it would find that nothing runs there.
set -euo pipefail
folder=$1 programs=$2 version=$3
source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$source/../ports.sh"
logs=$folder/logs state=$(mktemp -d) signer=$source/../../../fixtures/keys/signer
mkdir -p "$logs"

stop() {
    local running
    running=$(jobs -p)
    { [ -z "$running" ] || kill -9 $running; wait; } 2>/dev/null || true
    rm -rf "$state"
}
trap stop EXIT

# start NAME COMMAND...: starts a program in the background.
start() { "${@:2}" >"$logs/$1.log" 2>&1 & }
k() { "$programs/kubectl" --kubeconfig="$state/kubeconfig" "$@"; }

# serve: a server, and a kubeconfig for it.
serve() {
    local secure url accounts=$state/accounts.key
    secure=$(port)
    openssl genrsa -traditional -out "$accounts" 2048 2>/dev/null
    echo 'admin-token,admin,admin,system:masters' >"$state/users.csv"
    local flags=(
        --bind-address=127.0.0.1
        --secure-port="$secure"
        --cert-dir="$state"
        --authorization-mode=Node,RBAC
        --token-auth-file="$state/users.csv"
        --client-ca-file="$signer.crt"
        --service-account-issuer=https://kubernetes.default.svc
        --service-account-key-file="$accounts"
        --service-account-signing-key-file="$accounts"
        --service-cluster-ip-range=10.0.0.0/16
        --enable-aggregator-routing
    )
    if [ -n "${ETCD:-}" ]; then
        url=http://127.0.0.1:$(port)
        start etcd "$ETCD" --data-dir="$state/etcd" --unsafe-no-fsync --listen-client-urls="$url" --advertise-client-urls="$url" \
            --listen-peer-urls=http://127.0.0.1:0
        flags+=(--etcd-servers="$url")
    fi
    start apiserver "$KUBE_APISERVER" "${flags[@]}"
    k config set-cluster it --insecure-skip-tls-verify --server="https://127.0.0.1:$secure"
    k config set-credentials admin --token=admin-token
    k config set-context it --cluster=it --user=admin
    k config use-context it
    timeout 60 bash -c "until '$programs/kubectl' --kubeconfig='$state/kubeconfig' get --raw /readyz; do sleep 0.2; done"
}

manage() {
    start controllers "$programs/kube-controller-manager" --kubeconfig="$state/kubeconfig" --secure-port=0 --leader-elect=false \
        --controllers='*,-node-lifecycle-controller' --use-service-account-credentials --kube-api-qps=1000 --kube-api-burst=1000 \
        --service-account-private-key-file="$state/accounts.key" --root-ca-file="$state/apiserver.crt" \
        --cluster-signing-cert-file="$signer.crt" --cluster-signing-key-file="$signer.key"
}

ready_node() {
    k create -f - <<<'{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1", "labels": {"kubernetes.io/hostname": "node-1"}}}'
    k patch node node-1 --type=merge --patch='{"spec": {"taints": null}}'
    k patch node node-1 --type=merge --subresource=status --patch='{"status": {
        "conditions": [{"type": "Ready", "status": "True"}], "addresses": [{"type": "InternalIP", "address": "10.1.0.1"}],
        "capacity": {"cpu": "8", "memory": "32Gi", "pods": "110"}, "allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"}}}'
}

export HOME=$state
{ serve; manage; ready_node; } >"$logs/setup.log" 2>&1
"$folder/checks" "$version" "$source/specs.txt" "$folder/e2e.test" --kubeconfig="$state/kubeconfig" --kubectl-path="$programs/kubectl" \
    --provider=skeleton --disable-log-dump --dump-logs-on-failure=false --num-nodes=1 2>"$logs/e2e.log"
