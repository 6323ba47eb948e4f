//! Paths of values in documents: `spec.containers[0].name`, `metadata.annotations[kubernetes.io/service-account.name]`.
//!
//! A dot separates fields; brackets hold an index, a key with dots of its own, or a field that selects an item of a list:
//! `resources[name=pods/status].verbs`. Common fields have a short form ([`SHORT_FORMS`]); a first field in brackets has
//! none: `[name]` is not `metadata.name`.

use serde_json::Value;
use std::fmt;

/// Short forms of a path's first field.
pub const SHORT_FORMS: [(&str, &str); 8] = [
    ("annotations", "metadata.annotations"),
    ("finalizers", "metadata.finalizers"),
    ("generation", "metadata.generation"),
    ("labels", "metadata.labels"),
    ("name", "metadata.name"),
    ("namespace", "metadata.namespace"),
    ("rv", "metadata.resourceVersion"),
    ("uid", "metadata.uid"),
];

/// A path as it was written, and the steps it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    written: String,
    steps: Vec<String>,
}

impl Path {
    /// Reads a path; the empty one is the whole document.
    pub fn parse(written: &str) -> Result<Path, String> {
        let mut steps = Vec::new();
        let mut rest = written;
        while !rest.is_empty() {
            let (step, remainder) = match rest.strip_prefix('[') {
                Some(bracketed) => {
                    bracketed.split_once(']').ok_or_else(|| format!("\"]\" is missing in {written:?}"))?
                }
                None => rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len())),
            };
            if step.is_empty() {
                return Err(format!("{written:?} is not a path"));
            }
            steps.push(step.to_owned());
            rest = remainder.strip_prefix('.').unwrap_or(remainder);
        }
        let first = steps.first().filter(|_| !written.starts_with('['));
        let long = first.and_then(|first| SHORT_FORMS.iter().find(|(short, _)| short == first));
        if let Some((_, long)) = long {
            steps.splice(..1, long.split('.').map(str::to_owned));
        }
        Ok(Path { written: written.to_owned(), steps })
    }

    /// The value at this path of `document`.
    pub fn find<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        self.steps.iter().try_fold(document, |value, step| match value {
            Value::Array(items) => match step.split_once('=') {
                Some((key, wanted)) => items.iter().find(|item| item[key] == wanted),
                None => items.get(step.parse::<usize>().ok()?),
            },
            other => other.get(step),
        })
    }

    /// Puts `value` at this path of `document`, creating the objects on the way.
    pub fn set(&self, document: &mut Value, value: Value) {
        let mut place = document;
        for step in &self.steps {
            let index = step.parse::<usize>().ok().filter(|index| place.get(index).is_some());
            if index.is_none() && !place.is_object() {
                *place = Value::Object(serde_json::Map::new());
            }
            place = match index {
                Some(index) => &mut place[index],
                None => &mut place[step.as_str()],
            };
        }
        *place = value;
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn finds_and_sets() {
        let mut document = json!({"metadata": {"uid": "1", "annotations": {"a.b/c": "x"}}, "items": [{"k": 1}, {"k": 2}],
                   "named": [{"name": "a"}, {"name": "b/c", "k": 2}]});
        for (path, expected) in [
            ("uid", Some(json!("1"))),
            ("metadata.uid", Some(json!("1"))),
            ("[uid]", None),
            ("annotations[a.b/c]", Some(json!("x"))),
            ("items[1].k", Some(json!(2))),
            ("items[2].k", None),
            ("named[name=b/c].k", Some(json!(2))),
            ("named[name=c]", None),
            ("nothing.here", None),
        ] {
            assert_eq!(Path::parse(path).unwrap().find(&document), expected.as_ref(), "{path}");
        }
        Path::parse("data[ca.crt]").unwrap().set(&mut document, json!("y"));
        assert_eq!(document["data"], json!({"ca.crt": "y"}));
        Path::parse("items[0].k").unwrap().set(&mut document, json!(9));
        assert_eq!(document["items"][0]["k"], json!(9));
        assert!(Path::parse("a[b").is_err() && Path::parse("a..b").is_err());
    }
}
