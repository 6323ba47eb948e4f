//! Validation of pod certificate requests.
//!
//! Follows `pkg/apis/certificates/validation/validation.go` (v1.37.1).
//!
//! GAP: podcertificaterequests: the rule for e-mail addresses in certificates

use crate::error::{Errors, FieldError, Path};
use crate::object::{generation, name};
use crate::registry::context::{Asked, Context};
use crate::registry::cursor::At;
use crate::registry::types::{conditions, is_kubernetes_signer, signer_name};
use crate::registry::{items, text};
use crate::schema::{lookup, quote};
use crate::x509::{Certificate, CertificateRequest, KeyKind, pem};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp};
use std::ops::RangeInclusive;
use tree::{Value, json};

const API_VERSION: &str = "certificates.k8s.io/v1";
const KIND: &str = "PodCertificateRequest";
const MAX_UID: usize = 128;
const MAX_KEY: usize = 10 * 1024;
const MAX_CHAIN: usize = 100 * 1024;
const HOUR: i64 = 60 * 60;

/// The bounds of `maxExpirationSeconds`.
pub(in crate::registry) fn lifetimes(signer: &str) -> RangeInclusive<i64> {
    let most = if is_kubernetes_signer(signer) { 24 * HOUR } else { 91 * 24 * HOUR };
    HOUR..=most
}

/// The conditions that end a request.
const ENDS: [&str; 3] = ["Issued", "Denied", "Failed"];

/// `ValidatePodCertificateRequestCreate` and `ValidatePodCertificateRequestUpdate`, without the metadata.
pub(super) fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let request = At::object(new, API_VERSION, KIND);
    let spec = request.field("spec");
    if let Some(old) = old {
        return spec.immutable(&At::object(old, API_VERSION, KIND).field("spec"), errors);
    }
    signer_name(spec.field("signerName"), errors);
    user_annotations(spec.field("unverifiedUserAnnotations"), errors);
    spec.field("podName").follows(name::dns_subdomain, errors);
    uid(spec.field("podUID"), errors);
    spec.field("serviceAccountName").follows(name::dns_subdomain, errors);
    uid(spec.field("serviceAccountUID"), errors);
    spec.field("nodeName").follows(name::dns_subdomain, errors);
    uid(spec.field("nodeUID"), errors);
    let expiration = spec.field("maxExpirationSeconds");
    let Some(seconds) = expiration.number() else { return expiration.required("must be set", errors) };
    let bounds = lifetimes(spec.field("signerName").text());
    if !bounds.contains(&seconds) {
        expiration.invalid(format!("must be in the range [{}, {}]", bounds.start(), bounds.end()), errors);
    }
    // This version has no other way to say which key is meant.
    let stub = spec.field("stubPKCS10Request");
    match stub.is_empty() {
        false => self::stub(stub, errors),
        true => omitted(
            spec.path(),
            "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set",
            errors,
        ),
    }
}

/// A finding that does not show the value.
fn omitted(at: Path<'_>, detail: &str, errors: &mut Errors) {
    errors.push(FieldError::invalid(at, &Value::Null, detail).without_value());
}

fn uid(uid: At<'_, '_>, errors: &mut Errors) {
    if uid.is_empty() {
        uid.invalid("must not be empty", errors);
    }
    if uid.text().len() > MAX_UID {
        errors.push(FieldError::too_long(uid.path(), MAX_UID));
    }
}

/// `ValidateUserAnnotations`.
pub(in crate::registry) fn user_annotations(annotations: At<'_, '_>, errors: &mut Errors) {
    const MAX_BYTES: usize = 256 * 1024;
    for (key, _) in annotations.entries() {
        let key = key.to_lowercase();
        let objections = name::label_key(&key);
        if key.is_empty() {
            annotations.required("", errors);
        } else if !objections.is_empty() {
            errors.invalid_each(annotations.path(), &key, objections);
        } else if !key.contains('/') {
            annotations.invalid_value(key, r#"must be a domain-prefixed key (such as "acme.io/foo")"#, errors);
        }
    }
    if annotations.texts().map(|(key, value)| key.len() + value.len()).sum::<usize>() > MAX_BYTES {
        errors.push(FieldError::too_long(annotations.path(), MAX_BYTES));
    }
}

fn bytes(at: At<'_, '_>) -> Vec<u8> {
    STANDARD.decode(at.text()).unwrap_or_default()
}

/// `validateStubPKCS10Request`.
fn stub(at: At<'_, '_>, errors: &mut Errors) {
    let der = bytes(at);
    if der.len() > MAX_KEY {
        return errors.push(FieldError::too_long(at.path(), MAX_KEY));
    }
    let Ok(request) = CertificateRequest::parse(&der) else {
        return omitted(at.path(), "must be a valid PKCS#10 CSR", errors);
    };
    let Some(kind) = request.key_kind.filter(|kind| *kind != KeyKind::Dsa) else {
        let detail = "unknown public key type; supported types are Ed25519, ECDSA, and RSA";
        return omitted(at.path(), detail, errors);
    };
    if kind == KeyKind::Ecdsa("P-224") {
        at.invalid_value("curve P-224", "elliptic public keys must use curve P256, P384, or P521", errors);
    } else if let KeyKind::Rsa(bits) = kind
        && bits != 3072
        && bits != 4096
    {
        at.invalid_value(format!("{bits}-bit modulus"), "RSA keys must have modulus size 3072 or 4096", errors);
    } else if request.check_signature().is_err() {
        omitted(at.path(), "invalid signature", errors);
    }
}

/// `ValidatePodCertificateRequestStatusUpdate`.
fn status(context: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let request = At::object(new, API_VERSION, KIND);
    let status = request.field("status");
    let before = errors.len();
    known_conditions(status.field("conditions"), errors);
    conditions(status.field("conditions"), errors);
    if errors.len() > before {
        return;
    }
    let old = old.unwrap_or(&Value::Null);
    let has_ended = ENDS.iter().any(|end| is(old, end));
    if has_ended || !ENDS.iter().any(|end| is(new, end)) {
        let detail = match has_ended {
            true => "immutable after PodCertificateRequest is issued, denied, or failed",
            false => r#"status is immutable unless transitioning to "Issued", "Denied", or "Failed""#,
        };
        return same_status(&new["status"], &old["status"], detail, errors);
    }
    if is(new, "Denied") || is(new, "Failed") {
        let detail = "non-condition status fields must be empty when denying or failing the PodCertificateRequest";
        let wanted = json!({"conditions": new["status"]["conditions"].clone()});
        return same_status(&new["status"], &wanted, detail, errors);
    }
    if let Err(refusal) = issued(context.now, request, errors) {
        errors.push(refusal);
    }
}

/// The status, and the permission to change it.
pub(super) fn signed_status(context: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    status(context, new, old, errors);
    let signer = text(new, "/spec/signerName");
    if errors.is_empty()
        && old.is_some_and(|old| !are_same(&new["status"], &old["status"]))
        && !may_sign(context, signer)
    {
        let user = quote(context.user.map_or("", |user| &user.name));
        let detail = format!("User {user} is not permitted to \"sign\" for signer {}", quote(signer));
        errors.forbidden(Path::new("spec.signerName"), detail);
    }
}

/// Whether the user may sign for a signer, or for all of its domain (`IsAuthorizedForSignerName`).
fn may_sign(context: &Context<'_>, signer: &str) -> bool {
    let domain = format!("{}/*", signer.split('/').next().unwrap_or_default());
    let asked = Asked {
        verb: "sign",
        group: "certificates.k8s.io",
        version: "*",
        resource: "signers",
        subresource: "",
        namespace: "",
        name: signer,
    };
    context.may(&asked).is_ok() || context.may(&Asked { name: &domain, ..asked }).is_ok()
}

/// Whether a condition of the request is true.
fn is(request: &Value, wanted: &str) -> bool {
    let mut conditions = items(request, "/status/conditions").iter();
    conditions.any(|condition| text(condition, "/type") == wanted && text(condition, "/status") == "True")
}

fn are_same(one: &Value, other: &Value) -> bool {
    let ty = lookup(API_VERSION, KIND).and_then(|kind| generation::of_field(kind, "status"));
    generation::equal_as(ty, Some(one), Some(other))
}

/// `validateSemanticEquality` of the status.
fn same_status(one: &Value, other: &Value, detail: &str, errors: &mut Errors) {
    if !are_same(one, other) {
        omitted(Path::new("status"), detail, errors);
    }
}

/// At most one of the conditions that end a request, and no other ones.
fn known_conditions(conditions: At<'_, '_>, errors: &mut Errors) {
    let mut known = 0;
    for (index, condition) in conditions.items().enumerate() {
        // Upstream makes the index a field.
        let place = format!("[{index}]");
        let (type_, status) = (condition.field("type"), condition.field("status"));
        let at = conditions.path();
        let at = at.child(&place);
        if !ENDS.contains(&type_.text()) {
            type_.shown_at(at.child("type")).unsupported(&ENDS, errors);
            continue;
        }
        known += 1;
        if known > 1 {
            let detail = r#"There may be at most one condition with type "Issued", "Denied", or "Failed""#;
            type_.shown_at(at.child("type")).invalid(detail, errors);
        }
        status.shown_at(at.child("status")).supported(&["True"], errors);
    }
}

/// The rules for a certificate that is issued. Findings that do not end the validation are pushed.
fn issued(now: Timestamp, request: At<'_, '_>, errors: &mut Errors) -> Result<(), FieldError> {
    let (spec, status) = (request.field("spec"), request.field("status"));
    let chain = status.field("certificateChain");
    let in_chain = |detail: &'static str| FieldError::invalid(chain.path(), chain.value(), detail);
    if chain.text().len() > MAX_CHAIN {
        return Err(FieldError::too_long(chain.path(), MAX_CHAIN));
    }
    let mut rest = chain.text().as_bytes();
    let leaf = pem::next(&mut rest)
        .ok_or_else(|| in_chain("issued certificate chain must contain at least one certificate"))?;
    if leaf.label != "CERTIFICATE" {
        return Err(in_chain("issued certificate chain must consist entirely of CERTIFICATE PEM blocks"));
    }
    let leaf =
        Certificate::parse(&leaf.content).map_err(|_| in_chain("leaf certificate does not parse as valid X.509"))?;
    let before = errors.len();
    for host in leaf.dns_names() {
        let objections = [
            (host.is_empty(), "leaf certificate should not contain empty DNSName"),
            (host.contains(".."), "leaf certificate's DNSName should not contain '..'"),
            (
                host.starts_with('.') || host.ends_with('.'),
                "leaf certificate's DNSName should not start or end with '.'",
            ),
        ];
        for (_, objection) in objections.into_iter().filter(|(is_broken, _)| *is_broken) {
            chain.invalid_value(host, objection, errors);
        }
    }
    let stub = bytes(spec.field("stubPKCS10Request"));
    let wanted = CertificateRequest::parse(&stub).map(|request| request.key_info).unwrap_or_default();
    if leaf.key_info != wanted {
        return Err(in_chain("leaf certificate was not issued to the requested public key"));
    }
    let times = [
        ("notBefore", "must be present and consistent with the issued certificate"),
        ("notAfter", "must be present and consistent with the issued certificate"),
        ("beginRefreshAt", "must be present and in the range [notbefore+10min, notafter-10min]"),
    ];
    for (field, detail) in times.into_iter().filter(|(field, _)| !status.field(field).is_set()) {
        status.field(field).required(detail, errors);
    }
    if errors.len() > before {
        return Ok(());
    }
    let most = spec.field("maxExpirationSeconds").number().unwrap_or_default();
    lifetime(now, &leaf, status, most)?;
    for block in pem::blocks(rest) {
        if block.label != "CERTIFICATE" {
            return Err(in_chain("issued certificate chain must consist entirely of CERTFICATE PEM blocks"));
        }
        if Certificate::parse(&block.content).is_err() {
            return Err(in_chain("intermediate certificate does not parse as valid X.509"));
        }
    }
    Ok(())
}

/// The times of a certificate and of the status must agree, and lie within limits.
fn lifetime(now: Timestamp, leaf: &Certificate<'_>, status: At<'_, '_>, most: i64) -> Result<(), FieldError> {
    let time = |field| status.field(field).text().parse::<Timestamp>().unwrap_or_default();
    let refused = |field, detail: &str| {
        let at = status.field(field);
        Err(FieldError::invalid(at.path(), at.value(), detail))
    };
    let (start, end, refresh) = (time("notBefore"), time("notAfter"), time("beginRefreshAt"));
    let minutes = |count: i64| SignedDuration::from_mins(count);
    if start != leaf.not_before {
        return refused("notBefore", "must be set to the NotBefore time encoded in the leaf certificate");
    }
    if start.duration_since(now).abs() >= minutes(5) {
        return refused("notBefore", "must be set to within 5 minutes of kube-apiserver's current time");
    }
    if end != leaf.not_after {
        return refused("notAfter", "must be set to the NotAfter time encoded in the leaf certificate");
    }
    let lifetime = end.duration_since(start);
    let refused_lifetime = |detail: String| {
        let nanoseconds = i64::try_from(lifetime.as_nanos()).unwrap_or(i64::MAX);
        let at = status.field("certificateChain");
        Err(FieldError::invalid(at.path(), &nanoseconds.into(), detail))
    };
    if lifetime < SignedDuration::from_hours(1) {
        return refused_lifetime("leaf certificate lifetime must be >= 1 hour".into());
    }
    if lifetime > SignedDuration::from_secs(most) {
        return refused_lifetime(format!("leaf certificate lifetime must be <= spec.maxExpirationSeconds ({most})"));
    }
    if refresh.duration_since(start) < minutes(10) {
        return refused("beginRefreshAt", "must be at least 10 minutes after status.notBefore");
    }
    if end.duration_since(refresh) < minutes(10) {
        return refused("beginRefreshAt", "must be at least 10 minutes before status.notAfter");
    }
    Ok(())
}
