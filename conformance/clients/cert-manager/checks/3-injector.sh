# The injector starts, and writes the webhook's authority into the configurations.
start cainjector

authority() { c get secret cert-manager-webhook-ca -o 'jsonpath={.data.ca\.crt}' | base64 -d; }
# injected OBJECT PATH: the object has the authority there, beside earlier ones.
injected() { has "$(field "$1" "$2" | base64 -d)" "$(authority)"; }
# injected_webhooks: both configurations have it.
injected_webhooks() {
    eventually injected validatingwebhookconfiguration/cert-manager-webhook '.webhooks[0].clientConfig.caBundle'
    eventually injected mutatingwebhookconfiguration/cert-manager-webhook '.webhooks[0].clientConfig.caBundle'
}

check:injector-leads() {
    local ns=kube-system lease=lease/cert-manager-cainjector-leader-election
    k wait --for=create "$lease" --timeout=15s
    has "$(field "$lease" .spec.holderIdentity)" "$(hostname)"
}
check:injector-injects() {
    injected_webhooks
    eventually create object Issuer ca 'selfSigned: {}'
}
check:injector-injects-again() {
    k patch validatingwebhookconfiguration cert-manager-webhook --type=json -p '[{"op": "remove", "path": "/webhooks/0/clientConfig/caBundle"}]'
    injected_webhooks
    has "$(k get validatingwebhookconfiguration cert-manager-webhook --show-managed-fields -o 'jsonpath={.metadata.managedFields[*].manager}')" cainjector
}
check:injector-injects-into-definitions() {
    k create secret generic bundle --from-literal=ca.crt="$(authority)"
    k annotate secret bundle cert-manager.io/allow-direct-injection=true
    k create -f - <<END
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: bulbs.example.com, annotations: {cert-manager.io/inject-ca-from-secret: $ns/bundle}}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: bulbs, kind: Bulb}
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://localhost:1/'}}}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
END
    eventually injected crd/bulbs.example.com .spec.conversion.webhook.clientConfig.caBundle
    k delete crd bulbs.example.com
}
