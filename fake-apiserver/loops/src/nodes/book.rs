//! The rules for pods that are in force: those of objects in the namespace of a pod, by name, and then those that were given at the start.

use super::rules::{Fate, Rules, without};
use crate::objects::{Change, Objects};
use crate::resource::{Key, Resource};
use crate::workloads::facts::read;
use machinery::object::meta;
use std::collections::BTreeMap;
use tree::Value;

/// Rules as objects: `spec.rules` has their text.
pub(crate) const RULES: Resource = Resource::new("rules.fake-apiserver.test", "v1", "podrules");

/// All rules.
#[derive(Debug, Clone, Default)]
pub(crate) struct Book {
    given: Rules,
    /// Those of objects, by namespace and name; or what is wrong with them.
    objects: BTreeMap<Key, Result<Rules, String>>,
}

impl Book {
    /// The rules that were given.
    pub(crate) fn of(given: Rules) -> Book {
        Book { given, objects: BTreeMap::new() }
    }

    /// Takes note of a change, and whether it is one of rules.
    pub(crate) fn note(&mut self, change: &Change<'_>) -> bool {
        if *change.resource != RULES {
            return false;
        }
        match change.new {
            Some(object) => {
                let rules = read::text(object, "/spec/rules").parse::<Rules>().map_err(|error| error.to_string());
                self.objects.insert(change.key.clone(), rules);
            }
            None => drop(self.objects.remove(change.key)),
        }
        true
    }

    /// The error in the rules of an object, if there is one.
    pub(super) fn mistake(&self, key: &Key) -> Option<&str> {
        self.objects.get(key)?.as_ref().err().map(String::as_str)
    }

    /// The fate of a pod.
    pub(super) fn fate(&self, pod: &Value, objects: &Objects) -> Fate {
        self.ruled(pod, objects).cloned().unwrap_or_else(|| without(pod))
    }

    /// Whether a rule is about a pod.
    pub(super) fn rules(&self, pod: &Value, objects: &Objects) -> bool {
        self.ruled(pod, objects).is_some()
    }

    fn ruled(&self, pod: &Value, objects: &Objects) -> Option<&Fate> {
        let first = Key { namespace: meta::namespace(pod).to_owned(), name: String::new() };
        let of_namespace = self.objects.range(first..).take_while(|(key, _)| key.namespace == meta::namespace(pod));
        let mut rules = of_namespace.filter_map(|(_, rules)| rules.as_ref().ok());
        rules.find_map(|rules| rules.fate(pod, objects)).or_else(|| self.given.fate(pod, objects))
    }

    /// The use of a resource by each container of a pod, in thousandths, if a rule says so.
    pub(crate) fn usage(&self, pod: &Value, resource: &str, objects: &Objects) -> Option<i64> {
        let usage = &self.ruled(pod, objects)?.usage;
        usage.iter().find(|(name, _)| name == resource).map(|(_, amount)| *amount)
    }
}
