//! The name of a signer of certificates.
//!
//! Follows `pkg/apis/core/validation/names.go` (v1.37.1).

use crate::error::{Errors, FieldError};
use crate::object::name;
use crate::registry::cursor::At;
use crate::schema::quote;

const MAX_DOMAIN: usize = 253;
/// A domain, and a path of a namespace and a name.
const MAX: usize = MAX_DOMAIN + 1 + 253 + 63 + 1;

/// `ValidateSignerName`.
pub(in crate::registry) fn signer_name(at: At<'_, '_>, errors: &mut Errors) {
    if at.is_empty() {
        return at.required("", errors);
    }
    let [domain, path] = at.text().split('/').collect::<Vec<_>>()[..] else {
        return at.invalid("must be a fully qualified domain and path of the form 'example.com/signer-name'", errors);
    };
    if domain.len() > MAX_DOMAIN {
        errors.push(FieldError::too_long(at.path(), MAX_DOMAIN));
    }
    labels(at, domain, name::dns_label, errors);
    if !domain.contains('.') {
        at.invalid_value(domain, "should be a domain with at least two segments separated by dots", errors);
    }
    labels(at, path, name::dns_subdomain, errors);
    if at.text().len() > MAX {
        errors.push(FieldError::too_long(at.path(), MAX));
    }
}

/// Findings about the first label that breaks a rule.
fn labels(at: At<'_, '_>, segment: &str, rule: fn(&str) -> Vec<String>, errors: &mut Errors) {
    let mut bad = segment.split('.').map(|label| (label, rule(label))).filter(|(_, objections)| !objections.is_empty());
    let Some((label, objections)) = bad.next() else { return };
    for objection in objections {
        at.invalid_value(segment, format!("validating label {}: {objection}", quote(label)), errors);
    }
}

/// `IsKubernetesSignerName`.
pub(in crate::registry) fn is_kubernetes_signer(name: &str) -> bool {
    let host = name.split('/').next().unwrap_or_default();
    host == "kubernetes.io" || host.ends_with(".kubernetes.io")
}
