# The controller starts: issuers get ready, certificates are issued.
start controller

# ready OBJECT: until its condition says so.
ready() { k wait --for=condition=Ready "$1" --timeout=15s; }
# part SECRET KEY: what the secret has under the key.
part() { field "secret/$1" ".data.${2/./\\.}" | base64 -d; }
# authority_issuer: an issuer `root` whose authority signs itself, and an issuer `ca` with that authority.
authority_issuer() {
    create object Issuer root 'selfSigned: {}'
    create object Certificate ca 'secretName: ca' 'isCA: true' 'commonName: ca' 'privateKey: {algorithm: ECDSA, size: 256}' 'issuerRef: {name: root}'
    create object Issuer ca 'ca: {secretName: ca}'
    ready issuer/ca
}

check:controller-leads() { ns=kube-system k wait --for="jsonpath={.spec.holderIdentity}=$(hostname)-external-cert-manager-controller" lease/cert-manager-controller --timeout=15s; }
check:issued-by-itself() {
    create object Issuer ca 'selfSigned: {}'
    ready issuer/ca
    create certificate site 'dnsNames: [example.com]' 'secretTemplate: {labels: {a: b}}'
    ready certificate/site
    is "$(field secret/site .type) $(field secret/site .metadata.labels.a)" 'kubernetes.io/tls b'
    part site tls.crt > site.crt
    part site ca.crt > ca.crt
    has "$(openssl verify -CAfile ca.crt site.crt)" OK
    has "$(openssl x509 -in site.crt -noout -ext subjectAltName)" DNS:example.com
    is "$(part site tls.key | openssl pkey -pubout)" "$(openssl x509 -in site.crt -noout -pubkey)"
}
check:issued-by-an-authority() {
    authority_issuer
    create certificate site 'dnsNames: [example.com]' 'privateKey: {algorithm: ECDSA, size: 384}'
    ready certificate/site
    part site tls.crt > site.crt
    part ca tls.crt > ca.crt
    has "$(openssl verify -CAfile ca.crt site.crt)" OK
    has "$(part site tls.key | openssl pkey -noout -text)" 'P-384'
}
check:issued-by-an-issuer-of-the-cluster() {
    create object ClusterIssuer "$ns" 'selfSigned: {}'
    create object Certificate site 'secretName: site' 'dnsNames: [example.com]' "issuerRef: {name: $ns, kind: ClusterIssuer}"
    ready certificate/site
    k delete clusterissuer "$ns"
}
check:issued-is-told() {
    create object Issuer ca 'selfSigned: {}'
    create certificate site 'dnsNames: [example.com]'
    ready certificate/site
    is "$(k get certificate --no-headers | tr -s ' ' | cut -d' ' -f1-3)" 'site True site'
    has "$(k get certificaterequest --no-headers | tr -s ' ')" "site-1 True True ca system:serviceaccount:$home:cert-manager"
    eventually has_event 'The certificate has been successfully issued'
    is "$(field certificaterequest/site-1 '.metadata.ownerReferences[0].kind')" Certificate
}
has_event() { has "$(k get events --field-selector=involvedObject.name=site)" "$1"; }
check:issued-again-when-lost() {
    create object Issuer ca 'selfSigned: {}'
    create certificate site 'dnsNames: [example.com]'
    ready certificate/site
    k delete secret site
    k wait --for=create secret/site --timeout=15s
    waits certificate/site .status.revision 2
}
check:issued-again-when-changed() {
    create object Issuer ca 'selfSigned: {}'
    create certificate site 'dnsNames: [example.com]'
    ready certificate/site
    k patch certificate site --type=merge -p '{"spec": {"dnsNames": ["example.org"]}}'
    waits certificate/site .status.revision 2
    has "$(part site tls.crt | openssl x509 -noout -ext subjectAltName)" DNS:example.org
}
check:not-issued-when-the-issuer-is-missing() {
    create certificate site 'dnsNames: [example.com]'
    k wait --for=create certificaterequest/site-1 --timeout=15s
    waits certificaterequest/site-1 '.status.conditions[?(@.type=="Ready")].reason' Pending
    has "$(field certificaterequest/site-1 '.status.conditions[?(@.type=="Ready")].message')" 'Referenced "Issuer" not found: issuer.cert-manager.io "ca" not found'
    create object Issuer ca 'selfSigned: {}'
    ready certificate/site
}
check:not-issued-when-denied() {
    create object Issuer ca 'ca: {secretName: later}'
    create request mine
    k wait --for=condition=Approved certificaterequest/mine --timeout=15s
    refused "'Approved' condition may not be modified once set" condition Denied True
}
check:issuer-without-its-secret() {
    create object Issuer ca 'ca: {secretName: none}'
    waits issuer/ca '.status.conditions[0].reason' ErrGetKeyPair
    has "$(field issuer/ca '.status.conditions[0].message')" 'secrets "none" not found'
}
check:issued-for-an-ingress() {
    create object Issuer ca 'selfSigned: {}'
    k create ingress site --rule=example.com/=web:80,tls=site --annotation=cert-manager.io/issuer=ca
    k wait --for=create certificate/site --timeout=15s
    ready certificate/site
    is "$(field certificate/site .spec.dnsNames) $(field certificate/site '.metadata.ownerReferences[0].kind')" '["example.com"] Ingress'
    k patch ingress site --type=json -p '[{"op": "add", "path": "/spec/tls/0/hosts/-", "value": "example.org"}]'
    waits certificate/site .metadata.generation 2
    is "$(field certificate/site .spec.dnsNames)" '["example.com","example.org"]'
}

# managers OBJECT: who manages its fields, and how.
managers() {
    k get "$1" --show-managed-fields -o 'jsonpath={range .metadata.managedFields[*]}{.manager} {.operation} {.subresource}{"\n"}{end}' | sort | sed 's/ *$//' | paste -sd,
}
check:issued-with-managers() {
    create object Issuer ca 'selfSigned: {}'
    certificate site 'dnsNames: [example.com]' | k apply --server-side --field-manager=me -f -
    ready certificate/site
    is "$(managers issuer/ca)" 'cert-manager-issuers Update status,kubectl-create Update'
    is "$(managers secret/site)" 'cert-manager-certificates-issuing Apply'
    has "$(managers certificate/site)" 'cert-manager-certificates-readiness Update status'
    has "$(managers certificate/site)" 'me Apply'
    is "$(managers certificaterequest/site-1)" "$(printf 'cert-manager-%s\n' 'certificaterequests-approver Update status' \
        'certificaterequests-issuer-selfsigned Update status' 'certificates-request-manager Update' | paste -sd,)"
}
check:signed-for-kubernetes() {
    authority_issuer
    k create -f - <<<"{apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, metadata: {name: $ns}, spec: {
        $(request "$ns" | grep -o 'request: [^,}]*'), signerName: issuers.cert-manager.io/$ns.ca, usages: [digital signature, server auth]}}"
    k certificate approve "$ns"
    waits "csr/$ns" .status.certificate
    field "csr/$ns" .status.certificate | base64 -d > site.crt
    part ca tls.crt > ca.crt
    has "$(openssl verify -CAfile ca.crt site.crt)" OK
    is "$(k get csr "$ns" --no-headers | grep -o 'Approved,Issued')" 'Approved,Issued'
    k delete csr "$ns"
}
