//! The reasons why no request can be made of an object: no kind, no name, a name that another one has.

use super::finding_at;
use crate::documents::{Document, Place};
use crate::kinds::group_version;
use crate::verdict::{Finding, RuleKind, Verdict};
use machinery::schema::json_type;
use std::collections::BTreeMap;

/// The fields of metadata that are texts, and of which a request is made.
const TEXTS: [(&str, &str); 3] = [
    ("metadata.name", "/metadata/name"),
    ("metadata.generateName", "/metadata/generateName"),
    ("metadata.namespace", "/metadata/namespace"),
];

/// The objects so far, by group, kind, namespace and name.
#[derive(Default)]
pub(super) struct Known(BTreeMap<[String; 4], Place>);

impl Known {
    /// The reason why no request can be made of an object; otherwise it is known from now on.
    pub(super) fn refuses(&mut self, document: &Document, namespace: &str) -> Option<Finding> {
        let error = |field: &str, message: String| {
            let place = document.place_of(field);
            Some(finding_at(&place, Verdict::Error, RuleKind::Document, message))
        };
        let text = |pointer| document.text(pointer);
        let (api_version, kind, name) = (text("/apiVersion"), text("/kind"), text("/metadata/name"));
        for (value, field) in [(kind, "Kind"), (api_version, "apiVersion")] {
            if value.is_empty() {
                return error("", format!("Object '{field}' is missing"));
            }
        }
        // `y` and `no` are no text in YAML.
        for (field, pointer) in TEXTS {
            if let Some(other) = document.object.pointer(pointer).filter(|value| !value.is_null() && !value.is_string())
            {
                let message = format!(
                    "json: cannot unmarshal {} into Go struct field ObjectMeta.{field} of type string",
                    json_type(other)
                );
                return error(field, message);
            }
        }
        if name.is_empty() {
            return match text("/metadata/generateName") {
                "" => error("metadata", "resource name may not be empty".to_owned()),
                prefix => error("metadata.generateName", format!("from {prefix}: cannot use generate name with apply")),
            };
        }
        if let Some(why) = bad_segment(name) {
            return error("metadata.name", format!("invalid resource name {name:?}: [{why}]"));
        }
        let own = Some(text("/metadata/namespace")).filter(|own| !own.is_empty()).unwrap_or(namespace);
        let key = [group_version(api_version).0, kind, own, name].map(str::to_owned);
        match self.0.get(&key) {
            Some(first) => error("", format!("{kind} {name:?} is described twice: at {first}, too")),
            None => {
                self.0.insert(key, document.place.clone());
                None
            }
        }
    }
}

/// The reason why a name cannot be a segment of a path (`IsValidPathSegmentName` of `pkg/api/validation/path`, k8s.io/apimachinery v0.37.1).
fn bad_segment(name: &str) -> Option<String> {
    if [".", ".."].contains(&name) {
        return Some(format!("may not be '{name}'"));
    }
    let bad = ['/', '%'].into_iter().filter(|bad| name.contains(*bad));
    let reasons: Vec<String> = bad.map(|bad| format!("may not contain '{bad}'")).collect();
    (!reasons.is_empty()).then(|| reasons.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::read;

    #[test]
    fn objects_that_cannot_be_asked_about_are_refused() {
        let mut known = Known::default();
        let mut told = |text: &str| {
            let document = read("a.yaml", text.as_bytes()).remove(0).unwrap();
            known.refuses(&document, "default").map(|finding| format!("{} {}", finding.place.line, finding.message))
        };
        let object = |metadata: &str| format!("apiVersion: v1\nkind: Pod\nmetadata: {metadata}\n");
        assert_eq!(told(&object("{name: a}")), None);
        assert_eq!(told(&object("{name: a, namespace: b}")), None);
        for (text, expected) in [
            (object("{name: a, namespace: default}"), "1 Pod \"a\" is described twice: at a.yaml:1, too"),
            (object("{name: a/b%}"), "3 invalid resource name \"a/b%\": [may not contain '/' may not contain '%']"),
            (object("{generateName: a-}"), "3 from a-: cannot use generate name with apply"),
            (
                object("{name: y}"),
                "3 json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.name of type string",
            ),
            (
                object("{name: b, namespace: 1}"),
                "3 json: cannot unmarshal number into Go struct field ObjectMeta.metadata.namespace of type string",
            ),
            (object("{}"), "3 resource name may not be empty"),
            ("kind: Pod\n".to_owned(), "1 Object 'apiVersion' is missing"),
            ("a: 1\n".to_owned(), "1 Object 'Kind' is missing"),
        ] {
            assert_eq!(told(&text).as_deref(), Some(expected), "{text}");
        }
    }
}
