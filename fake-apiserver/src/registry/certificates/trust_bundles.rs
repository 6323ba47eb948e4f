//! Validation of trust bundles.
//!
//! Follows `pkg/apis/certificates/validation/validation.go` (v1.37.1).

use crate::error::{Errors, FieldError, Path};
use crate::object::{meta, name};
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::text;
use crate::registry::types::signer_name;
use crate::x509::{Certificate, pem};
use std::collections::BTreeMap;
use tree::Value;

/// `MaxTrustBundleSize`, in bytes.
const MAX_BUNDLE: usize = 1 << 20;
const OMITTED: &str = "<value omitted>";

/// `ValidateClusterTrustBundle` and `ValidateClusterTrustBundleUpdate`, without the metadata.
pub(super) fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let at = |bundle| At::object(bundle, "certificates.k8s.io/v1", "ClusterTrustBundle");
    if old.is_some() {
        let own = meta::name(new);
        errors.invalid_each(Path::new("metadata.name"), own, bundle_name(text(new, "/spec/signerName"), own));
    }
    let (new, old) = (at(new), old.map(at));
    let (signer, bundle) = (new.field("spec.signerName"), new.field("spec.trustBundle"));
    if !signer.is_empty() {
        signer_name(signer, errors);
    }
    if old.is_none_or(|old| old.field("spec.trustBundle").text() != bundle.text()) {
        trust_bundle(bundle, errors);
    }
    if let Some(old) = old {
        errors.covered("immutable", |errors| signer.immutable(&old.field("spec.signerName"), errors));
    }
}

/// `validateTrustBundle`.
fn trust_bundle(at: At<'_, '_>, errors: &mut Errors) {
    if at.text().len() > MAX_BUNDLE {
        return errors.push(FieldError::too_long(at.path(), MAX_BUNDLE));
    }
    let before = errors.len();
    let mut anchors: BTreeMap<Vec<u8>, Vec<String>> = BTreeMap::new();
    for (index, block) in pem::blocks(at.text().as_bytes()).enumerate() {
        let certificate = Certificate::parse(&block.content);
        let objection = match certificate {
            _ if block.label != "CERTIFICATE" => format!("has bad block type: {}", block.label),
            _ if block.has_headers => "has PEM block headers".into(),
            Err(_) => "does not parse as X.509".into(),
            Ok(certificate) if certificate.extensions.is_authority != Some(true) => {
                "does not have the CA bit set".into()
            }
            Ok(_) => {
                anchors.entry(block.content).or_default().push(index.to_string());
                continue;
            }
        };
        at.invalid_value(OMITTED, format!("entry {index} {objection}"), errors);
    }
    if errors.len() > before {
        return;
    }
    if anchors.is_empty() {
        at.invalid_value(OMITTED, "at least one trust anchor must be provided", errors);
    }
    for indices in anchors.values().filter(|indices| indices.len() > 1) {
        at.invalid_value(OMITTED, format!("duplicate trust anchor (indices [{}])", indices.join(" ")), errors);
    }
}

/// `ValidateClusterTrustBundleName`: a bundle of a signer has its name as prefix.
pub(in crate::registry) fn bundle_name(signer: &str, own: &str) -> Vec<String> {
    let prefix = format!("{}:", signer.replace('/', ":"));
    match (signer, own.strip_prefix(&prefix)) {
        ("", _) if own.contains(':') => {
            vec!["ClusterTrustBundle without signer name must not have \":\" in its name".into()]
        }
        ("", _) => name::dns_subdomain(own),
        (_, Some(rest)) => name::dns_subdomain(rest),
        (_, None) => vec![format!("ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}")],
    }
}
