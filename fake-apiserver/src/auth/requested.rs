//! The selectors of a request, as authorizers see them.
//!
//! Ports `AuthorizationAttributesFrom` of `pkg/registry/authorization/util/helpers.go` (v1.37.1), and the parts about selectors of
//! `endpoints/filters/authorization.go` and `plugin/pkg/authorizer/webhook/webhook.go` of `k8s.io/apiserver` (v0.37.1).

use crate::object::selector::{LabelSelector, field_requirements};
use crate::registry::strings;
use tree::Value;

/// The selectors of a request. They are read when an authorizer asks, which most do not.
#[derive(Debug, Clone, Copy)]
pub enum Selectors<'a> {
    /// As a request has them; empty for none.
    Written {
        /// The field selector.
        fields: &'a str,
        /// The label selector.
        labels: &'a str,
    },
    /// As the `resourceAttributes` of an access review have them.
    Reviewed(&'a Value),
}

/// A requirement, in the words of access reviews.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The field or label.
    pub key: String,
    /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
    pub operator: &'static str,
    /// The values.
    pub values: Vec<String>,
}

impl Default for Selectors<'_> {
    fn default() -> Self {
        Selectors::Written { fields: "", labels: "" }
    }
}

impl Selectors<'_> {
    /// The requirements on fields that can be evaluated; none of a malformed selector.
    pub fn fields(&self) -> Vec<Requirement> {
        match self {
            Selectors::Written { fields, .. } => of_fields(fields),
            Selectors::Reviewed(attributes) => of_review(&attributes["fieldSelector"], of_fields, of_field),
        }
    }

    /// The requirements on labels that can be evaluated; none of a malformed selector.
    pub fn labels(&self) -> Vec<Requirement> {
        match self {
            Selectors::Written { labels, .. } => of_labels(labels),
            Selectors::Reviewed(attributes) => of_review(&attributes["labelSelector"], of_labels, of_label),
        }
    }
}

fn of_fields(text: &str) -> Vec<Requirement> {
    let requirement = |(key, equal, value)| {
        let operator = if equal { "In" } else { "NotIn" };
        Requirement { key, operator, values: vec![value] }
    };
    field_requirements(text).into_iter().map(requirement).collect()
}

fn of_labels(text: &str) -> Vec<Requirement> {
    let selector = LabelSelector::parse(text).unwrap_or_default();
    let requirement = |(key, operator, values): (&str, &'static str, &[String])| Requirement {
        key: key.to_owned(),
        operator,
        values: values.to_vec(),
    };
    selector.structured_requirements().map(requirement).collect()
}

/// The requirements of a selector in a review, which has a text or requirements.
fn of_review(
    selector: &Value,
    of_text: fn(&str) -> Vec<Requirement>,
    of_item: fn(&Value) -> Option<Requirement>,
) -> Vec<Requirement> {
    match selector["requirements"].as_array() {
        Some(items) if !items.is_empty() => items.iter().filter_map(of_item).collect(),
        _ => of_text(selector["rawSelector"].as_str().unwrap_or_default()),
    }
}

/// The requirement of an item, which must have one value.
fn of_field(item: &Value) -> Option<Requirement> {
    let values = strings(&item["values"]);
    let operator = ["In", "NotIn"].into_iter().find(|operator| item["operator"] == *operator)?;
    (values.len() == 1).then(|| Requirement { key: key(item), operator, values })
}

fn of_label(item: &Value) -> Option<Requirement> {
    let known = ["In", "NotIn", "Exists", "DoesNotExist"];
    let operator = known.into_iter().find(|operator| item["operator"] == *operator)?;
    let mut values = strings(&item["values"]);
    values.sort();
    values.dedup();
    Some(Requirement { key: key(item), operator, values })
}

fn key(item: &Value) -> String {
    item["key"].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    fn shown(requirements: &[Requirement]) -> Vec<String> {
        let line = |one: &Requirement| format!("{} {} {}", one.key, one.operator, one.values.join(","));
        requirements.iter().map(line).collect()
    }

    #[test]
    fn selectors_of_requests_are_read() {
        let selectors = Selectors::Written { fields: "b!=2,a=1", labels: "z,y in (q,p),!x,w>3,v!=1" };
        assert_eq!(shown(&selectors.fields()), ["a In 1", "b NotIn 2"]);
        assert_eq!(shown(&selectors.labels()), ["v NotIn 1", "x DoesNotExist ", "y In p,q", "z Exists "]);
        let malformed = Selectors::Written { fields: "a", labels: "a in b" };
        assert!(malformed.fields().is_empty() && malformed.labels().is_empty());
        assert!(Selectors::default().fields().is_empty() && Selectors::default().labels().is_empty());
    }

    #[test]
    fn selectors_of_reviews_are_read() {
        let attributes = json!({
            "fieldSelector": {"requirements": [
                {"key": "a", "operator": "In", "values": ["1"]}, {"key": "b", "operator": "NotIn", "values": ["2"]},
                {"key": "c", "operator": "In", "values": ["1", "2"]}, {"key": "d", "operator": "Exists"},
            ]},
            "labelSelector": {"requirements": [
                {"key": "a", "operator": "In", "values": ["2", "1"]}, {"key": "b", "operator": "Near"},
                {"key": "c", "operator": "Exists"},
            ]},
        });
        let selectors = Selectors::Reviewed(&attributes);
        assert_eq!(shown(&selectors.fields()), ["a In 1", "b NotIn 2"]);
        assert_eq!(shown(&selectors.labels()), ["a In 1,2", "c Exists "]);
        let raw = json!({"fieldSelector": {"rawSelector": "a=1"}, "labelSelector": {"rawSelector": "a=1"}});
        assert_eq!(shown(&Selectors::Reviewed(&raw).fields()), ["a In 1"]);
        assert_eq!(shown(&Selectors::Reviewed(&raw).labels()), ["a In 1"]);
    }
}
