//! The digest of roles: the rules of a role, and the selectors of those whose rules it gathers.

use super::{items, strings};
use crate::object::selector::LabelSelector;
use crate::store::{Digest, Entry};
use std::sync::Arc;
use tree::{Map, Value};

/// `PolicyRule`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Rule {
    /// Verbs; `*` for all.
    pub verbs: Vec<String>,
    /// API groups; `*` for all.
    pub api_groups: Vec<String>,
    /// `resource`, `resource/subresource` or `*/subresource`; `*` for all.
    pub resources: Vec<String>,
    /// Names of objects; empty for all.
    pub resource_names: Vec<String>,
    /// Non-resource URLs; a final `*` stands for any rest.
    pub paths: Vec<String>,
}

/// `Role` or `ClusterRole`.
#[derive(Debug)]
pub struct Role {
    /// The rules.
    pub rules: Box<[Rule]>,
    /// The selectors of the roles whose rules it gathers (`aggregationRule`); `None` if it gathers none, or one of them is invalid.
    pub gathers: Option<Box<[LabelSelector]>>,
}

/// The memory of a list, and of a text in one, besides its own content.
const PER_LIST: usize = size_of::<Vec<String>>();

impl Rule {
    /// The rules of a role.
    pub fn all_of(role: &Value) -> Vec<Rule> {
        items(role, "/rules")
            .iter()
            .map(|rule| Rule {
                verbs: strings(&rule["verbs"]),
                api_groups: strings(&rule["apiGroups"]),
                resources: strings(&rule["resources"]),
                resource_names: strings(&rule["resourceNames"]),
                paths: strings(&rule["nonResourceURLs"]),
            })
            .collect()
    }

    /// The lists, by the names of their fields.
    fn lists(&self) -> [(&'static str, &Vec<String>); 5] {
        [
            ("verbs", &self.verbs),
            ("apiGroups", &self.api_groups),
            ("resources", &self.resources),
            ("resourceNames", &self.resource_names),
            ("nonResourceURLs", &self.paths),
        ]
    }

    /// The rule as a role has it.
    pub fn value(&self) -> Value {
        let lists = self.lists().into_iter().filter(|(_, list)| !list.is_empty());
        Value::Object(
            lists.map(|(name, list)| (name, list.iter().map(|text| Value::from(&**text)).collect())).collect::<Map>(),
        )
    }

    /// The memory that it takes, in bytes.
    fn bytes(&self) -> usize {
        let of_list = |list: &Vec<String>| PER_LIST + list.iter().map(|text| PER_LIST + text.len()).sum::<usize>();
        self.lists().into_iter().map(|(_, list)| of_list(list)).sum()
    }
}

impl Role {
    /// A role.
    fn of(role: &Value) -> Role {
        let selectors = items(role, "/aggregationRule/clusterRoleSelectors").iter().map(LabelSelector::structured);
        let gathers = Some(selectors).filter(|_| !role["aggregationRule"].is_null());
        Role { rules: Rule::all_of(role).into(), gathers: gathers.and_then(|selectors| selectors.collect()) }
    }

    /// A stored role: the digest that it was stored with, or one made now, of the small ones that a server starts with.
    pub fn stored(entry: &Entry) -> Arc<Role> {
        entry.digest().unwrap_or_else(|| Arc::new(Role::of(&entry.object())))
    }
}

/// The digest of a role.
pub(super) fn digest(role: &Value) -> Digest {
    let role = Role::of(role);
    let bytes = role.rules.iter().map(Rule::bytes).sum();
    Digest::new(role, bytes)
}
