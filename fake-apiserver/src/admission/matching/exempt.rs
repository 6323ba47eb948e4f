//! Writes that webhooks and policies do not see.
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

/// Whether webhooks do not see a write: it is a question, or configures webhooks or policies.
pub(crate) fn from_webhooks(write: &Attributes<'_>) -> bool {
    from_policies(write) || write.kind.group == GROUP && WEBHOOKS.contains(&write.kind.kind)
}

/// Whether policies do not see a write: it is a question, or configures policies.
pub(crate) fn from_policies(write: &Attributes<'_>) -> bool {
    write.kind.group == GROUP && POLICIES.contains(&write.kind.kind)
        || EXCLUDED.contains(&(&*write.version.group, &*write.version.plural))
}
