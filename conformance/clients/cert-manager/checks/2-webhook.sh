# The webhook starts and makes its authority, which the server is not told of yet.
start_webhook

check:webhook-makes-its-authority() {
    is "$(c get secret cert-manager-webhook-ca -o 'jsonpath={.metadata.labels}')" '{"app.kubernetes.io/managed-by":"cert-manager-webhook"}'
    has "$(c get secret cert-manager-webhook-ca -o 'jsonpath={.data.ca\.crt}' | base64 -d | openssl x509 -noout -subject)" cert-manager-webhook-ca
}
check:webhook-is-not-trusted-yet() {
    refused 'tls: failed to verify certificate: x509: certificate signed by unknown authority' create object Issuer ca 'selfSigned: {}'
}
