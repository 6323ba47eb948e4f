//! The certificates that a volume projects: a pod's own, and those of authorities.
//!
//! Follows `validateProjectionSources` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::file::{Paths, local_path};
use super::signer_name::signer_name;
use crate::error::{Errors, Path};
use crate::object::selector::validate_structured;
use crate::registry::certificates::{bundle_name, lifetimes, user_annotations};
use crate::registry::cursor::At;

const KEY_TYPES: [&str; 6] = ["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"];

/// Rules for the bundle of that name, or for those of a signer.
pub(super) fn trust_bundle(volume: Path<'_>, bundle: At<'_, '_>, paths: &mut Paths, errors: &mut Errors) {
    let (name, signer, selector) = (bundle.field("name"), bundle.field("signerName"), bundle.field("labelSelector"));
    match (name.is_set(), signer.is_set()) {
        (true, true) => bundle.invalid("only one of name and signerName may be used", errors),
        (true, false) => {
            if name.is_empty() {
                name.required("must be a valid object name", errors);
            }
            let of = name.text().rsplit_once(':').map(|(signer, _)| signer.replace(':', "/")).unwrap_or_default();
            for objection in bundle_name(&of, name.text()) {
                name.invalid(format!("not a valid clustertrustbundlename: {objection}"), errors);
            }
            if selector.is_set() {
                selector.invalid("labelSelector must be unset if name is specified", errors);
            }
        }
        (false, true) => {
            if signer.is_empty() {
                signer.required("must be a valid signer name", errors);
            }
            signer_name(signer, errors);
            if selector.is_set() {
                validate_structured(selector.path(), selector.value(), errors);
            }
        }
        (false, false) => bundle.required("either name or signerName must be specified", errors),
    }
    let path = bundle.field("path");
    path.set(errors);
    local_path(path.path(), path.text(), errors);
    paths.once(volume, path.text(), path.text(), errors);
}

/// Rules for a pod's own certificate.
pub(super) fn pod_certificate(volume: Path<'_>, certificate: At<'_, '_>, paths: &mut Paths, errors: &mut Errors) {
    let signer = certificate.field("signerName");
    signer_name(signer, errors);
    user_annotations(certificate.field("userAnnotations"), errors);
    certificate.field("keyType").supported(&KEY_TYPES, errors);
    let expiration = certificate.field("maxExpirationSeconds");
    if let Some(seconds) = expiration.number() {
        let bounds = lifetimes(signer.text());
        if seconds < *bounds.start() {
            expiration.invalid(format!("if provided, maxExpirationSeconds must be >= {}", bounds.start()), errors);
        }
        if seconds > *bounds.end() {
            expiration.invalid(format!("if provided, maxExpirationSeconds must be <= {}", bounds.end()), errors);
        }
    }
    let mut is_somewhere = false;
    for field in ["credentialBundlePath", "keyPath", "certificateChainPath"] {
        let path = certificate.field(field);
        if path.is_empty() {
            continue;
        }
        is_somewhere = true;
        local_path(path.path(), path.text(), errors);
        paths.once(volume, path.text(), path.text(), errors);
    }
    if !is_somewhere {
        certificate.required("specify at least one of credentialBundlePath, keyPath, and certificateChainPath", errors);
    }
}
