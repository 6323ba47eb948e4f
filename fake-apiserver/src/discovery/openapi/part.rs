//! Parts of OpenAPI documents of version 2: what servers that extend this one say of their API, which is merged into what this one says.
//!
//! Follows `FilterSpecByPathsWithoutSideEffects` and `mergeSpecs` of `pkg/aggregator/aggregator.go` of `k8s.io/kube-openapi`
//! (v0.0.0-20260821135717-be32def86098). Texts stay as they come, so that their keys keep their order; only names in references change.

use super::document::Document;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

const DEFINITIONS: &str = "\"#/definitions/";
const PARAMETERS: &str = "\"#/parameters/";
/// The kinds that a definition is of.
const KINDS: &str = "x-kubernetes-group-version-kind";

/// A part: texts in JSON by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Part {
    paths: BTreeMap<String, String>,
    definitions: BTreeMap<String, String>,
    parameters: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Whole {
    #[serde(default)]
    paths: BTreeMap<String, Box<RawValue>>,
    #[serde(default)]
    definitions: BTreeMap<String, Box<RawValue>>,
    #[serde(default)]
    parameters: BTreeMap<String, Box<RawValue>>,
}

impl Part {
    /// The part of a document that is about paths with that beginning; `None` if that is not a document.
    pub(crate) fn of(json: &[u8], prefix: &str) -> Option<Part> {
        let whole: Whole = serde_json::from_slice(json).ok()?;
        let texts = |all: BTreeMap<String, Box<RawValue>>| -> BTreeMap<String, String> {
            all.into_iter().map(|(name, text)| (name, text.get().to_owned())).collect()
        };
        let all = Part {
            paths: texts(whole.paths),
            definitions: texts(whole.definitions),
            parameters: texts(whole.parameters),
        };
        Some(all.kept(|path| path.starts_with(prefix)))
    }

    /// The part about some paths. Definitions that only others need are left out.
    fn kept(self, keeps: impl Fn(&str) -> bool) -> Part {
        let before = self.used();
        let Part { mut paths, definitions, parameters } = self;
        paths.retain(|path, _| keeps(path));
        let mut kept = Part { paths, definitions, parameters };
        let used = kept.used();
        kept.definitions.retain(|name, _| used.contains(name) || !before.contains(name));
        kept
    }

    /// The names of the definitions that paths refer to, directly or by others.
    fn used(&self) -> BTreeSet<String> {
        let mut used = BTreeSet::new();
        let texts = self.paths.values().chain(self.parameters.values());
        let mut open: Vec<&str> = texts.flat_map(|text| references(text)).collect();
        while let Some(name) = open.pop() {
            if used.insert(name.to_owned())
                && let Some(text) = self.definitions.get(name)
            {
                open.extend(references(text));
            }
        }
        used
    }

    /// Whether it says nothing.
    fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }
}

/// The names of definitions in the references of a text.
fn references(text: &str) -> impl Iterator<Item = &str> {
    text.split(DEFINITIONS).skip(1).filter_map(|rest| rest.split('"').next())
}

/// Adds a part to a document. A path that the document has stays; what has another meaning there gets another name.
pub(super) fn merge(document: &mut Document, part: &Part) {
    let part = match part.paths.keys().any(|path| document.paths.contains_key(path)) {
        true => Cow::Owned(part.clone().kept(|path| !document.paths.contains_key(path))),
        false => Cow::Borrowed(part),
    };
    if part.is_empty() {
        return;
    }
    let models = renames(&document.models, &part.definitions, |one, other| without_kinds(one) == without_kinds(other));
    let parameters = renames(&document.parameters, &part.parameters, |one, other| value(one) == value(other));
    let renamed = |text: &str| rename(rename(text.to_owned(), DEFINITIONS, &models), PARAMETERS, &parameters);
    for (name, text) in &part.definitions {
        let (name, text) = (models.get(name).unwrap_or(name), renamed(text));
        match document.models.get_mut(name) {
            None => drop(document.models.insert(name.clone(), text.into())),
            Some(known) => {
                if let Some(merged) = with_kinds(known, &text) {
                    *known = merged.into();
                }
            }
        }
    }
    for (name, text) in &part.parameters {
        let name = parameters.get(name).unwrap_or(name);
        document.parameters.entry(name.clone()).or_insert_with(|| renamed(text).into());
    }
    let paths = part.paths.iter().map(|(path, text)| (path.clone(), renamed(text)));
    document.paths.extend(paths);
}

/// The other names of what has another meaning already: `NAME_v2`, and so on.
fn renames(
    present: &BTreeMap<String, Cow<'static, str>>,
    new: &BTreeMap<String, String>,
    is_same: impl Fn(&str, &str) -> bool,
) -> BTreeMap<String, String> {
    let mut renames: BTreeMap<String, String> = BTreeMap::new();
    for (name, text) in new {
        if present.get(name).is_none_or(|known| is_same(known, text)) {
            continue;
        }
        let names = (2..).map(|number| format!("{name}_v{number}"));
        let is_taken = |other: &String| new.contains_key(other) || renames.values().any(|used| used == other);
        let mut free = names.filter(|other| match present.get(other) {
            Some(known) => is_same(known, text),
            None => !is_taken(other),
        });
        let other = free.next().expect("there is always another number");
        renames.insert(name.clone(), other);
    }
    renames
}

/// A text whose references to what has another name have that.
fn rename(text: String, prefix: &str, renames: &BTreeMap<String, String>) -> String {
    if renames.is_empty() || !text.contains(prefix) {
        return text;
    }
    let mut pieces = text.split(prefix);
    let mut renamed = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once('"').unwrap_or((piece, ""));
        renamed.push_str(prefix);
        renamed.push_str(renames.get(name).map_or(name, String::as_str));
        renamed.push('"');
        renamed.push_str(rest);
    }
    renamed
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

/// A definition, apart from the kinds that it is of.
fn without_kinds(text: &str) -> Value {
    let mut value = value(text);
    if let Some(fields) = value.as_object_mut() {
        fields.remove(KINDS);
    }
    value
}

/// A definition with the kinds of another one, too, if it lacks some.
fn with_kinds(known: &str, other: &str) -> Option<String> {
    let kinds = |text: &str| value(text).get(KINDS).and_then(Value::as_array).cloned();
    let new = kinds(other)?;
    let Some(mut all) = kinds(known) else {
        let open = known.trim_end().strip_suffix('}')?;
        return Some(format!("{open},\"{KINDS}\":{}}}", Value::Array(new)));
    };
    let count = all.len();
    for kind in new {
        if !all.contains(&kind) {
            all.push(kind);
        }
    }
    if all.len() == count {
        return None;
    }
    let key = |kind: &Value| {
        let text = |field: &str| kind[field].as_str().unwrap_or_default().to_owned();
        format!("{}/{}.{}", text("group"), text("version"), text("kind"))
    };
    all.sort_by_key(key);
    // The list is where it was.
    let at = known.rfind(&format!("\"{KINDS}\""))?;
    let start = at + known[at..].find('[')?;
    let mut list = serde_json::Deserializer::from_str(&known[start..]).into_iter::<serde::de::IgnoredAny>();
    list.next()?.ok()?;
    let end = start + list.byte_offset();
    Some(format!("{}{}{}", &known[..start], Value::Array(all), &known[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: &str = r##"{"swagger":"2.0","paths":{
        "/apis/":{"get":{"schema":{"$ref":"#/definitions/List"}}},
        "/apis/g/v1/things":{"get":{"schema":{"$ref":"#/definitions/Thing"},"parameters":[{"$ref":"#/parameters/p"}]}}},
        "definitions":{"Thing":{"properties":{"a":{"$ref":"#/definitions/Same"},"b":{"$ref":"#/definitions/Odd"}}},
        "Same":{"type":"object","x-kubernetes-group-version-kind":[{"group":"g","kind":"Same","version":"v1"}]},
        "Odd":{"type":"string"},"List":{"type":"object"},"Free":{"type":"null"}},
        "parameters":{"p":{"in":"query"}}}"##;

    fn document() -> Document {
        let texts =
            |all: &[(&str, &str)]| all.iter().map(|(name, text)| ((*name).into(), (*text).to_owned())).collect();
        let models =
            |all: &[(&str, &'static str)]| all.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect();
        let same =
            r#"{"type":"object","x-kubernetes-group-version-kind":[{"group":"z","kind":"Same","version":"v1"}]}"#;
        Document {
            paths: texts(&[("/api/", "{}")]),
            models: models(&[("Same", same), ("Odd", r#"{"type":"integer"}"#), ("Odd_v2", r#"{"type":"null"}"#)]),
            parameters: models(&[("p", r#"{"in":"path"}"#)]),
            describes_built_in: true,
        }
    }

    #[test]
    fn a_part_is_merged_and_what_has_another_meaning_is_renamed() {
        let part = Part::of(OTHER.as_bytes(), "/apis/g/v1/").unwrap();
        assert_eq!(part.definitions.keys().collect::<Vec<_>>(), ["Free", "Odd", "Same", "Thing"]);
        let mut document = document();
        merge(&mut document, &part);
        let text = |name: &str| document.models[name].to_string();
        assert_eq!(
            text("Same"),
            r#"{"type":"object","x-kubernetes-group-version-kind":[{"group":"g","kind":"Same","version":"v1"},{"group":"z","kind":"Same","version":"v1"}]}"#
        );
        assert_eq!((text("Odd"), text("Odd_v3")), (r#"{"type":"integer"}"#.into(), r#"{"type":"string"}"#.into()));
        assert_eq!(
            text("Thing"),
            r##"{"properties":{"a":{"$ref":"#/definitions/Same"},"b":{"$ref":"#/definitions/Odd_v3"}}}"##
        );
        assert_eq!(
            document.paths["/apis/g/v1/things"],
            r##"{"get":{"schema":{"$ref":"#/definitions/Thing"},"parameters":[{"$ref":"#/parameters/p_v2"}]}}"##
        );
        assert_eq!(
            (&*document.parameters["p"], &*document.parameters["p_v2"]),
            (r#"{"in":"path"}"#, r#"{"in":"query"}"#)
        );
        let before = (document.models.len(), document.paths.len());
        merge(&mut document, &part);
        assert_eq!((document.models.len(), document.paths.len()), before, "its paths are there");
        assert!(Part::of(b"x", "/").is_none());
    }
}
