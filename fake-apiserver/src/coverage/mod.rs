//! Coverage: the rules that are or were in force, and how each of them has decided. Nothing is counted unless a server is told to.
//!
//! ```text
//!   an object is stored ── declared.rs ──▶ its rules, with the outcomes that they can have
//!   a rule is asked ─────── count ───────▶ its outcome
//! ```

mod declared;
mod words;

pub(crate) use declared::{expression, of_role, place};
pub(crate) use words::{
    APPLIED, CALLED, CLUSTER_ROLE, DEFINITION, MUTATING_POLICY, MUTATING_WEBHOOKS, Owner, ROLE, VALIDATING_POLICY,
    VALIDATING_WEBHOOKS,
};

use words::{ALLOWED, FALSE, TRUE};

use control::CoveredRule;
use control::coverage::ERROR;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use tree::Value;

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

impl Owned {
    fn of(owner: Owner<'_>) -> Owned {
        Owned { kind: owner.kind, namespace: owner.namespace.to_owned(), name: owner.name.to_owned() }
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
        if let Some(count) = all.get_mut(&Owned::of(owner)).and_then(|rules| rules.get_mut(rule)?.get_mut(ALLOWED)) {
            *count += 1;
        }
    }

    fn note(&self, owner: Owner<'_>, rule: String, outcomes: &[&'static str], counted: Option<&'static str>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.entry(Owned::of(owner)).or_default().entry(rule).or_default();
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
