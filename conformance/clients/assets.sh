# assets LAYOUT FOLDER: makes a folder of the server's programs for ports of envtest, in a layout as `fake-apiserver assets` names it. `$ETCD`
# is set where the server is a real one; `$1` of the suite is a kubectl.
assets() {
    local folder=$2
    if [ -z "${ETCD-}" ]; then
        PATH=$(dirname "$kubectl"):$PATH "$KUBE_APISERVER" assets --layout "$1" --dir "$folder" >/dev/null
        return
    fi
    [ "$1" = kubeapitest ] && folder=$folder/k8s/1.37.1-linux-amd64
    mkdir -p "$folder"
    ln -s "$KUBE_APISERVER" "$folder/kube-apiserver"
    ln -s "$ETCD" "$folder/etcd"
    ln -s "$kubectl" "$folder/kubectl"
}
