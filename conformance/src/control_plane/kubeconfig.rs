//! A kubeconfig with one cluster and one user.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

/// The file's text, for the server at `url` with that certificate authority.
pub(super) fn text(url: &str, ca_pem: &str, token: &str) -> String {
    let ca = BASE64.encode(ca_pem);
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: real\n\
         clusters:\n- name: real\n  cluster:\n    server: {url}\n    certificate-authority-data: {ca}\n\
         contexts:\n- name: real\n  context:\n    cluster: real\n    user: admin\n\
         users:\n- name: admin\n  user:\n    token: {token}\n"
    )
}
