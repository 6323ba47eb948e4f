# Changes of what exists.

deployment() { k apply -f "$source/manifests/deployment.yaml"; }
container() { field deployment/web ".spec.template.spec.containers[0]$1"; }

check:edit() {
    k create configmap c --from-literal=a=before
    editor s/before/after/
    has "$(k edit cm c)" edited
    is "$(field cm/c .data.a)" after
    has "$(KUBE_EDITOR=true k edit cm c 2>&1)" 'no changes'
}
check:edit-subresource() {
    deployment
    k patch deployment web --subresource=status --type=merge -p '{"status":{"replicas":1}}'
    editor 's/replicas: 1/replicas: 7/'
    k edit deployment web --subresource=status
    is "$(field deployment/web .status.replicas)" 7
}
check:set-image() {
    deployment
    has "$(k set image deployment/web web=nginx:2)" 'image updated'
    is "$(container .image)" nginx:2
}
check:set-env() {
    deployment
    k create configmap c --from-literal=KEY=v
    k set env deployment/web A=b
    k set env deployment/web --from=configmap/c
    is "$(container '.env[*].name')" 'A KEY'
    k set env deployment/web A-
    is "$(container '.env[*].name')" KEY
    has "$(k set env deployment/web --list)" 'KEY from configmap c'
}
check:set-resources-and-serviceaccount() {
    deployment
    k set resources deployment web --limits=cpu=500m,memory=512Mi
    is "$(container .resources.limits.memory)" 512Mi
    k set serviceaccount deployment web robot
    is "$(field deployment/web .spec.template.spec.serviceAccountName)" robot
}
check:set-subject() {
    k create rolebinding b --clusterrole=view --user=a
    k set subject rolebinding b --user=c
    is "$(field rolebinding/b '.subjects[*].name')" 'a c'
}
check:scale() {
    deployment
    has "$(k scale deployment web --replicas=5 --current-replicas=2)" scaled
    is "$(field deployment/web .spec.replicas)" 5
    refused 'Expected replicas to be 2, was 5' k scale deployment web --replicas=1 --current-replicas=2
    k apply -f "$source/manifests/replicaset.yaml"
    k scale rs/front --replicas=4
    is "$(field rs/front .spec.replicas)" 4
}
check:label() {
    k create configmap c
    has "$(k label cm c a=b)" labeled
    refused 'already has a value' k label cm c a=c
    k label cm c a=c --overwrite
    is "$(k get cm -l a=c -o name)" configmap/c
    k label cm c a-
    is "$(k get cm -l a -o name)" ''
}
check:annotate() {
    k create configmap c
    k annotate cm c note='some text'
    is "$(field cm/c .metadata.annotations.note)" 'some text'
    k annotate cm --all note-
    is "$(field cm/c .metadata.annotations.note)" ''
}
check:patch-strategic() {
    deployment
    k patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"s"}]}}}}'
    is "$(field deployment/web '.spec.template.spec.containers[*].name')" 'side web'
    k patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"side","$patch":"delete"}]}}}}'
    is "$(field deployment/web '.spec.template.spec.containers[*].name')" web
    has "$(k patch deployment web -p '{"spec":{"paused":false}}')" 'no change'
}
check:patch-merge() {
    deployment
    k patch deployment web --type=merge -p '{"metadata":{"labels":{"a":"b"}},"spec":{"replicas":null}}'
    is "$(field deployment/web .spec.replicas)" 1
}
check:patch-json() {
    k create configmap c --from-literal=a=1
    k patch cm c --type=json -p '[{"op":"test","path":"/data/a","value":"1"},{"op":"add","path":"/data/b","value":"2"}]'
    is "$(field cm/c .data)" '{"a":"1","b":"2"}'
    refused 'The request is invalid' k patch cm c --type=json -p '[{"op":"test","path":"/data/a","value":"9"}]'
}
check:replace() {
    k create configmap c --from-literal=a=1
    k get cm c -o yaml | sed 's/a: "1"/a: "2"/' > c.yaml
    has "$(k replace -f c.yaml)" replaced
    is "$(field cm/c .data.a)" 2
    refused Conflict k replace -f c.yaml
}
check:replace-force() {
    k create configmap c --from-literal=a=1
    local uid
    uid=$(field cm/c .metadata.uid)
    k create configmap c --from-literal=a=2 --dry-run=client -o yaml | k replace --force -f -
    [ "$uid" != "$(field cm/c .metadata.uid)" ]
    is "$(field cm/c .data.a)" 2
}
check:delete-waits() {
    k create configmap c
    k patch cm c --type=merge -p '{"metadata":{"finalizers":["example.com/hold"]}}'
    refused 'timed out' k delete cm c --timeout=1s
    k patch cm c --type=merge -p '{"metadata":{"finalizers":null}}'
    k wait --for=delete cm/c --timeout=20s
}
check:delete-many() {
    k create configmap a; k create configmap b; k label cm a b x=y
    is "$(k delete cm -l x=y | wc -l)" 2
    is "$(k delete cm none --ignore-not-found)" ''
    k create secret generic s
    k delete secret --all
    is "$(k get secret -o name)" ''
}
check:rollout() {
    deployment
    has "$(k rollout restart deployment/web)" restarted
    has "$(field deployment/web .spec.template.metadata.annotations)" restartedAt
    has "$(k rollout pause deployment/web)" paused
    is "$(field deployment/web .spec.paused)" true
    has "$(k rollout resume deployment/web)" resumed
    has "$(k rollout status deployment/web --watch=false)" 'Waiting for deployment spec update'
    local generation
    generation=$(field deployment/web .metadata.generation)
    is "$generation" 4
    k patch deployment web --subresource=status --type=merge -p \
        "{\"status\":{\"observedGeneration\":$generation,\"replicas\":2,\"updatedReplicas\":2,\"readyReplicas\":2,\"availableReplicas\":2}}"
    has "$(k rollout status deployment/web --timeout=20s)" 'successfully rolled out'
}
# replicas NUMBER IMAGE: a replica set that the deployment's controller would make.
revision() {
    k get deployment web -o json | python3 -c '
import json, sys
web = json.load(sys.stdin)
number, image = sys.argv[1:]
template = web["spec"]["template"]
template["metadata"]["labels"]["pod-template-hash"] = number
template["spec"]["containers"][0]["image"] = image
owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": web["metadata"]["uid"], "controller": True}
print(json.dumps({
    "apiVersion": "apps/v1", "kind": "ReplicaSet",
    "metadata": {"name": "web-" + number, "labels": template["metadata"]["labels"], "ownerReferences": [owner],
                 "annotations": {"deployment.kubernetes.io/revision": number}},
    "spec": {"replicas": 0, "selector": {"matchLabels": template["metadata"]["labels"]}, "template": template}}))' "$@" | k create -f -
}
check:rollout-history-and-undo() {
    deployment
    revision 1 nginx:old
    revision 2 nginx:new
    is "$(k rollout history deployment/web | count '^[12] ')" 2
    has "$(k rollout history deployment/web --revision=1)" nginx:old
    has "$(k rollout undo deployment/web --to-revision=1)" 'rolled back'
    is "$(container .image)" nginx:old
}
check:taint-and-cordon() {
    printf '%s\n' 'apiVersion: v1' 'kind: Node' 'metadata:' "  name: $ns" | k create -f -
    has "$(k taint node "$ns" a=b:NoSchedule)" tainted
    is "$(field "node/$ns" '.spec.taints[?(@.key=="a")].effect')" NoSchedule
    k taint node "$ns" a-
    has "$(k cordon "$ns")" cordoned
    is "$(field "node/$ns" .spec.unschedulable)" true
    has "$(k uncordon "$ns")" uncordoned
    has "$(k drain "$ns" --ignore-daemonsets)" drained
    k delete node "$ns"
}
check:evict-by-drain() {
    printf '%s\n' 'apiVersion: v1' 'kind: Node' 'metadata:' "  name: $ns" | k create -f -
    k run p --image=nginx --overrides="{\"spec\":{\"nodeName\":\"$ns\",\"terminationGracePeriodSeconds\":0}}"
    has "$(k drain "$ns" --force --timeout=10s)" drained
    refused NotFound k get pod p
    k delete node "$ns"
}
