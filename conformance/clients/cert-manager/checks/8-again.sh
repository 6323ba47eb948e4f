# The webhook is back, and gets another authority.
c delete secret cert-manager-webhook-ca >>"$logs/run.log" 2>&1
start_webhook

check:again-with-another-authority() {
    injected_webhooks
    eventually create object Issuer ca 'selfSigned: {}'
    ready issuer/ca
}
check:again-refuses() { refused "${denied}spec" create certificate site; }
check:uninstalled() {
    has "$(timeout 60 "$folder/helm" uninstall cert-manager --namespace "$home")" 'kept due to the resource policy'
    is "$(k get validatingwebhookconfiguration,mutatingwebhookconfiguration -o name | count cert-manager)" 0
    is "$(k get crd -o name | count 'cert-manager.io$')" 6
    eventually create certificate site
}
