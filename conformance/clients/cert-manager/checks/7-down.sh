# The webhook is gone, the controller remains.
stop webhook

check:down-refuses() {
    refused 'Internal error occurred: failed calling webhook "webhook.cert-manager.io": failed to call webhook: Post "https://localhost' create certificate site
    refused 'connect: connection refused' create object Issuer ca 'selfSigned: {}'
    refused 'connect: connection refused' k create --dry-run=server -f - <<<"$(object Issuer ca 'selfSigned: {}')"
}
check:down-lets-others-pass() {
    k create configmap a
    k label namespace "$ns" cert-manager.io/disable-validation=true
    eventually create certificate site
    k delete certificate site
}
check:down-and-ignored() {
    k patch validatingwebhookconfiguration cert-manager-webhook --type=json -p '[{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore"}]'
    eventually create certificate site
    refused 'connection refused' create request mine
    k patch validatingwebhookconfiguration cert-manager-webhook --type=json -p '[{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Fail"}]'
    eventually refused 'connection refused' k annotate --overwrite certificate site at="$RANDOM"
}
