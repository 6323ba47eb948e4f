//! The name of a definition, and the annotation that approves it.
//!
//! Follows `ValidateCustomResourceDefinition` and `validateAPIApproval` of `pkg/apis/apiextensions/validation/validation.go`,
//! and `pkg/apihelpers/helpers.go` of `k8s.io/apiextensions-apiserver` (v0.37.1).

use crate::error::{Errors, Path};
use crate::object::{meta, name, url};
use crate::registry::text;
use crate::schema::quote;
use tree::Value;

/// `KubeAPIApprovedAnnotation`.
const APPROVED: &str = "api-approved.kubernetes.io";

/// The rule for names, and prefixes of generated ones.
pub(super) fn name(definition: &Value, name: &str) -> Vec<String> {
    let mut objections = name::dns_subdomain(name);
    if name != format!("{}.{}", text(definition, "/spec/names/plural"), text(definition, "/spec/group")) {
        objections.push("must be spec.names.plural+\".\"+spec.group".into());
    }
    objections
}

/// `APIApprovalState`, with two states for the approvals that are valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Approval {
    Invalid,
    Approved,
    Bypassed,
    Missing,
}

/// Whether a definition is approved, and why; `None`, if it need not be.
pub(crate) fn approval_of(definition: &Value) -> Option<(Approval, String)> {
    is_protected(text(definition, "/spec/group")).then(|| state(definition))
}

/// `GetAPIApprovalState`.
fn state(definition: &Value) -> (Approval, String) {
    let need = format!("protected groups must have approval annotation \"{APPROVED}\"");
    let see = "see https://github.com/kubernetes/enhancements/pull/1111";
    match meta::annotations(definition).get(APPROVED).unwrap_or_default() {
        "" => (Approval::Missing, format!("{need}, {see}")),
        reason if reason.starts_with("unapproved") => (Approval::Bypassed, format!("not approved: {}", quote(reason))),
        link if url::parse_request_uri(link).is_ok_and(|url| !url.host.is_empty() && !url.scheme.is_empty()) => {
            (Approval::Approved, format!("approved in {link}"))
        }
        _ => (Approval::Invalid, format!("{need} with either a URL or a reason starting with \"unapproved\", {see}")),
    }
}

/// `IsProtectedCommunityGroup`.
fn is_protected(group: &str) -> bool {
    ["k8s.io", "kubernetes.io"].iter().any(|own| {
        let rest = group.strip_suffix(own);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

/// `validateAPIApproval`: definitions of Kubernetes' own groups need an approval, or a reason for its absence.
pub(super) fn approval(definition: &Value, old: Option<&Value>, errors: &mut Errors) {
    let Some((approval, why)) = approval_of(definition) else { return };
    if old.is_some_and(|old| state(old).0 == approval) {
        return;
    }
    let at = Path::new("metadata.annotations");
    match approval {
        Approval::Approved | Approval::Bypassed => {}
        Approval::Missing => errors.required(at.key(APPROVED), &why),
        Approval::Invalid => {
            let link = meta::annotations(definition).get(APPROVED).unwrap_or_default();
            errors.invalid(at.key(APPROVED), link, why);
        }
    }
}
