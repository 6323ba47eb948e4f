//! A parser of label and field selectors, independent of the server's, which is under test.

use crate::history::Request;
use serde_json::Value;

/// The label and field selectors of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector {
    requirements: Vec<Requirement>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    /// A label, or the name or namespace of the object.
    subject: Subject,
    /// The values it may have; `None` is any.
    values: Option<Vec<String>>,
    /// Whether the requirement is negated.
    negated: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Subject {
    Label(String),
    Metadata(String),
}

impl Selector {
    /// The selectors of a request; `None` if they ask for more than labels, name and namespace.
    pub fn of(request: &Request) -> Option<Selector> {
        let mut requirements = Vec::new();
        for part in split(request.parameter("labelSelector").unwrap_or_default()) {
            let requirement = requirement(part.trim());
            requirements.push(Requirement {
                subject: Subject::Label(requirement.0),
                values: requirement.1,
                negated: requirement.2,
            });
        }
        for part in split(request.parameter("fieldSelector").unwrap_or_default()) {
            let (field, values, negated) = requirement(part.trim());
            let field = field.strip_prefix("metadata.").filter(|field| ["name", "namespace"].contains(field))?;
            requirements.push(Requirement { subject: Subject::Metadata(field.to_owned()), values, negated });
        }
        Some(Selector { requirements })
    }

    /// Whether `object` is selected.
    pub fn selects(&self, object: &Value) -> bool {
        self.requirements.iter().all(|Requirement { subject, values, negated }| {
            let actual = match subject {
                Subject::Label(label) => &object["metadata"]["labels"][label],
                Subject::Metadata(field) => &object["metadata"][field],
            };
            let fits = actual
                .as_str()
                .is_some_and(|actual| values.as_ref().is_none_or(|values| values.iter().any(|value| value == actual)));
            fits != *negated
        })
    }
}

/// Splits at the commas outside of parentheses.
fn split(selector: &str) -> Vec<&str> {
    let mut depth = 0;
    let parts = selector.split(move |character| {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        character == ',' && depth == 0
    });
    parts.filter(|part| !part.trim().is_empty()).collect()
}

/// Subject, values, and whether the requirement is negated.
fn requirement(text: &str) -> (String, Option<Vec<String>>, bool) {
    for (operator, negated) in [("!=", true), ("==", false), ("=", false), (" notin ", true), (" in ", false)] {
        if let Some((subject, values)) = text.split_once(operator) {
            let values = values.trim().trim_matches(['(', ')']).split(',').map(|value| value.trim().to_owned());
            return (subject.trim().to_owned(), Some(values.collect()), negated);
        }
    }
    match text.strip_prefix('!') {
        Some(absent) => (absent.trim().to_owned(), None, true),
        None => (text.to_owned(), None, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn selects() {
        let object = json!({"metadata": {"name": "a", "labels": {"app": "x", "tier": "y"}}});
        for (parameter, selector, expected) in [
            ("labelSelector", "app=x", true),
            ("labelSelector", "app==x,tier!=y", false),
            ("labelSelector", "app in (w, x),tier", true),
            ("labelSelector", "app notin (w,x)", false),
            ("labelSelector", "other notin (w,x)", true),
            ("labelSelector", "!app", false),
            ("labelSelector", "!other", true),
            ("fieldSelector", "metadata.name=a", true),
            ("fieldSelector", "metadata.name!=a", false),
        ] {
            let request = Request { query: vec![(parameter.into(), selector.into())], ..Request::default() };
            assert_eq!(Selector::of(&request).unwrap().selects(&object), expected, "{selector}");
        }
        let request = Request { query: vec![("fieldSelector".into(), "spec.nodeName=n".into())], ..Request::default() };
        assert_eq!(Selector::of(&request), None);
    }
}
