# Charts: installed, upgraded, rolled back, uninstalled.

install() { h install site "$source/chart" "$@"; }

check:install() {
    has "$(install)" 'STATUS: deployed'
    is "$(field cm/site .data)" '{"deployments":"true","page":"hello"}'
    is "$(field deployment/site '.metadata.labels.app\.kubernetes\.io/managed-by')" Helm
    is "$(k get secret -l owner=helm,status=deployed -o name)" secret/sh.helm.release.v1.site.v1
    is "$(k get crd lamps.example.com -o 'jsonpath={.spec.names.kind}')" Lamp
}
check:install-twice() {
    install
    refused 'cannot reuse a name that is still in use' install
}
check:install-over-what-exists() {
    k create configmap site
    refused 'invalid ownership metadata' install
}
check:install-client-side() {
    install --server-side=false
    h upgrade site "$source/chart" --server-side=false --set page=bye,replicas=2
    is "$(field cm/site .data.page)$(field deployment/site .spec.replicas)" bye2
}
check:install-dry-run() {
    has "$(install --dry-run=server)" 'kind: Deployment'
    refused NotFound k get cm site
}
check:install-creates-the-namespace() {
    "$helm" --namespace="$ns-new" install site "$source/chart" --create-namespace
    "$helm" --namespace="$ns-new" uninstall site
    k delete namespace "$ns-new" --wait=false
}
check:get-and-list() {
    install --set page=set
    has "$(h list)" 'site-0.1.0'
    has "$(h status site)" 'STATUS: deployed'
    has "$(h get values site)" 'page: set'
    has "$(h get manifest site)" 'kind: Role'
    has "$(h get hooks site)" site-hook
    has "$("$helm" list --all-namespaces)" "$ns"
}
check:upgrade() {
    install
    has "$(h upgrade site "$source/chart" --set page=bye,image=nginx:2)" 'REVISION: 2'
    is "$(field cm/site .data.page)" bye
    is "$(field deployment/site '.spec.template.spec.containers[0].image')" nginx:2
    is "$(field cm/site-hook .data.revision)" 2
    h upgrade site "$source/chart" --reuse-values --set replicas=4
    is "$(field cm/site .data.page)$(field deployment/site .spec.replicas)" bye4
}
check:upgrade-installs() {
    has "$(h upgrade --install site "$source/chart")" 'STATUS: deployed'
    has "$(h upgrade --install site "$source/chart")" 'REVISION: 2'
}
check:upgrade-conflicts-with-others() {
    install
    k get cm site -o yaml | sed 's/page: hello/page: other/' | k apply --server-side --force-conflicts --field-manager=other -f -
    refused conflict h upgrade site "$source/chart" --set page=bye
    h upgrade site "$source/chart" --set page=bye --force-conflicts
    is "$(field cm/site .data.page)" bye
}
check:history-and-rollback() {
    install
    h upgrade site "$source/chart" --set page=bye
    has "$(h rollback site 1)" 'Rollback was a success'
    is "$(field cm/site .data.page)" hello
    is "$(h history site | count 'superseded\|deployed')" 3
}
check:failed-upgrade() {
    install
    refused "greater than or equal to 0" h upgrade site "$source/chart" --set replicas=-1
    has "$(h history site)" failed
    h rollback site 1
    is "$(field deployment/site .spec.replicas)" 1
}
check:uninstall() {
    install
    has "$(h uninstall site)" 'uninstalled'
    is "$(k get cm,deployment,role,sa,secret -l app.kubernetes.io/managed-by=Helm -o name)" ''
    is "$(k get secret -l owner=helm -o name)" ''
}
check:uninstall-keeps-history() {
    install
    h uninstall site --keep-history
    has "$(h history site)" uninstalled
    h rollback site 1
    is "$(field cm/site .data.page)" hello
}
check:service() {
    h install web "$source/service"
    is "$(field service/web '.spec.ports[0].port')" 80
}
