//! Coverage: the rules that are or were in force, and how each of them has decided. Nothing is counted unless a server is told to.
//!
//! ```text
//!   an object is stored ── declared.rs ──▶ its rules, with the outcomes that they can have
//!   a rule is asked ─────── count ───────▶ its outcome
//! ```

mod declared;

pub(crate) use declared::{expression, of_role, place};

use control::CoveredRule;
use control::coverage::ERROR;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use tree::Value;

/// The outcomes of an expression.
const TRUE: &str = "true";
const FALSE: &str = "false";
/// The outcome of a mutation.
pub(crate) const APPLIED: &str = "applied";
/// The outcome of a verb of a role.
const ALLOWED: &str = "allowed";
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

/// The rules, and their outcomes.
#[derive(Debug, Default)]
pub(crate) struct Coverage(Mutex<BTreeMap<Owned, BTreeMap<String, Outcomes>>>);

/// The numbers of outcomes, by their names.
type Outcomes = BTreeMap<&'static str, u64>;

/// The object that has a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Owned {
    kind: &'static str,
    namespace: String,
    name: String,
}

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

    fn owned(self) -> Owned {
        Owned { kind: self.kind, namespace: self.namespace.to_owned(), name: self.name.to_owned() }
    }
}

impl Coverage {
    /// Takes note of the rules that an object has, unless every cluster has that object.
    pub(crate) fn declare(&self, object: &Value) {
        let Some((owner, rules)) = declared::rules(object) else { return };
        for (rule, outcomes) in rules {
            self.note(owner, rule, outcomes, None);
        }
    }

    /// Counts an outcome of a rule.
    pub(crate) fn count(&self, owner: Owner<'_>, rule: String, outcome: &'static str) {
        self.note(owner, rule, &[outcome], Some(outcome));
    }

    /// Counts a value of an expression, `None` if it has none but an error. `what` it is stands before its text.
    pub(crate) fn decided(&self, owner: Owner<'_>, what: &str, text: &str, value: Option<bool>) {
        let outcome = match value {
            Some(true) => TRUE,
            Some(false) => FALSE,
            None => ERROR,
        };
        self.note(owner, declared::expression(what, text), declared::VALUES, Some(outcome));
    }

    /// Counts that a verb of a role allowed a request, unless every cluster has that role.
    pub(crate) fn allowed(&self, owner: Owner<'_>, rule: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = all.get_mut(&owner.owned()).and_then(|rules| rules.get_mut(rule)?.get_mut(ALLOWED)) {
            *count += 1;
        }
    }

    fn note(&self, owner: Owner<'_>, rule: String, outcomes: &[&'static str], counted: Option<&'static str>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.entry(owner.owned()).or_default().entry(rule).or_default();
        for outcome in outcomes.iter().copied() {
            known.entry(outcome).or_default();
        }
        if let Some(outcome) = counted {
            *known.entry(outcome).or_default() += 1;
        }
    }

    /// The rules with their outcomes, by object.
    pub(crate) fn rules(&self) -> Vec<CoveredRule> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rules = all.iter().flat_map(|(owner, rules)| rules.iter().map(move |rule| (owner, rule)));
        let covered = |(owner, (rule, outcomes)): (&Owned, (&String, &Outcomes))| CoveredRule {
            kind: owner.kind.to_owned(),
            namespace: owner.namespace.clone(),
            name: owner.name.clone(),
            rule: rule.clone(),
            outcomes: outcomes.iter().map(|(outcome, count)| ((*outcome).to_owned(), *count)).collect(),
        };
        rules.map(covered).collect()
    }
}
