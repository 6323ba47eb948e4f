//! The certificate by which a webhook knows this server.
//!
//! Follows `TLSConfigFor` and `loadTLSFiles` of `transport/transport.go` of `k8s.io/client-go` (v0.37.1), and `X509KeyPair` of `crypto/tls`
//! (Go 1.26).

use crate::files;
use crate::x509::pem;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::client::ResolvesClientCert;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use std::fmt;
use std::sync::Arc;
use tree::Value;

/// The end of the labels of private keys in PEM.
const KEY: &str = "PRIVATE KEY";
/// The label of certificates in PEM.
const CERTIFICATE: &str = "CERTIFICATE";

/// A certificate with its key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ClientCertificate {
    /// Both as PEM.
    Fixed { certificate: Vec<u8>, key: Vec<u8> },
    /// The paths of both, which are read for each connection: they may be replaced.
    Files { certificate: String, key: String },
}

impl fmt::Debug for ClientCertificate {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCertificate").finish_non_exhaustive()
    }
}

impl ClientCertificate {
    /// The certificate of a user of a kubeconfig, if both it and its key are given.
    ///
    /// # Errors
    /// If it cannot be read, or does not belong to the key.
    pub(super) fn of(user: &Value) -> Result<Option<ClientCertificate>, String> {
        let text = |name: &str| user[name].as_str().unwrap_or_default();
        let data = |name: &str| STANDARD.decode(text(name)).unwrap_or_default();
        let (files, data) = (
            [text("client-certificate"), text("client-key")],
            [data("client-certificate-data"), data("client-key-data")],
        );
        let content = |at: usize| match (&data[at], files[at]) {
            (data, "") => Ok(data.clone()),
            (data, file) if data.is_empty() => files::read(file),
            (data, _) => Ok(data.clone()),
        };
        let (certificate, key) = (content(0)?, content(1)?);
        let is_given = |at: usize| !data[at].is_empty() || !files[at].is_empty();
        match (is_given(0) && is_given(1), data.iter().all(Vec::is_empty)) {
            (false, _) => Ok(None),
            (true, true) => {
                let [certificate, key] = files.map(str::to_owned);
                Ok(Some(ClientCertificate::Files { certificate, key }))
            }
            (true, false) => {
                pair(&certificate, &key)?;
                Ok(Some(ClientCertificate::Fixed { certificate, key }))
            }
        }
    }

    /// The certificate for a connection that is made now.
    ///
    /// # Errors
    /// If its files cannot be read, or do not belong together.
    pub(super) fn resolver(&self) -> Result<Arc<dyn ResolvesClientCert>, String> {
        match self {
            ClientCertificate::Fixed { certificate, key } => pair(certificate, key),
            ClientCertificate::Files { certificate, key } => pair(&files::read(certificate)?, &files::read(key)?),
        }
    }
}

/// The blocks of PEM with a label that is wanted, and the labels of the others.
fn blocks(pem: &[u8], is_wanted: fn(&str) -> bool) -> (Vec<Vec<u8>>, Vec<String>) {
    let (mut wanted, mut others) = (Vec::new(), Vec::new());
    for block in pem::blocks(pem) {
        match is_wanted(&block.label) {
            true => wanted.push(block.content),
            false => others.push(block.label),
        }
    }
    (wanted, others)
}

/// A certificate, its chain behind it, and its key, both PEM (`X509KeyPair`).
fn pair(certificate: &[u8], key: &[u8]) -> Result<Arc<dyn ResolvesClientCert>, String> {
    let (chain, others) = blocks(certificate, |label| label == CERTIFICATE);
    if chain.is_empty() {
        return Err(match &others[..] {
            [] => "tls: failed to find any PEM data in certificate input".into(),
            [other] if other.ends_with(KEY) => {
                "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have \
                 been switched"
                    .into()
            }
            others => format!(
                "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks of the following \
                 types: [{}]",
                others.join(" ")
            ),
        });
    }
    let (keys, others) =
        blocks(key, |label| label.strip_suffix(KEY).is_some_and(|rest| rest.is_empty() || rest.ends_with(' ')));
    let key = keys.into_iter().next().ok_or_else(|| match &others[..] {
        [] => "tls: failed to find any PEM data in key input".into(),
        [other] if other == CERTIFICATE => {
            "tls: found a certificate rather than a key in the PEM for the private key".into()
        }
        others => format!(
            "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after skipping PEM blocks of the \
             following types: [{}]",
            others.join(" ")
        ),
    })?;
    let key = PrivateKeyDer::try_from(key).map_err(|_| "tls: failed to parse private key")?;
    let chain = chain.into_iter().map(CertificateDer::from).collect();
    let pair = CertifiedKey::from_der(chain, key, &aws_lc_rs::default_provider()).map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => "tls: private key does not match public key",
        _ => "tls: failed to parse private key",
    })?;
    Ok(Arc::new(SingleCertAndKey::from(pair)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn certificates_and_keys_have_to_belong_together() {
        let made = || {
            let made = rcgen::generate_simple_self_signed(["a".to_owned()]).unwrap();
            (made.cert.pem(), made.signing_key.serialize_pem())
        };
        let ((certificate, key), (_, other)) = (made(), made());
        let odd = "-----BEGIN ODD-----\nAAAA\n-----END ODD-----\n";
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(path("crt"), &certificate).unwrap();
        std::fs::write(path("key"), &key).unwrap();
        let missing = format!("open {}: no such file or directory", path("none"));
        let encode = |text: &str| STANDARD.encode(text);
        let data = |certificate: &str, key: &str| json!({"client-certificate-data": encode(certificate), "client-key-data": encode(key)});
        for (user, expected) in [
            (json!({}), "none"),
            (json!({"client-certificate": path("crt")}), "none"),
            (json!({"client-certificate": path("none")}), &missing),
            (json!({"client-certificate": path("crt"), "client-key": path("key")}), "files"),
            (json!({"client-certificate": path("crt"), "client-key": path("none")}), &missing),
            // They are read for each connection.
            (json!({"client-certificate": path("crt"), "client-key": path("crt")}), "files"),
            (json!({"client-certificate": path("crt"), "client-key-data": encode(&key)}), "fixed"),
            (data(&certificate, &key), "fixed"),
            (data(&certificate, &other), "tls: private key does not match public key"),
            (data("", &key), "none"),
            (data("x", &key), "tls: failed to find any PEM data in certificate input"),
            (data(&certificate, "x"), "tls: failed to find any PEM data in key input"),
            (
                data(&key, &certificate),
                "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched",
            ),
            (
                data(&certificate, &certificate),
                "tls: found a certificate rather than a key in the PEM for the private key",
            ),
            (
                data(&format!("{odd}{odd}"), &key),
                "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks of the following types: [ODD ODD]",
            ),
            (
                data(&certificate, odd),
                "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after skipping PEM blocks of the following types: [ODD]",
            ),
            (
                data(&certificate, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
                "tls: failed to parse private key",
            ),
        ] {
            let found = match ClientCertificate::of(&user) {
                Ok(None) => "none".to_owned(),
                Ok(Some(ClientCertificate::Fixed { .. })) => "fixed".into(),
                Ok(Some(ClientCertificate::Files { .. })) => "files".into(),
                Err(why) => why,
            };
            assert_eq!(found, expected, "{user}");
        }
    }
}
