# Manifests, and apply in both ways.

# versions FILE: the revisions of its objects.
versions() { k get -f "$1" -o 'jsonpath={.metadata.resourceVersion}{.items[*].metadata.resourceVersion}'; }
# manifest FILE: applied, found unchanged, without difference, taken over by the server's apply, and deleted.
manifest() {
    has "$(k apply -f "$1")" created
    local before
    before=$(versions "$1")
    k apply -f "$1"
    is "$(versions "$1")" "$before"
    k diff -f "$1"
    has "$(k apply --server-side --force-conflicts -f "$1")" serverside-applied
    k get -f "$1" -o yaml >/dev/null
    has "$(k describe -f "$1")" Name
    # What would wait for a controller.
    k patch -f "$1" --type=merge -p '{"metadata":{"finalizers":null}}'
    has "$(k delete -f "$1")" deleted
    refused NotFound k get -f "$1"
} 2>&1

config() {
    cat <<YAML
apiVersion: v1
kind: ConfigMap
metadata:
  name: config
data:
  one: "1"
$(printf '  %s\n' "$@")
YAML
}

check:apply-changes-what-the-file-changes() {
    config 'two: "2"' | k apply -f -
    has "$(config 'three: "3"' | k apply -f -)" configured
    is "$(field cm/config .data)" '{"one":"1","three":"3"}'
    has "$(k apply view-last-applied cm/config)" three
}
check:apply-keeps-what-others-set() {
    config | k apply -f -
    k patch cm config --type=merge -p '{"data":{"other":"x"}}'
    config 'two: "2"' | k apply -f -
    is "$(field cm/config .data)" '{"one":"1","other":"x","two":"2"}'
}
check:apply-set-last-applied() {
    k create configmap config --from-literal=one=1
    config > config.yaml
    has "$(k apply set-last-applied --create-annotation -f config.yaml)" configured
    has "$(k apply view-last-applied cm/config)" 'one: "1"'
    k apply -f config.yaml
}
check:apply-prune() {
    config | k apply -f -
    k create configmap old --dry-run=client -o yaml | k label --local -f - app=a -o yaml | k apply -f -
    k create configmap new --dry-run=client -o yaml | k label --local -f - app=a -o yaml > new.yaml
    has "$(k apply --prune -l app=a --prune-allowlist=core/v1/ConfigMap -f new.yaml)" 'configmap/old pruned'
    is "$(k get cm config new -o name | wc -l)" 2
}
check:diff-shows-a-change() {
    config | k apply -f -
    local text code=0
    text=$(config 'two: "2"' | k diff -f -) || code=$?
    is "$code" 1
    has "$text" '+  two: "2"'
    text=$(config 'two: "2"' | k diff --server-side --field-manager=kubectl-client-side-apply -f -) || code=$?
    has "$text" '+  two: "2"'
}
check:server-side-conflict() {
    config | k apply --server-side -f -
    config | sed 's/"1"/"9"/' | refused 'conflict with "kubectl"' k apply --server-side --field-manager=me -f -
    config | sed 's/"1"/"9"/' | k apply --server-side --field-manager=me --force-conflicts -f -
    is "$(field cm/config .data.one)" 9
    is "$(k get cm config --show-managed-fields -o 'jsonpath={.metadata.managedFields[*].manager}')" 'me'
}
check:server-side-removes-what-it-owned() {
    config 'two: "2"' | k apply --server-side -f -
    config | k apply --server-side -f -
    is "$(field cm/config .data)" '{"one":"1"}'
}
check:server-side-takes-over-client-side() {
    config 'two: "2"' | k apply -f -
    config | k apply --server-side -f -
    is "$(field cm/config .data)" '{"one":"1"}'
    has "$(k get cm config --show-managed-fields -o yaml)" 'manager: kubectl'
}
check:apply-dry-run() {
    has "$(config | k apply --dry-run=server -f -)" 'created (server dry run)'
    refused NotFound k get cm config
    has "$(config | k apply --dry-run=client -f -)" 'created (dry run)'
}
check:apply-validates() {
    config | sed 's/^data:/dta:/' | refused 'unknown field "dta"' k apply -f -
    has "$(config | sed 's/^data:/dta:/' | k apply --validate=warn -f - 2>&1)" 'unknown field "dta"'
}
check:apply-subresource-status() {
    k apply -f "$source/manifests/deployment.yaml"
    k get deployment web -o json > web.json
    cat > status.yaml <<YAML
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, status: {replicas: 2, readyReplicas: 2}}
YAML
    has "$(k apply --server-side --subresource=status -f status.yaml)" serverside-applied
    is "$(field deployment/web .status.readyReplicas)" 2
}
check:kustomize() {
    is "$(k kustomize "$source/overlay" | count '^kind:')" 2
    has "$(k apply -k "$source/overlay")" 'deployment.apps/blue-web created'
    is "$(field deployment/blue-web .spec.replicas)" 3
    is "$(field deployment/blue-web .metadata.labels.colour)" blue
    has "$(k delete -k "$source/overlay")" deleted
}
check:apply-a-folder-of-kinds() {
    mkdir -p folder
    cp "$source"/manifests/{configmap,secret,serviceaccount,deployment}.yaml folder
    is "$(k apply -f folder | wc -l)" 4
    is "$(k apply -R -f folder | wc -l)" 4
    is "$(k delete -f folder | wc -l)" 4
}
check:custom-resource-after-its-definition() {
    cat "$source/manifests/crd.yaml" > both.yaml
    k apply -f both.yaml
    k wait --for=condition=Established --timeout=20s crd/lamps.example.com
    printf '%s\n' 'apiVersion: example.com/v1' 'kind: Lamp' 'metadata:' '  name: hall' 'spec:' '  watts: 40' > lamp.yaml
    has "$(k apply -f lamp.yaml)" created
    has "$(k apply -f lamp.yaml)" unchanged
    is "$(k get lamps --no-headers | awk '{print $1, $2}')" 'hall 40'
    has "$(k explain lamp.spec.watts)" 'Power'
    k scale lamp hall --replicas=3
    is "$(field lamp/hall .spec.bulbs)" 3
    sed 's/40/-1/' lamp.yaml | refused 'should be greater than or equal to 0' k apply -f -
    k patch lamp hall --subresource=status --type=merge -p '{"status":{"on":true}}'
    k wait --for=jsonpath='{.status.on}'=true --timeout=20s lamp/hall
    k delete lamp hall
    k delete -f both.yaml
    refused 'Error from server (NotFound)' k get lamps
}
