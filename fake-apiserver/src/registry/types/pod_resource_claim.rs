//! `PodResourceClaim`: the claims of a pod, each of an object or a template.
//!
//! Follows `validatePodResourceClaims` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use crate::error::Errors;
use crate::object::name;
use crate::registry::cursor::At;
use std::collections::HashSet;

/// Rules for the claims of a pod.
pub(super) fn pod_resource_claims(claims: At<'_, '_>, errors: &mut Errors) {
    let mut names = HashSet::new();
    for claim in claims.items() {
        let own = claim.field("name");
        match own.text() {
            "" => own.required("", errors),
            text if !names.insert(text) => own.duplicate(errors),
            _ => own.follows(name::dns_label, errors),
        }
        let sources = ["resourceClaimName", "resourceClaimTemplateName"].map(|source| claim.field(source));
        match sources.iter().filter(|source| source.is_set()).count() {
            0 => claim.invalid("must specify one of: `resourceClaimName`, `resourceClaimTemplateName`", errors),
            1 => {}
            _ => {
                let detail = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
                claim.invalid(detail, errors);
            }
        }
        for source in sources.iter().filter(|source| source.is_set()) {
            source.follows(name::dns_subdomain, errors);
        }
    }
}
