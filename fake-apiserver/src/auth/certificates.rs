//! Users by their client certificates: the common name is the user, organizations are the groups.
//!
//! Ports `k8s.io/apiserver/pkg/authentication/request/x509` (v0.37.1). TLS only asks for a certificate and checks that the client
//! holds its key; the certificate is verified with each request, by the clock of the replica that is asked. So a bad one
//! is a 401, unless the request has a valid bearer token.
//!
//! Certificates before X.509 version 3 are refused by TLS, as the library for it is stricter than Go's.

use super::User;
use super::authorities::ClientAuthorities;
use crate::user::CREDENTIAL_ID_KEY;
use crate::x509::{Certificate, Name, ORGANIZATION, decimal};
use aws_lc_rs::digest::{SHA256, digest};
use jiff::Timestamp;
use rustls::pki_types::CertificateDer;
use std::sync::Mutex;

/// The certificate of a connection, with the intermediate ones that lead to an authority.
#[derive(Debug)]
pub struct ClientCertificate {
    chain: Vec<CertificateDer<'static>>,
    /// The outcome in that second: so signatures are not verified for every request.
    known: Known<User>,
    /// The same, for the common name of a proxy's certificate.
    known_proxy: Known<String>,
}

/// An outcome in a second.
type Known<T> = Mutex<Option<(i64, Outcome<T>)>>;

/// The user or a name, `None` without one, or the reason for the refusal.
type Outcome<T> = Result<Option<T>, String>;

impl ClientCertificate {
    /// The certificates that a client sent; its own comes first.
    pub fn new(chain: Vec<CertificateDer<'static>>) -> Self {
        ClientCertificate { chain, known: Mutex::default(), known_proxy: Mutex::default() }
    }

    /// The user that the certificate identifies; `None` without a common name. `AuthenticateRequest`.
    ///
    /// # Errors
    /// The reason why it is not valid at that time, in the real server's words where it has them.
    pub(super) fn user(&self, authorities: &ClientAuthorities, now: Timestamp) -> Outcome<User> {
        once_a_second(&self.known, now, || self.evaluate(authorities, now))
    }

    /// The common name in the certificate of a proxy; `None` without a certificate.
    ///
    /// # Errors
    /// The reason why it is not valid at that time.
    pub(super) fn of_proxy(&self, authorities: &ClientAuthorities, now: Timestamp) -> Outcome<String> {
        once_a_second(&self.known_proxy, now, || {
            let Some(der) = self.chain.first() else { return Ok(None) };
            let leaf = Certificate::parse(der)?;
            authorities.verify(&self.chain, now)?;
            Ok(Some(leaf.subject.common_name().to_owned()))
        })
    }

    fn evaluate(&self, authorities: &ClientAuthorities, now: Timestamp) -> Outcome<User> {
        let Some(der) = self.chain.first() else { return Ok(None) };
        let leaf = Certificate::parse(der)?;
        authorities.verify(&self.chain, now).map_err(|why| {
            let (serial, subject, authority) =
                (decimal(leaf.serial), hex(leaf.extensions.key_id), hex(leaf.extensions.authority_key_id));
            format!("verifying certificate SN={serial}, SKID={subject}, AKID={authority} failed: {why}")
        })?;
        user(&leaf.subject, der)
    }
}

/// The outcome in this second, which is evaluated if it is not known.
fn once_a_second<T: Clone>(known: &Known<T>, now: Timestamp, evaluate: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    let mut known = known.lock().expect("no holder of this lock can panic");
    match &*known {
        Some((second, outcome)) if *second == now.as_second() => outcome.clone(),
        _ => {
            let outcome = evaluate();
            *known = Some((now.as_second(), outcome.clone()));
            outcome
        }
    }
}

/// `X509UID` of `k8s.io/apimachinery/pkg/apis/asn1`: 1.3.6.1.4.1.57683.2.
const UID: &[u8] = &[0x2b, 6, 1, 4, 1, 0x83, 0xc2, 0x53, 2];

/// `CommonNameUserConversion`: the user of a certificate with that subject.
fn user(subject: &Name<'_>, der: &[u8]) -> Outcome<User> {
    if subject.common_name().is_empty() {
        return Ok(None);
    }
    let uids: Vec<&str> = subject.all(UID).collect();
    let uid = match &uids[..] {
        [] => "",
        [""] => return Err("UID cannot be an empty string".into()),
        [uid] => uid,
        uids => return Err(format!("expected 1 UID, but found multiple: [{}]", uids.join(" "))),
    };
    let fingerprint: String = digest(&SHA256, der).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let mut user = User {
        name: subject.common_name().to_owned(),
        uid: uid.to_owned(),
        groups: subject.all(ORGANIZATION).map(str::to_owned).collect(),
        ..User::default()
    };
    user.set_extra(CREDENTIAL_ID_KEY, &format!("X509SHA256={fingerprint}"));
    Ok(Some(user))
}

/// `columnSeparatedHex`.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":")
}
