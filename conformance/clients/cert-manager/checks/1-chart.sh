# The chart is installed; no program runs yet.

check:chart() {
    local flags=(
        --set crds.enabled=true --set startupapicheck.enabled=false --set prometheus.enabled=false
        --set webhook.url.host="localhost:$webhook_port" --set webhook.securePort="$webhook_port"
        --set "webhook.extraArgs={--dynamic-serving-dns-names=localhost,--healthz-port=$health_port}"
    )
    has "$(timeout 60 "$folder/helm" install cert-manager "$chart" --namespace "$home" --create-namespace "${flags[@]}")" 'STATUS: deployed'
    is "$(c get deployment -o name | count deployment)" 3
}
check:chart-defines-its-kinds() {
    is "$(k get crd -o name | count 'cert-manager.io$')" 6
    k wait --for=condition=Established crd/certificates.cert-manager.io crd/orders.acme.cert-manager.io
    has "$(k explain certificate.spec.issuerRef)" 'Reference to the issuer responsible for issuing the certificate'
    has "$(k api-resources --categories=cert-manager -o name)" certificaterequests.cert-manager.io
}
check:chart-extends-roles() {
    k create rolebinding editor --clusterrole=edit --user=editor
    k create rolebinding viewer --clusterrole=view --user=viewer
    eventually k auth can-i create certificaterequests.cert-manager.io --as=editor
    eventually k auth can-i list certificates.cert-manager.io --as=viewer
    is "$(k auth can-i create certificates.cert-manager.io --as=viewer || true)" no
}
check:nothing-listens-yet() {
    local url=https://localhost:$webhook_port/validate?timeout=30s
    refused "failed calling webhook \"webhook.cert-manager.io\": failed to call webhook: Post \"$url\": dial tcp" create object Issuer ca 'selfSigned: {}'
    refused 'connect: connection refused' create object Issuer ca 'selfSigned: {}'
}
