//! Paths below a domain, such as `acme.io/foo`.
//!
//! Ports `IsDomainPrefixedPath` of `k8s.io/apimachinery/pkg/util/validation/validation.go` (v0.37.1).

use super::name;
use crate::error::{Errors, Path};

/// Rules for a text that has to be a path below a domain.
pub fn domain_prefixed_path(at: Path<'_>, text: &str, errors: &mut Errors) {
    let (domain, path) = match text.split_once('/') {
        _ if text.is_empty() => return errors.required(at, ""),
        Some((domain, path)) if !domain.is_empty() && !path.is_empty() => (domain, path),
        _ => return errors.invalid(at, text, "must be a domain-prefixed path (such as \"acme.io/foo\")"),
    };
    errors.invalid_each(at, domain, name::dns_subdomain(domain));
    if !path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&byte)) {
        let detail = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
        errors.invalid(at, path, detail);
    }
}
