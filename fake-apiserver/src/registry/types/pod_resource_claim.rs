//! `PodResourceClaim`: the claims of a pod, each of an object or a template.
//!
//! Follows `validatePodResourceClaims` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use super::holder::Holder;
use crate::error::{Errors, Path};
use crate::object::name;
use crate::registry::cursor::At;
use crate::registry::is_mirror_pod;
use std::collections::HashSet;

/// Rules for the claims of a pod.
pub(super) fn pod_resource_claims(claims: At<'_, '_>, holder: Holder<'_>, errors: &mut Errors) {
    let is_mirror = matches!(holder, Holder::Pod(pod) if is_mirror_pod(pod));
    let mut names = HashSet::new();
    for claim in claims.items() {
        if is_mirror {
            errors.forbidden(Path::new("[]"), "static pods do not support resource claims");
            continue;
        }
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
