//! Misbehaviour on demand: a closed list of named faults, and what they strike.

use std::sync::Mutex;
use std::time::Duration;

/// A rule: what strikes whom, how often.
#[derive(Debug, Clone)]
pub struct Fault {
    /// Which requests it strikes.
    pub when: Match,
    /// What it does to them.
    pub what: Action,
    /// How many requests it strikes before it is spent; none for all.
    pub times: Option<u32>,
}

/// A pattern of requests. An empty text matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Match {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// Plural resource.
    pub resource: String,
    /// Subresource.
    pub subresource: String,
    /// Namespace.
    pub namespace: String,
    /// Name of the object, as in the path.
    pub name: String,
    /// Name of the user.
    pub user: String,
    /// Beginning of the User-Agent.
    pub user_agent: String,
}

/// What a fault does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Answers so instead of serving the request.
    Status {
        /// HTTP status and `code`.
        code: u16,
        /// Seconds for `Retry-After`; 0 for none.
        retry_after_seconds: u32,
    },
    /// Serves the request after a while.
    Delay(Duration),
}

/// The rules in force. The first that matches strikes.
#[derive(Debug, Default)]
pub struct Faults(Mutex<Vec<Fault>>);

impl Faults {
    /// Adds a rule behind those there are.
    pub fn add(&self, fault: Fault) {
        self.rules().push(fault);
    }

    /// Removes all rules.
    pub fn clear(&self) {
        self.rules().clear();
    }

    /// What is to happen to a request; the rule that says so is used up by one.
    pub(crate) fn strike(&self, request: &Match) -> Option<Action> {
        let mut rules = self.rules();
        let index = rules.iter().position(|fault| fault.when.matches(request) && fault.times != Some(0))?;
        let action = rules[index].what.clone();
        if let Some(times) = &mut rules[index].times {
            *times -= 1;
            if *times == 0 {
                rules.remove(index);
            }
        }
        Some(action)
    }

    /// Whether nothing can strike.
    pub(crate) fn is_empty(&self) -> bool {
        self.rules().is_empty()
    }

    fn rules(&self) -> std::sync::MutexGuard<'_, Vec<Fault>> {
        self.0.lock().expect("no holder of this lock can panic")
    }
}

impl Match {
    fn matches(&self, request: &Match) -> bool {
        let same = |wanted: &str, actual: &str| wanted.is_empty() || wanted == actual;
        same(&self.verb, &request.verb)
            && same(&self.resource, &request.resource)
            && same(&self.subresource, &request.subresource)
            && same(&self.namespace, &request.namespace)
            && same(&self.name, &request.name)
            && same(&self.user, &request.user)
            && request.user_agent.starts_with(&self.user_agent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_strikes_as_often_as_it_says_and_then_the_next_does() {
        let faults = Faults::default();
        let create = |resource: &str| Match { verb: "create".into(), resource: resource.into(), ..Match::default() };
        let status = |code| Action::Status { code, retry_after_seconds: 0 };
        faults.add(Fault { when: create("secrets"), what: status(403), times: Some(2) });
        faults.add(Fault { when: create(""), what: status(500), times: None });
        let struck: Vec<_> = ["secrets", "pods", "secrets", "secrets"].map(|r| faults.strike(&create(r))).into();
        assert_eq!(struck, [Some(status(403)), Some(status(500)), Some(status(403)), Some(status(500))]);
        faults.clear();
        assert_eq!(faults.strike(&create("secrets")), None);
    }
}
