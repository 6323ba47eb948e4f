//! Role-based access control: what roles allow to those who are bound to them, at this very moment.
//!
//! ```text
//!   store ── events of the four kinds ──▶ Policy (parsed) ── visit ──▶ the first rule that allows
//! ```
//! The policy is brought up to date when it is asked, from a subscription: what was written before is seen, and nothing is parsed
//! twice. Ports `plugin/pkg/auth/authorizer/rbac` and the escalation check of `pkg/registry/rbac/validation` (v1.37.1).

mod covers;
mod policy;
mod rule;
#[cfg(test)]
mod tests;

pub use covers::missing;
pub use policy::{Policy, RoleRef, Unresolved};
pub use rule::Rule;

use super::User;
use super::authorizer::{Attributes, Authorizer, Decision, PathRule, ResourceRule, Rules, Target};
use crate::error::aggregate;
use crate::registry::ids;
use crate::schema::quote;
use crate::store::{Delivery, Entry, ResourceId, Scope, Store, Subscription};
use serde_json::Value;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard};

/// The kinds that make a policy, and how each goes into one and out of it.
const KINDS: [Kind; 4] = [
    Kind { resource: ids::CLUSTER_ROLES, set: Policy::set_role, remove: Policy::remove_role },
    Kind { resource: ids::ROLES, set: Policy::set_role, remove: Policy::remove_role },
    Kind { resource: ids::CLUSTER_ROLE_BINDINGS, set: Policy::set_binding, remove: Policy::remove_binding },
    Kind { resource: ids::ROLE_BINDINGS, set: Policy::set_binding, remove: Policy::remove_binding },
];

#[derive(Clone, Copy)]
struct Kind {
    resource: ResourceId,
    set: fn(&mut Policy, &str, &str, &Value),
    remove: fn(&mut Policy, &str, &str),
}

/// Decides by the roles and bindings in a store.
pub struct Rbac {
    store: Store,
    live: Mutex<Live>,
}

struct Live {
    policy: Policy,
    feeds: [(Kind, Subscription); KINDS.len()],
}

impl Rbac {
    /// Follows that store.
    pub fn new(store: Store) -> Rbac {
        let live = Mutex::new(Live::new(&store));
        Rbac { store, live }
    }

    /// The policy as it is now.
    fn live(&self) -> MutexGuard<'_, Live> {
        let mut live = self.live.lock().expect("no code that runs under this lock panics");
        live.catch_up(&self.store);
        live
    }

    /// The rules of a role that a binding in `namespace` refers to.
    ///
    /// # Errors
    /// If it is not there.
    pub fn rules_of(&self, role: &RoleRef, namespace: &str) -> Result<Vec<Rule>, Unresolved> {
        self.live().policy.rules_of(role, namespace).map(<[Rule]>::to_vec)
    }

    /// `ConfirmNoEscalation`: a user may grant these rules in a namespace only if they hold for the user already. `resource` is
    /// what the user writes.
    ///
    /// # Errors
    /// What the user lacks.
    pub fn confirm_no_escalation(
        &self,
        user: &User,
        namespace: &str,
        rules: &[Rule],
        resource: &str,
    ) -> Result<(), String> {
        let (owned, unresolved) = self.live().policy.rules_for(user, namespace);
        let missing = missing(&owned, rules);
        if missing.is_empty() {
            return Ok(());
        }
        let (name, groups) = (quote(&user.name), rule::quoted(&user.groups));
        let mut message = format!(
            "user {name} (groups={groups}) is attempting to grant RBAC permissions not currently held:\n{}",
            missing.join("\n")
        );
        if !unresolved.is_empty() {
            let errors = aggregate(unresolved.iter().map(|unresolved| unresolved.among(resource)));
            message.push_str(&format!("; resolution errors: [{errors}]"));
        }
        Err(message)
    }
}

impl Live {
    fn new(store: &Store) -> Live {
        let mut policy = Policy::default();
        let mut subscribe = |kind: Kind| {
            let scope = Scope { resource: kind.resource, namespace: None, name: None };
            let (snapshot, subscription) = store.subscribe(scope.clone(), None);
            snapshot.range(&scope, "").for_each(|entry| kind.take_in(&mut policy, entry));
            (kind, subscription)
        };
        let feeds = KINDS.map(&mut subscribe);
        Live { policy, feeds }
    }

    fn catch_up(&mut self, store: &Store) {
        for (kind, feed) in &mut self.feeds {
            while let Some(delivery) = feed.try_next() {
                match delivery {
                    Delivery::Event(event, _) => match &event.after {
                        Some(entry) => kind.take_in(&mut self.policy, entry),
                        None => (kind.remove)(&mut self.policy, event.key().namespace(), event.key().name()),
                    },
                    // The history was forgotten before anybody asked for it.
                    Delivery::Expired(_) => {
                        *self = Live::new(store);
                        return;
                    }
                }
            }
        }
    }
}

impl Kind {
    fn take_in(self, policy: &mut Policy, entry: &Entry) {
        // What is stored was serialised by this server.
        let object: Value = serde_json::from_slice(entry.json()).unwrap_or_default();
        (self.set)(policy, entry.key.namespace(), entry.key.name(), &object);
    }
}

impl Authorizer for Arc<Rbac> {
    fn authorize(&self, attributes: &Attributes<'_>) -> Decision {
        let namespace = match attributes.target {
            Target::Resource { namespace, .. } => namespace,
            Target::Path(_) => "",
        };
        let (mut allowed, mut errors) = (None, Vec::new());
        self.live().policy.visit(attributes.user, namespace, |found| {
            match found {
                Ok((source, rule)) if rule.allows(attributes) => {
                    allowed = Some(format!("RBAC: allowed by {source}"));
                    return ControlFlow::Break(());
                }
                Ok(_) => {}
                Err(unresolved) => errors.push(unresolved.by_kind()),
            }
            ControlFlow::Continue(())
        });
        match allowed {
            Some(reason) => Decision::Allow(reason),
            None if errors.is_empty() => Decision::NoOpinion(String::new()),
            None => Decision::NoOpinion(format!("RBAC: {}", aggregate(errors))),
        }
    }

    fn rules(&self, user: &User, namespace: &str) -> Rules {
        let (rules, unresolved) = self.live().policy.rules_for(user, namespace);
        let mut all = Rules { errors: unresolved.iter().map(Unresolved::by_kind).collect(), ..Rules::default() };
        for rule in rules {
            if !rule.paths.is_empty() {
                all.paths.push(PathRule { verbs: rule.verbs.clone(), paths: rule.paths });
            }
            if !rule.resources.is_empty() {
                all.resources.push(ResourceRule {
                    verbs: rule.verbs,
                    api_groups: rule.api_groups,
                    resources: rule.resources,
                    resource_names: rule.resource_names,
                });
            }
        }
        all
    }
}
