# What the webhook makes of objects; no controller runs yet.

denied='admission webhook "webhook.cert-manager.io" denied the request: '

check:issuer-of-no-type() { refused "${denied}spec: Required value: at least one issuer must be configured" create object Issuer ca; }
check:issuer-of-two-types() {
    refused "${denied}spec.selfSigned: Forbidden: may not specify more than one issuer type" create object Issuer ca 'ca: {secretName: a}' 'selfSigned: {}'
}
check:issuer-that-a-rule-forbids() {
    refused 'exactly one of tpp, cloud, or ngts must be configured' create object Issuer ca 'venafi: {zone: a}'
}
check:issuer-with-a-warning() {
    local key='{keyID: a, keyAlgorithm: HS256, keySecretRef: {name: a, key: b}}' text
    text=$(create object Issuer acme "acme: {server: 'https://example.com', privateKeySecretRef: {name: a}, externalAccountBinding: $key}" 2>&1)
    has "$text" "Warning: ACME issuer spec field 'externalAccount.keyAlgorithm' is deprecated. The value of this field will be ignored."
}
check:issuer-with-defaults() {
    create object Issuer acme "acme: {server: 'https://example.com', privateKeySecretRef: {name: a},
        solvers: [{http01: {gatewayHTTPRoute: {parentRefs: [{name: a}]}}}]}"
    is "$(field issuer/acme '.spec.acme.solvers[0].http01.gatewayHTTPRoute.parentRefs')" \
        '[{"group":"gateway.networking.k8s.io","kind":"Gateway","name":"a"}]'
}
check:issuer-of-the-cluster() {
    create object ClusterIssuer "$ns" 'selfSigned: {}'
    refused "${denied}spec.ca.secretName: Required value" k patch clusterissuer "$ns" --type=merge -p '{"spec": {"selfSigned": null, "ca": {"secretName": ""}}}'
    k delete clusterissuer "$ns"
}
check:certificate() {
    create certificate site 'dnsNames: [example.com]'
    is "$(field certificate/site .spec)" '{"dnsNames":["example.com"],"issuerRef":{"name":"ca"},"secretName":"site"}'
    is "$(field certificate/site .metadata.generation)" 1
}
check:certificate-without-names() {
    refused "${denied}spec: Invalid value: \"\": at least one of commonName (from the commonName field or from a literalSubject), dnsNames," create certificate site
}
check:certificate-with-many-faults() {
    local text
    if text=$(create certificate site 'ipAddresses: [1.2.3]' 'privateKey: {size: 3}' 'duration: 1m' 2>&1); then false; fi
    has "$text" "${denied}[spec.ipAddresses[0]: Invalid value: \"1.2.3\": invalid IP address, spec.privateKey.size: Invalid value: 3: must be between 2048 and 8192"
    has "$text" 'spec.duration: Invalid value'
}
check:certificate-of-an-unknown-kind() {
    refused 'must be one of Issuer or ClusterIssuer (did you forget to set spec.issuerRef.kind.group?)' \
        create object Certificate site 'secretName: a' 'commonName: a' 'issuerRef: {name: a, kind: Other}'
}
check:certificate-updates() {
    create certificate site 'dnsNames: [example.com]'
    refused "${denied}spec.duration: Invalid value" k patch certificate site --type=merge -p '{"spec": {"duration": "1m"}}'
    refused "${denied}spec.secretName: Invalid value: \"A\"" k patch certificate site --type=json -p '[{"op": "replace", "path": "/spec/secretName", "value": "A"}]'
    k patch certificate site --type=merge -p '{"spec": {"dnsNames": ["example.org"]}}'
    is "$(field certificate/site .spec.dnsNames)$(field certificate/site .metadata.generation)" '["example.org"]2'
}
check:certificate-applied() {
    local apply=(k apply --server-side --field-manager=other -f -)
    certificate site 'dnsNames: [example.com]' | k apply -f -
    has "$(certificate site 'dnsNames: [example.com]' | k apply -f -)" unchanged
    refused conflict "${apply[@]}" <<<"$(certificate site 'dnsNames: [example.net]')"
    certificate site 'dnsNames: [example.org]' | "${apply[@]}" --force-conflicts
    refused "${denied}spec.duration: Invalid value" "${apply[@]}" <<<"$(certificate site 'dnsNames: [example.org]' 'duration: 1m')"
    is "$(field certificate/site .spec.dnsNames)" '["example.org"]'
}
check:certificate-tried() {
    certificate site 'dnsNames: [example.com]' | k create --dry-run=server -f -
    refused "${denied}spec" k create --dry-run=server -f - <<<"$(certificate site)"
    refused NotFound k get certificate site
}
check:certificate-where-nothing-is-checked() {
    k label namespace "$ns" cert-manager.io/disable-validation=true
    eventually create certificate site
    k label namespace "$ns" cert-manager.io/disable-validation-
    eventually refused "${denied}spec" k annotate --overwrite certificate site at="$RANDOM"
}
check:request-gets-its-author() {
    local spec
    request mine 'uid: forged' 'username: forged' 'groups: [forged]' 'extra: {forged: [forged]}' |
        k create -f - --as=jane --as-uid=7 --as-group=system:masters --as-group=qa --as-user-extra=example.com/team=blue
    spec=$(field certificaterequest/mine .spec)
    has "$spec" '"extra":{"example.com/team":["blue"]},"groups":["system:masters","qa","system:authenticated"]'
    has "$spec" '"uid":"7"'
    has "$spec" '"username":"jane"'
}
check:request-that-is-none() {
    refused "${denied}spec.request: Invalid value: \"a\"" create object CertificateRequest mine 'issuerRef: {name: ca}' 'request: YQ=='
}
check:request-stays() {
    create request mine
    refused "${denied}spec: Forbidden: cannot change spec after creation" k patch certificaterequest mine --type=merge -p '{"spec": {"isCA": true}}'
    refused 'username identity cannot be changed once set' k patch certificaterequest mine --type=merge -p '{"spec": {"username": "other"}}'
    k label certificaterequest mine a=b
}
check:request-by-fields() {
    create request mine
    is "$(k get certificaterequest --field-selector=spec.issuerRef.name=ca -o name)" certificaterequest.cert-manager.io/mine
    is "$(k get certificaterequest --field-selector=spec.issuerRef.name=other -o name)" ''
}

# condition TYPE STATUS FLAG...: a condition of the request.
condition() {
    local one="{\"type\": \"$1\", \"status\": \"$2\", \"reason\": \"checked\", \"lastTransitionTime\": \"2020-01-01T00:00:00Z\"}"
    k patch certificaterequest mine --subresource=status --type=merge -p "{\"status\": {\"conditions\": [$one]}}" "${@:3}"
}
check:request-approved-by-those-who-may() {
    create request mine
    k create role approver --verb=get,patch --resource=certificaterequests.cert-manager.io/status,certificaterequests.cert-manager.io
    k create rolebinding approver --role=approver --user=jane
    eventually refused "${denied}status.conditions: Forbidden: user \"jane\" does not have permissions to set approved/denied conditions for issuer" \
        condition Approved True --as=jane
    k create -f - <<<"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: signer}, rules: [
        {apiGroups: [cert-manager.io], resources: [signers], verbs: [approve], resourceNames: [issuers.cert-manager.io/$ns.ca]}]}"
    k create clusterrolebinding signer --clusterrole=signer --user=jane
    eventually condition Approved True --as=jane
    refused "'Approved' condition may not be modified once set" condition Denied True
}
check:request-approved-wrongly() {
    create request mine
    refused '"Approved" condition may only be set to True' condition Approved False
    create object CertificateRequest other 'issuerRef: {name: a, kind: Nothing, group: example.com}' "request: $(field certificaterequest/mine .spec.request)"
    refused 'referenced signer resource does not exist' k patch certificaterequest other --subresource=status --type=merge -p \
        '{"status": {"conditions": [{"type": "Approved", "status": "True"}]}}'
}
