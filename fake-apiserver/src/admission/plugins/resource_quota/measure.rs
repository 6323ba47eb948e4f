//! The use of a quota by the objects of a namespace, for the controller that writes its status.
//!
//! Follows `CalculateUsage` of `pkg/quota/v1/resources.go` of k8s.io/apiserver (v0.37.1). Of resource claims only the number is measured.

use super::IGNORED;
use super::claims::Claims;
use super::evaluator::{Evaluator, Objects};
use super::pods::Pods;
use super::scopes::scopes;
use super::services::Services;
use crate::registry::{Amounts, Quantity};
use jiff::Timestamp;
use loops::{Measure, Resource};
use std::collections::BTreeMap;
use std::sync::Arc;
use tree::{Map, Value};

/// The measure of the objects of a namespace.
pub(crate) struct QuotaMeasure;

/// The evaluators of all kinds that have one of their own.
const OWN: [(&str, &str); 3] = [("", "pods"), ("", "services"), ("", "persistentvolumeclaims")];

fn evaluator(group: &str, plural: &str, now: Timestamp) -> Box<dyn Evaluator> {
    match (group, plural) {
        ("", "pods") => Box::new(Pods { now }),
        ("", "services") => Box::new(Services),
        ("", "persistentvolumeclaims") => Box::new(Claims),
        _ => Box::new(Objects::new(group, plural)),
    }
}

impl Measure for QuotaMeasure {
    fn used(&self, quota: &Value, objects: &mut dyn Iterator<Item = (&Resource, &Arc<Value>)>, now: Timestamp) -> Map {
        let hard = Amounts::read(&quota["spec"]["hard"]);
        let mut evaluators: BTreeMap<(String, String), Box<dyn Evaluator>> = BTreeMap::new();
        for (group, plural) in OWN {
            evaluators.insert((group.to_owned(), plural.to_owned()), evaluator(group, plural, now));
        }
        let mut used = Amounts::default();
        for (resource, object) in
            objects.filter(|(resource, _)| !IGNORED.contains(&(&*resource.group, &*resource.plural)))
        {
            let key = (resource.group.to_string(), resource.plural.to_string());
            let of_kind = evaluators.entry(key).or_insert_with(|| evaluator(&resource.group, &resource.plural, now));
            if scopes(quota).all(|scope| of_kind.is_in_scope(&scope, object)) {
                used.add(&of_kind.usage(object).only(|name, _| hard.has(name)));
            }
        }
        for name in hard.names() {
            let is_measured =
                name.starts_with("count/") || evaluators.values().any(|one| one.measures(name)) || is_number(name);
            if is_measured && !used.has(name) {
                used.set(name.clone(), Quantity::count(0));
            }
        }
        used.value().as_object().cloned().unwrap_or_default()
    }
}

/// Whether a resource is the number of the objects of a kind, by its old name.
fn is_number(name: &str) -> bool {
    super::evaluator::ALIASED.contains(&name)
}
