//! The words of coverage: kinds that have rules, outcomes, and the objects that have them.

/// The outcomes of an expression.
pub(super) const TRUE: &str = "true";
pub(super) const FALSE: &str = "false";
/// The outcome of a mutation.
pub(crate) const APPLIED: &str = "applied";
/// The outcome of a verb of a role.
pub(super) const ALLOWED: &str = "allowed";
/// The outcome of an operation of a webhook.
pub(crate) const CALLED: &str = "called";

/// The kinds of objects that have rules.
pub(crate) const KINDS: [&str; 7] =
    [VALIDATING_POLICY, MUTATING_POLICY, VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS, DEFINITION, CLUSTER_ROLE, ROLE];
pub(crate) const VALIDATING_POLICY: &str = "ValidatingAdmissionPolicy";
pub(crate) const MUTATING_POLICY: &str = "MutatingAdmissionPolicy";
pub(crate) const VALIDATING_WEBHOOKS: &str = "ValidatingWebhookConfiguration";
pub(crate) const MUTATING_WEBHOOKS: &str = "MutatingWebhookConfiguration";
pub(crate) const DEFINITION: &str = "CustomResourceDefinition";
pub(crate) const CLUSTER_ROLE: &str = "ClusterRole";
pub(crate) const ROLE: &str = "Role";

/// The object that has a rule: its kind, its namespace, and its name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner<'o> {
    pub(crate) kind: &'static str,
    pub(crate) namespace: &'o str,
    pub(crate) name: &'o str,
}

impl<'o> Owner<'o> {
    /// An object without a namespace.
    pub(crate) fn of_cluster(kind: &'static str, name: &'o str) -> Owner<'o> {
        Owner { kind, namespace: "", name }
    }
}
