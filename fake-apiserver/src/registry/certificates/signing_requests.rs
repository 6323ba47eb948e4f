//! Validation of certificate signing requests.
//!
//! Follows `pkg/apis/certificates/validation/validation.go` (v1.37.1).

use crate::error::{Errors, Path};
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::types::signer_name;
use crate::registry::{items, text};
use crate::schema::quote;
use crate::x509::{Certificate, CertificateRequest, ORGANIZATION, pem};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::collections::HashSet;
use tree::Value;

const LEGACY_SIGNER: &str = "kubernetes.io/legacy-unknown";
const MIN_SECONDS: i64 = 600;
/// Decisions and failures, which are made or are not: their conditions are never false.
const TRUE_ONLY: [&str; 3] = ["Approved", "Denied", "Failed"];
const STATUSES: [&str; 3] = ["False", "True", "Unknown"];
const USAGES: &[&str] = &[
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];
const CONDITIONS: &str = "/status/conditions";

fn at(request: &Value) -> At<'static, '_> {
    At::object(request, "certificates.k8s.io/v1", "CertificateSigningRequest")
}

/// `validateCertificateSigningRequest` and `validateCertificateSigningRequestUpdate`, without the metadata. What the old object
/// breaks, the new one may break, too.
pub(super) fn validate(context: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let request = at(new);
    let spec = request.field("spec");
    if let Err(error) = signed_request(spec.field("request").text()) {
        match spec.field("request") {
            request if request.is_set() => request.invalid(error, errors),
            request => request.invalid_value(Value::Null, error, errors),
        }
    }
    usages(spec.field("usages"), old, errors);
    let signer = spec.field("signerName");
    match signer.text() == LEGACY_SIGNER && old.is_none_or(|old| text(old, "/spec/signerName") != LEGACY_SIGNER) {
        true => signer.invalid("the legacy signerName is not allowed via this API version", errors),
        false => signer_name(signer, errors),
    }
    let expiration = spec.field("expirationSeconds");
    if expiration.number().is_some_and(|seconds| seconds < MIN_SECONDS) {
        expiration.invalid("may not specify a duration less than 600 seconds (10 minutes)", errors);
    }
    conditions(request.field("status.conditions"), old, errors);
    let certificate = text(new, "/status/certificate");
    let is_lenient = |old| {
        let before = text(old, "/status/certificate");
        before == certificate || certificates(before).is_err()
    };
    if let Err(error) = certificates(certificate)
        && !old.is_some_and(is_lenient)
    {
        errors.invalid(Path::new("status.certificate"), "<certificate data>", error);
    }
    if let Some(old) = old {
        update(context.subresource, new, old, errors);
    }
}

/// `validateCSR`: the request must be well-formed and signed.
fn signed_request(base64: &str) -> Result<(), String> {
    CertificateRequest::parse(&request_der(base64)?)?.check_signature()
}

/// The common name and the organizations for which a certificate is requested, which become a user and its groups.
#[derive(Debug)]
pub(crate) struct RequestedSubject {
    pub(crate) common_name: String,
    pub(crate) organizations: Vec<String>,
}

/// The subject of the request in an object, valid or not.
///
/// # Errors
/// Those of `ParseCSR`, if the request cannot be read.
pub(crate) fn requested_subject(object: &Value) -> Result<RequestedSubject, String> {
    let der = request_der(text(object, "/spec/request"))?;
    let subject = CertificateRequest::parse(&der)?.subject;
    Ok(RequestedSubject {
        common_name: subject.common_name().to_owned(),
        organizations: subject.all(ORGANIZATION).map(str::to_owned).collect(),
    })
}

/// The request itself, which is in PEM.
///
/// # Errors
/// Go's words, if it is not.
pub(crate) fn request_der(base64: &str) -> Result<Vec<u8>, &'static str> {
    let pem = STANDARD.decode(base64).unwrap_or_default();
    match pem::next(&mut &pem[..]) {
        Some(block) if block.label == "CERTIFICATE REQUEST" => Ok(block.content),
        _ => Err("PEM block type must be CERTIFICATE REQUEST"),
    }
}

/// `validateCertificate`: certificates in PEM, and nothing else.
fn certificates(base64: &str) -> Result<(), String> {
    if base64.is_empty() {
        return Ok(());
    }
    let pem = STANDARD.decode(base64).unwrap_or_default();
    let mut found = 0;
    for block in pem::blocks(&pem) {
        if block.label != "CERTIFICATE" {
            return Err(format!("only CERTIFICATE PEM blocks are allowed, found {}", quote(&block.label)));
        }
        if block.has_headers {
            return Err("no PEM block headers are permitted".into());
        }
        if block.content.is_empty() {
            return Err("found CERTIFICATE PEM block containing 0 certificates".into());
        }
        let mut rest = &block.content[..];
        while !rest.is_empty() {
            Certificate::take(&mut rest)?;
        }
        found += 1;
    }
    if found == 0 { Err("must contain at least one CERTIFICATE PEM block".into()) } else { Ok(()) }
}

fn usages(usages: At<'_, '_>, old: Option<&Value>, errors: &mut Errors) {
    let before: Vec<&str> =
        old.map(|old| items(old, "/spec/usages")).unwrap_or_default().iter().filter_map(Value::as_str).collect();
    usages.set(errors);
    if before.iter().all(|usage| USAGES.contains(usage)) {
        for usage in usages.items() {
            usage.supported(USAGES, errors);
        }
    }
    if before.iter().collect::<HashSet<_>>().len() == before.len() {
        let mut seen = HashSet::new();
        for usage in usages.items().filter(|usage| !seen.insert(usage.text())) {
            usage.duplicate(errors);
        }
    }
}

/// `validateConditions`.
fn conditions(conditions: At<'_, '_>, old: Option<&Value>, errors: &mut Errors) {
    let before: Vec<&str> = old.map(|old| items(old, CONDITIONS)).unwrap_or_default().iter().map(type_of).collect();
    let decided_both = before.contains(&"Approved") && before.contains(&"Denied");
    let has_twice = before.iter().collect::<HashSet<_>>().len() < before.len();
    let mut seen = HashSet::new();
    for condition in conditions.items() {
        let (type_, status) = (condition.field("type"), condition.field("status"));
        if !before.contains(&"") {
            type_.set(errors);
        }
        let allowed: &[&str] = if TRUE_ONLY.contains(&type_.text()) { &["True"] } else { &STATUSES };
        status.one_of(allowed, errors);
        let other = match type_.text() {
            "Approved" => "Denied",
            "Denied" => "Approved",
            _ => "",
        };
        if !decided_both && !other.is_empty() && seen.contains(other) {
            let detail = "Approved and Denied conditions are mutually exclusive";
            errors.covered("zeroOrOneOf", |errors| {
                type_.shown_at(conditions.path()).invalid(detail, errors);
            });
        }
        if !seen.insert(type_.text()) && !has_twice {
            type_.duplicate(errors);
        }
    }
}

fn type_of(condition: &Value) -> &str {
    text(condition, "/type")
}

/// The rules for a change: each path sets its own part of the status.
fn update(subresource: &str, new: &Value, old: &Value, errors: &mut Errors) {
    let path = Path::new("status.conditions");
    let of = |request, wanted: &str| items(request, CONDITIONS).iter().filter(|one| type_of(one) == wanted).count();
    for wanted in TRUE_ONLY {
        if of(new, wanted) < of(old, wanted) {
            errors.forbidden(path, format!("updates may not remove a condition of type {}", quote(wanted)));
        }
    }
    // Decisions that are there already are kept beforehand.
    for wanted in ["Approved", "Denied"].into_iter().filter(|_| subresource != "approval") {
        if of(new, wanted) > of(old, wanted) {
            errors.forbidden(path, format!("updates may not add a condition of type {}", quote(wanted)));
        }
    }
    let before = text(old, "/status/certificate");
    if text(new, "/status/certificate") != before {
        let path = Path::new("status.certificate");
        if subresource != "status" {
            errors.forbidden(path, "updates may not set certificate content");
        } else if !before.is_empty() {
            errors.forbidden(path, "updates may not modify existing certificate content");
        }
    }
}
