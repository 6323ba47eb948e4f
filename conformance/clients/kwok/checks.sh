# The checks: what becomes of nodes and pods that kwok looks after.

check:nodes-are-ready() {
    create node one
    create node two
    waits node/one node/two condition=Ready
    is "$(field node/one '.status.conditions[?(@.type=="Ready")].reason')" KubeletReady
    is "$(field node/two .status.allocatable.pods)" 1M
}

check:pods-run() {
    create node busy
    waits node/busy condition=Ready
    for number in 0 1 2 3 4 5 6 7 8 9; do create pod "p-$number" busy; done
    waits pod --all condition=Ready
    is "$(k get pods -o 'jsonpath={.items[*].status.phase}' | tr ' ' '\n' | sort -u)" Running
    is "$(k get pods -o 'jsonpath={.items[*].status.podIP}' | wc -w)" 10
    is "$(field pod/p-0 '.status.containerStatuses[0].ready')" true
}

check:pods-go() {
    create node left
    create pod leaves left
    waits pod/leaves condition=Ready
    k delete pod leaves --timeout=15s
    refused "NotFound" k get pod leaves
}

check:pods-of-jobs-succeed() {
    create node worked
    pod done worked 'restartPolicy: Never' |
        sed 's/{name: done}/{name: done, ownerReferences: [{apiVersion: batch\/v1, kind: Job, name: j, uid: u, controller: true}]}/' |
        k create -f -
    waits pod/done jsonpath='{.status.phase}'=Succeeded
}

check:a-pod-without-a-node-waits() {
    k create -f - <<<"{apiVersion: v1, kind: Pod, metadata: {name: waits}, spec: {containers: [{name: c, image: i}]}}"
    is "$(field pod/waits .status.phase)" Pending
    is "$(field pod/waits .status.podIP)" ""
}
