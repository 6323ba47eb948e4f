//! Writes that webhooks and policies do not see, or those in files alone.
//!
//! Follows `pkg/kubeapiserver/admission/exclusion/resources.go` (v1.37.1) and `IsExemptAdmissionConfigurationResource` of
//! `k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules/rules.go` (v0.37.1).

use crate::admission::Attributes;
use crate::registry::EXCLUDED;

/// The group of the configurations of admission.
const GROUP: &str = "admissionregistration.k8s.io";
/// The policies and their bindings.
const POLICIES: [&str; 4] = [
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
];
/// The configurations of webhooks.
const WEBHOOKS: [&str; 2] = ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"];

/// The webhooks or policies that see a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sight {
    Nothing,
    /// Those in files alone: they cannot be locked out by what the write is about.
    Files,
    All,
}

/// The webhooks that see a write: none, if it is a question; those in files, if it configures webhooks or policies.
pub(crate) fn of_webhooks(write: &Attributes<'_>) -> Sight {
    match of_policies(write) {
        Sight::All if write.kind.group == GROUP && WEBHOOKS.contains(&write.kind.kind) => Sight::Files,
        sight => sight,
    }
}

/// The policies that see a write: none, if it is a question; those in files, if it configures policies.
pub(crate) fn of_policies(write: &Attributes<'_>) -> Sight {
    if EXCLUDED.contains(&(&*write.version.group, &*write.version.plural)) {
        return Sight::Nothing;
    }
    match write.kind.group == GROUP && POLICIES.contains(&write.kind.kind) {
        true => Sight::Files,
        false => Sight::All,
    }
}
