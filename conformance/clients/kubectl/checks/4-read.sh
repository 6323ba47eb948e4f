# Reading: forms, watches, discovery, documentation.

two() { k create configmap a --from-literal=k=1; k create configmap b --from-literal=k=2; }

check:get-yaml-and-json() {
    two
    has "$(k get cm a -o yaml)" 'kind: ConfigMap'
    is "$(k get cm a b -o json | python3 -c 'import json,sys; print(*[i["data"]["k"] for i in json.load(sys.stdin)["items"]])')" '1 2'
    is "$(k get cm a -o yaml | count managedFields)" 0
}
check:get-table() {
    two
    is "$(k get cm a --no-headers | awk '{print $1, $2}')" 'a 1'
    is "$(k get cm a | sed -n 1p | tr -s ' ')" 'NAME DATA AGE'
    k create deployment d --image=nginx
    is "$(k get deployment d -o wide | sed -n 1p | tr -s ' ')" 'NAME READY UP-TO-DATE AVAILABLE AGE CONTAINERS IMAGES SELECTOR'
    is "$(k get deployment d --no-headers -L app | awk '{print $1, $2, $NF}')" 'd 0/1 d'
    has "$(k get deployment d --show-labels)" app=d
}
check:get-all-namespaces() { two; is "$(k get cm -A --no-headers | awk -v ns="$ns" '$1 == ns {print $2}' | count '^[ab]$')" 2; }
check:get-jsonpath() { two; is "$(k get cm a b -o 'jsonpath={range .items[*]}{.metadata.name}={.data.k};{end}')" 'a=1;b=2;'; }
check:get-custom-columns() { two; is "$(k get cm a b -o custom-columns=N:.metadata.name,K:.data.k --no-headers | tr -s ' \n' ' ')" 'a 1 b 2 '; }
check:get-go-template() { two; is "$(k get cm a -o go-template='{{.data.k}}')" 1; }
check:get-name-and-sort() { two; is "$(k get cm a b --sort-by=.data.k -o name | tr '\n' ' ')" 'configmap/a configmap/b '; }
check:get-several-kinds() { two; k create secret generic s; is "$(k get cm/a secret/s -o name | wc -l)" 2; }
check:get-field-selector() { two; is "$(k get cm --field-selector=metadata.name=b -o name)" configmap/b; }
check:get-chunks() { two; is "$(k get cm a b --chunk-size=1 -o name | wc -l)" 2; has "$(k get cm --chunk-size=1 --no-headers)" b; }
check:get-subresource() { k create deployment d --image=nginx; has "$(k get deployment d --subresource=scale -o yaml)" 'kind: Scale'; }
check:get-raw() { has "$(k get --raw "/api/v1/namespaces/$ns/configmaps")" ConfigMapList; is "$(k get --raw /readyz)" ok; }
check:get-all() { k create deployment d --image=nginx; has "$(k get all)" deployment.apps/d; }
# seen LINE: the watch has printed it.
seen() { timeout 20 sh -c 'until grep -q "$1" seen; do sleep 0.1; done' sh "$1"; }
check:get-watch() {
    two
    "$kubectl" -n "$ns" get cm --watch -o name > seen 3>&- & local watch=$!
    seen configmap/b
    k create configmap c; k delete cm c
    seen configmap/c
    kill "$watch"
}
check:wait() {
    k create deployment d --image=nginx
    refused 'timed out' k wait --for=condition=Available --timeout=1s deployment/d
    k patch deployment d --subresource=status -p '{"status":{"conditions":[{"type":"Available","status":"True"}]}}'
    has "$(k wait --for=condition=Available --timeout=20s deployment/d)" 'condition met'
    has "$(k wait --for=jsonpath='{.spec.replicas}'=1 --timeout=20s deployment/d)" 'condition met'
    has "$(k wait --for=create --timeout=20s deployment/d)" 'condition met'
}
check:describe() {
    k create deployment d --image=nginx
    has "$(k describe deployment d)" 'RollingUpdateStrategy'
    k run p --image=nginx
    has "$(k describe pod p)" 'Image:'
    k create serviceaccount a
    has "$(k describe sa a)" 'Image pull secrets:'
    has "$(k describe ns "$ns")" Active
    has "$(k describe clusterrole view)" configmaps
}
check:events() {
    k run p --image=nginx
    k create -f - <<YAML
apiVersion: v1
kind: Event
metadata: {name: e}
involvedObject: {kind: Pod, name: p, namespace: $ns, apiVersion: v1, uid: "$(field pod/p .metadata.uid)"}
reason: Slept
message: it slept
type: Normal
lastTimestamp: "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
YAML
    has "$(k events --for=pod/p)" 'it slept'
    has "$(k get events)" Slept
    has "$(k describe pod p)" 'it slept'
}
check:explain() {
    has "$(k explain deployment.spec.strategy)" 'rollingUpdate'
    has "$(k explain pod.spec --recursive)" containers
    has "$(k explain cm --api-version=v1)" binaryData
}
check:api-resources() {
    has "$(k api-resources --api-group=apps)" deployments
    has "$(k api-resources --namespaced=false -o name)" nodes
    has "$(k api-resources --verbs=watch,list -o wide)" 'serviceaccounts'
    has "$(k api-versions)" rbac.authorization.k8s.io/v1
}
check:version() { has "$(k version)" 'Server Version: v1.37.1'; has "$(k version -o json)" '"platform": "linux/'; }
check:match-server-version() {
    case $("$kubectl" version --client) in
    *v1.37.1*) has "$(k --match-server-version get ns "$ns")" Active ;;
    *) refused 'differs from client version' k --match-server-version get ns "$ns" ;;
    esac
}
check:cluster-info() { has "$(k cluster-info)" 'control plane'; }
check:categories-and-short-names() { two; is "$(k get cm/a configmaps/b configmap.v1./a -o name | wc -l)" 3; }
check:unknown-kind() { refused "the server doesn't have a resource type \"lamps\"" k get lamps; }
check:forbidden() { refused 'User "jane" cannot list resource "pods"' k get pods --as=jane; }
check:logs-without-node() { k run p --image=nginx; is "$(k logs p 2>&1)" ''; }
