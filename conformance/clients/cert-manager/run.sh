#!/usr/bin/env bash
# Runs the checks of cert-manager: `run.sh KUBECTL FOLDER`.
#
# Helm installs its chart. What the chart deploys, no cluster runs: its programs are started here, each with the rights of its service account. The
# webhook serves on this machine, by a URL, as the chart allows; its authority it makes itself, and the injector tells the server of it.
set -u
kubectl=$1 folder=$2
source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$source/../shell.sh"
. "$source/../ports.sh"
read -r version chart < "$folder/chart"
logs=$folder/logs
home=cert-manager
webhook_port=$(port) health_port=$(port)
declare -A running
mkdir -p "$logs"
rm -f "$logs"/*
trap 'for name in "${!running[@]}"; do stop "$name"; done; rm -rf "$work"' EXIT

# kubectl in the namespace of cert-manager.
c() { ns=$home k "$@"; }
# waits OBJECT PATH [VALUE]: until a JSONPath of an object has a value.
waits() { k wait --for="jsonpath={$2}${3+=$3}" "$1" --timeout=15s; }
# eventually COMMAND...: until it succeeds. For what a server learns by itself, and does not say.
eventually() {
    local end=$((SECONDS + 15))
    until "$@"; do [ $SECONDS -lt $end ] && sleep 0.1 || return 1; done
}
# object KIND NAME FIELD...: an object of cert-manager.
object() { local IFS=,; echo "{apiVersion: cert-manager.io/v1, kind: $1, metadata: {name: $2}, spec: {${*:3}}}"; }
# certificate NAME FIELD...: a certificate, and its secret of that name.
certificate() { object Certificate "$1" "secretName: $1" 'issuerRef: {name: ca}' "${@:2}"; }
# request NAME FIELD...: a request for a certificate for example.com.
request() {
    local text
    text=$(openssl req -new -newkey rsa:2048 -noenc -keyout /dev/null -subj /CN=example.com 2>/dev/null | base64 -w0)
    object CertificateRequest "$1" 'issuerRef: {name: ca}' "request: $text" "${@:2}"
}
# create FUNCTION ARGUMENT...: creates what one of the functions above prints.
create() { "$@" | k create -f -; }

# start PROGRAM FLAG...: a program, with the flags and the rights that its deployment gives it, and these flags.
start() {
    local config=$work/$1.kubeconfig flags deployment account
    deployment=deployment/cert-manager-$1
    deployment=${deployment%-controller}
    account=$(ns=$home field "$deployment" .spec.template.spec.serviceAccountName)
    mapfile -t flags < <(c get "$deployment" -o 'jsonpath={range .spec.template.spec.containers[0].args[*]}{@}{"\n"}{end}')
    cp "$KUBECONFIG" "$config"
    KUBECONFIG=$config "$kubectl" config set-credentials "$account" --token="$(c create token "$account")"
    KUBECONFIG=$config "$kubectl" config set-context --current --user="$account"
    KUBECONFIG=$config "$folder/cert-manager" "$1" "${flags[@]//'$(POD_NAMESPACE)'/$home}" "${@:2}" >>"$logs/$1.log" 2>&1 &
    running[$1]=$!
} >>"$logs/run.log" 2>&1
# stop NAME: ends a program.
stop() {
    kill "${running[$1]}"
    wait "${running[$1]}"
    unset "running[$1]"
} >>"$logs/run.log" 2>&1
# start_webhook: until it is ready.
start_webhook() {
    start webhook --kubeconfig="$work/webhook.kubeconfig"
    eventually "$kubectl" get --raw=/healthz --server="http://localhost:$health_port"
} >>"$logs/run.log" 2>&1

echo "client cert-manager $version"
for file in "$source"/checks/*.sh; do run_file "$file"; done
