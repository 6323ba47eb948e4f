//! Amounts of resources by name (`ResourceList`), and those that the containers of a pod have together.
//!
//! Follows `k8s.io/apiserver/pkg/quota/v1/resources.go` (v0.37.1) and `aggregateContainerResourcesByFn` of
//! `k8s.io/component-helpers/resource/helpers.go` (v0.37.1).

use crate::registry::quantity::{Quantity, amount};
use crate::registry::{items, text};
use std::collections::BTreeMap;
use tree::{Text, Value};

/// Amounts by the names of resources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Amounts(BTreeMap<Text, Quantity>);

impl Amounts {
    /// The amounts of a list in an object; none if it is absent.
    pub(crate) fn read(list: &Value) -> Amounts {
        let entries = list.as_object().into_iter().flatten();
        entries.map(|(name, value)| (name.clone(), amount(text(value, "")))).collect()
    }

    /// The amount of a resource.
    pub(crate) fn get(&self, name: &str) -> Option<&Quantity> {
        self.0.get(name)
    }

    /// Whether there is an amount of a resource.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All, by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Text, &Quantity)> {
        self.0.iter()
    }

    /// The names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Text> {
        self.0.keys()
    }

    /// Sets an amount.
    pub(crate) fn set(&mut self, name: impl Into<Text>, amount: Quantity) {
        self.0.insert(name.into(), amount);
    }

    /// Sets the amounts of another list that this one lacks.
    pub(crate) fn fill(&mut self, others: &Amounts) {
        for (name, amount) in others.iter() {
            self.0.entry(name.clone()).or_insert_with(|| amount.clone());
        }
    }

    /// Sets an amount to its sum with another one.
    pub(crate) fn increase(&mut self, name: impl Into<Text>, amount: &Quantity) {
        // An absent amount is copied, with its text.
        self.0.entry(name.into()).and_modify(|own| own.add(amount)).or_insert_with(|| amount.clone());
    }

    /// Adds those of another list (`Add`).
    pub(crate) fn add(&mut self, others: &Amounts) {
        others.iter().for_each(|(name, amount)| self.increase(name.clone(), amount));
    }

    /// Sets each amount to the greater one of both lists (`maxResourceList`).
    pub(crate) fn raise(&mut self, others: &Amounts) {
        for (name, amount) in others.iter() {
            if self.get(name).is_none_or(|own| amount > own) {
                self.set(name.clone(), amount.clone());
            }
        }
    }

    /// The amounts that this list has more than another one; 0 where it has less (`SubtractWithNonNegativeResult`).
    pub(crate) fn more_than(mut self, others: &Amounts) -> Amounts {
        for (name, own) in &mut self.0 {
            if let Some(other) = others.get(name) {
                own.subtract(other);
            }
            if *own < Quantity::ZERO {
                *own = Quantity::ZERO;
            }
        }
        self
    }

    /// The amounts whose names and values meet a condition.
    pub(crate) fn only(&self, condition: impl Fn(&str, &Quantity) -> bool) -> Amounts {
        let kept = self.iter().filter(|(name, amount)| condition(name, amount));
        kept.map(|(name, amount)| (name.clone(), amount.clone())).collect()
    }

    /// The list as an object has it.
    pub(crate) fn value(&self) -> Value {
        self.iter().map(|(name, amount)| (name.clone(), Value::from(&*amount.text()))).collect()
    }

    /// The list in messages (`prettyPrint`).
    pub(crate) fn shown(&self) -> String {
        self.iter().map(|(name, amount)| format!("{name}={amount}")).collect::<Vec<_>>().join(",")
    }
}

impl<N: Into<Text>> FromIterator<(N, Quantity)> for Amounts {
    fn from_iter<I: IntoIterator<Item = (N, Quantity)>>(entries: I) -> Amounts {
        Amounts(entries.into_iter().map(|(name, amount)| (name.into(), amount)).collect())
    }
}

/// The amounts that the containers of a pod's spec have together, of the list that `of` finds for each: those that run side by side are
/// added, and an init container needs its own while it runs, besides those of the sidecars that started before it.
pub(crate) fn of_containers<'p>(spec: &'p Value, of: impl Fn(&'p Value) -> &'p Value) -> Amounts {
    let mut total = Amounts::default();
    for container in items(spec, "/containers") {
        total.add(&Amounts::read(of(container)));
    }
    let (mut sidecars, mut most) = (Amounts::default(), Amounts::default());
    for container in items(spec, "/initContainers") {
        let mut own = Amounts::read(of(container));
        if text(container, "/restartPolicy") == "Always" {
            total.add(&own);
            sidecars.add(&own);
            most.raise(&sidecars);
        } else {
            own.add(&sidecars);
            most.raise(&own);
        }
    }
    total.raise(&most);
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn init_containers_need_what_runs_beside_them() {
        let container = |cpu: &str| json!({"resources": {"requests": {"cpu": cpu}}});
        let sidecar = |cpu: &str| json!({"restartPolicy": "Always", "resources": {"requests": {"cpu": cpu}}});
        for (init, wanted) in [
            (json!([]), "3"),
            (json!([container("5")]), "5"),
            (json!([sidecar("1"), container("2")]), "4"),
            (json!([sidecar("1"), container("5")]), "6"),
            (json!([container("5"), sidecar("1")]), "5"),
        ] {
            let spec = json!({"initContainers": init, "containers": [container("1"), container("2")]});
            let total = of_containers(&spec, |container| &container["resources"]["requests"]);
            assert_eq!(total.shown(), format!("cpu={wanted}"), "{spec}");
        }
    }

    #[test]
    fn differences_are_never_negative() {
        let amounts = |value: Value| Amounts::read(&value);
        let more = amounts(json!({"a": "2", "b": "1", "c": "1Gi"})).more_than(&amounts(json!({"a": "3", "b": "500m"})));
        assert_eq!(more.shown(), "a=0,b=500m,c=1Gi");
    }
}
