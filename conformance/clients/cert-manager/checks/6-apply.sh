# The chart is upgraded, and the controller started anew: from now on it writes by server-side apply.
timeout 60 "$folder/helm" upgrade cert-manager "$chart" --namespace "$home" --reuse-values --set featureGates=ServerSideApply=true >>"$logs/run.log" 2>&1
stop controller
start controller

controllers=$(printf 'cert-manager-certificates-%s Apply status\n' issuing key-manager readiness trigger | paste -sd,)

check:applying-is-deployed() {
    has "$(c get deployment cert-manager -o 'jsonpath={.spec.template.spec.containers[0].args}')" --feature-gates=ServerSideApply=true
    is "$(c get deployment cert-manager -o 'jsonpath={.metadata.generation}')" 2
}
check:applying-issues() {
    authority_issuer
    certificate site 'dnsNames: [example.com]' | k apply --server-side --field-manager=me -f -
    waits certificate/site .status.revision 1
    is "$(managers issuer/ca)" 'cert-manager-issuers Apply status,kubectl-create Update'
    is "$(managers certificate/site)" "$controllers,me Apply"
    is "$(managers certificaterequest/site-1)" "$(printf 'cert-manager-%s\n' 'certificaterequests-approver Apply status' \
        'certificaterequests-issuer-ca Apply status' 'certificates-request-manager Update' | paste -sd,)"
    is "$(managers secret/site)" 'cert-manager-certificates-issuing Apply'
}
check:applying-issues-again() {
    create object Issuer ca 'selfSigned: {}'
    create certificate site 'dnsNames: [example.com]' 'secretTemplate: {labels: {a: b, c: d}}'
    ready certificate/site
    k patch certificate site --type=merge -p '{"spec": {"dnsNames": ["example.org"], "secretTemplate": {"labels": {"a": null}}}}'
    waits certificate/site .status.revision 2
    ready certificate/site
    is "$(field secret/site .metadata.labels.a)$(field secret/site .metadata.labels.c)" d
    is "$(field certificate/site '.status.conditions[?(@.type=="Ready")].status')" True
}
check:applying-for-an-ingress() {
    create object Issuer ca 'selfSigned: {}'
    k create ingress site --rule=example.com/=web:80,tls=site --annotation=cert-manager.io/issuer=ca
    k wait --for=create certificate/site --timeout=15s
    waits certificate/site .status.revision 1
    is "$(managers certificate/site)" "$controllers,cert-manager-ingress-shim Update"
    k patch ingress site --type=json -p '[{"op": "remove", "path": "/spec/tls"}]'
    k wait --for=delete certificate/site --timeout=15s
}
