#!/usr/bin/env bash
# Runs Kubernetes' tests of kubectl: `run.sh FOLDER PROGRAMS`. Each of their functions is a check.
#
# They get a server, started with the flags that upstream starts it with, and a real kube-controller-manager on it. In place
# of upstream's functions that build and start programs and write a report there are those below.
set -euo pipefail
folder=$1 programs=$2
. "$(dirname "${BASH_SOURCE[0]}")/../ports.sh"
etcd=${ETCD:-} apiserver=$KUBE_APISERVER
logs=$folder/logs
unset KUBECONFIG ETCD

cd "$folder/kubernetes"
mkdir -p "$logs"
rm -rf "$logs"/*
state=$(mktemp -d)
SECURE_API_PORT=$(port) SECURE_CTLRMGR_PORT=$(port) ETCD_PORT=$(port)
export SECURE_API_PORT SECURE_CTLRMGR_PORT ETCD_PORT TMPDIR=$state SUPPORTED_RESOURCES='*'
exec 3>&1 1>"$logs/all.log" 2>&1
. hack/lib/init.sh
. hack/lib/test.sh
. test/cmd/legacy-script.sh

stop() {
    stop-proxy || true
    local running
    running=$(jobs -p)
    [ -z "$running" ] || kill -9 $running 2>/dev/null || true
    rm -rf "$state"
}
trap stop EXIT

# record_command FUNCTION: the check of that name.
record_command() {
    local log=$logs/$1.log name=${1#run_}
    name=${name%_tests}
    set +o errexit
    ( set -o errexit -o nounset -o pipefail; "$@" ) >"$log" 2>&1
    local status=$?
    set -o errexit
    if [ $status = 0 ]; then
        echo "ok $name" >&3
    else
        echo "FAIL $name: $(tail -n 8 "$log" | tr '\n' ' ' | cut -c1-600)" >&3
    fi
}

# start NAME COMMAND...: starts a program in the background.
start() {
    local name=$1
    shift
    "$@" >"$logs/$name.log" 2>&1 3>&- &
}

serve() {
    local flags=(
        --bind-address=127.0.0.1
        --secure-port="$SECURE_API_PORT"
        --authorization-mode=RBAC,AlwaysAllow
        --disable-admission-plugins=ServiceAccount,DefaultStorageClass,DefaultTolerationSeconds,MutatingAdmissionWebhook,ValidatingAdmissionWebhook,StorageObjectInUseProtection
        --service-account-key-file="$state/accounts.key"
        --service-account-signing-key-file="$state/accounts.key"
        --service-account-lookup=true
        --service-account-issuer=https://kubernetes.default.svc
        --cert-dir="$state"
        --service-cluster-ip-range=10.0.0.0/24
        --client-ca-file=hack/testdata/ca/ca.crt
        --token-auth-file=hack/testdata/auth-tokens.csv
        --runtime-config=api/v1
    )
    openssl genrsa -out "$state/accounts.key" 2048
    if [ -n "$etcd" ]; then
        local url=http://127.0.0.1:$ETCD_PORT
        start etcd "$etcd" --data-dir "$state/etcd" --listen-client-urls "$url" --advertise-client-urls "$url" \
            --listen-peer-urls "http://127.0.0.1:$(port)"
        flags+=(--etcd-servers="$url")
    fi
    start apiserver "$apiserver" "${flags[@]}"
    kube::util::wait_for_url_with_bearer_token "https://127.0.0.1:$SECURE_API_PORT/readyz" admin-token apiserver
}

manage() {
    local controllers=$state/controllers.kubeconfig
    kubectl config --kubeconfig "$controllers" set-credentials me --token admin-token
    kubectl config --kubeconfig "$controllers" set-cluster it --insecure-skip-tls-verify --server "https://127.0.0.1:$SECURE_API_PORT"
    kubectl config --kubeconfig "$controllers" set-context both --user me --cluster it
    kubectl config --kubeconfig "$controllers" use-context both
    start controllers "$programs/kube-controller-manager" --kubeconfig="$controllers" --secure-port="$SECURE_CTLRMGR_PORT" \
        --cluster-signing-cert-file=hack/testdata/ca/ca.crt --cluster-signing-key-file=hack/testdata/ca/ca.key
    kube::util::wait_for_url "https://127.0.0.1:$SECURE_CTLRMGR_PORT/healthz" controllers
}

echo "client kubectl $(kubectl version --client | sed -n 's/Client Version: //p')" >&3
kube::util::ensure-temp-dir
kube::util::ensure-gnu-sed
export HOME=$KUBE_TEMP CONTEXT=test
serve
kubectl config set-credentials test-admin --token admin-token
kubectl config set-cluster local --insecure-skip-tls-verify --server "https://127.0.0.1:$SECURE_API_PORT"
kubectl config set-context test --user test-admin --cluster local
kubectl config use-context test
manage
kubectl create -f - <<END
{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "127.0.0.1", "annotations": {"save-managers": "true"}}, "status": {"capacity": {"memory": "1Gi"}}}
END
runTests
