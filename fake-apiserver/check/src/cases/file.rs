//! The files of cases: YAML, whose form `schema.json` describes.

use crate::documents::Place;
use anyhow::{Context as _, Result, anyhow, ensure};
use machinery::deadline::Deadline;
use machinery::yaml;
use serde::Deserialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The `apiVersion` and `kind` of such files.
pub(super) const API_VERSION: &str = "fake-apiserver/v1";
pub(super) const KIND: &str = "AdmissionTest";

/// A file of cases.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct File {
    #[serde(rename = "apiVersion")]
    _api_version: String,
    #[serde(rename = "kind")]
    _kind: String,
    /// The files and folders with objects that are in the cluster, as seen from this file.
    #[serde(default)]
    pub(super) given: Vec<PathBuf>,
    /// Objects that are in the cluster, too.
    #[serde(default)]
    pub(super) objects: Vec<Value>,
    pub(super) cases: Vec<Case>,
}

/// A case: a request, and what is expected.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Case {
    pub(super) name: String,
    /// The user; an administrator by default.
    #[serde(default)]
    pub(super) user: Option<String>,
    #[serde(default)]
    pub(super) groups: Vec<String>,
    #[serde(default)]
    pub(super) operation: Option<Operation>,
    /// The object of the request.
    #[serde(default)]
    pub(super) object: Option<Value>,
    /// The object that is there.
    #[serde(default)]
    pub(super) old_object: Option<Value>,
    /// Instead of a request about an object: may the user do this?
    #[serde(default)]
    pub(super) access: Option<Access>,
    pub(super) expect: Expected,
}

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Operation {
    Create,
    Update,
    Delete,
}

/// A question to the authorizer: the `resourceAttributes` of a SubjectAccessReview.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Access {
    pub(super) verb: String,
    #[serde(default)]
    pub(super) group: String,
    pub(super) resource: String,
    #[serde(default)]
    pub(super) subresource: String,
    #[serde(default)]
    pub(super) namespace: String,
    #[serde(default)]
    pub(super) name: String,
}

/// The expected answer.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Expected {
    pub(super) verdict: Wanted,
    /// The rule that refuses or warns, such as `policy/owners`.
    #[serde(default)]
    pub(super) rule: Option<String>,
    /// A part of the message.
    #[serde(default)]
    pub(super) message: Option<String>,
    /// The fields that the object has once it is admitted, with their values.
    #[serde(default)]
    pub(super) object: Option<Value>,
}

/// A verdict that is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Wanted {
    /// It is admitted, with warnings or without.
    Allowed,
    /// It is admitted with a warning.
    Warned,
    Denied,
}

/// A file that is read.
pub(super) struct Read {
    pub(super) file: File,
    path: PathBuf,
    text: Vec<u8>,
}

impl Read {
    /// The place of a case.
    pub(super) fn place(&self, case: usize) -> Place {
        let index = case.to_string();
        let lines = yaml::lines(&self.text, &[vec!["cases", &index]]);
        Place { file: self.path.to_string_lossy().as_ref().into(), line: lines.map_or(1, |lines| lines[0]) }
    }

    /// A path as seen from the file.
    pub(super) fn beside(&self, path: &Path) -> PathBuf {
        self.path.parent().unwrap_or(Path::new(".")).join(path)
    }
}

/// Reads a file; `None` if it has no cases but something else.
///
/// # Errors
/// If it cannot be read, or is not in the form of cases.
pub(super) fn read(path: &Path) -> Result<Option<Read>> {
    let failed = || format!("unable to read {}", path.display());
    let text = std::fs::read(path).with_context(failed)?;
    let document = match yaml::parse(&text, &Deadline::default()) {
        Ok(document) => document,
        // A stream of others, or a template.
        Err(_) if !String::from_utf8_lossy(&text).contains(KIND) => return Ok(None),
        Err(why) => return Err(anyhow!(why)).with_context(failed),
    };
    if document.value["kind"] != KIND || document.value["apiVersion"] != API_VERSION {
        return Ok(None);
    }
    ensure!(document.repeated.is_empty(), "unable to read {}: {}", path.display(), document.repeated.join(", "));
    let file: File = serde_json::from_value(document.value.into()).with_context(failed)?;
    for case in &file.cases {
        check(case).with_context(|| format!("{}: case {:?}", path.display(), case.name))?;
    }
    Ok(Some(Read { file, path: path.to_owned(), text }))
}

/// Whether a case says what it asks.
fn check(case: &Case) -> Result<()> {
    let has = (case.object.is_some(), case.old_object.is_some(), case.access.is_some());
    let is_sound = match (case.operation, has) {
        (None, (false, false, true)) => case.user.is_some(),
        (None | Some(Operation::Create), (true, false, false)) => true,
        (None | Some(Operation::Update), (true, true, false)) => true,
        (Some(Operation::Delete), (false, true, false)) => true,
        _ => false,
    };
    ensure!(
        is_sound,
        "it has an object, or an object and an oldObject, or an oldObject and the operation DELETE, or a user and an access"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names that a schema describes, with those of the schemas within it.
    fn names(schema: &Value, found: &mut Vec<String>) {
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            found.push(name.clone());
            names(property, found);
        }
        if schema["items"].is_object() {
            names(&schema["items"], found);
        }
    }

    #[test]
    fn the_schema_describes_what_is_read() {
        let schema: Value = serde_json::from_str(super::super::SCHEMA).unwrap();
        let mut described = Vec::new();
        names(&schema, &mut described);
        described.sort();
        let text = "apiVersion: fake-apiserver/v1\nkind: AdmissionTest\ngiven: [a]\nobjects: []\ncases:\n\
                    - {name: a, user: b, groups: [c], operation: UPDATE, object: {}, oldObject: {}, expect: {verdict: allowed, rule: r, \
                    message: m, object: {}}}\n\
                    - {name: a, user: b, access: {verb: v, group: g, resource: r, subresource: s, namespace: x, name: m}, expect: {verdict: denied}}\n";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.yaml");
        std::fs::write(&path, text).unwrap();
        let read = read(&path).unwrap().unwrap();
        assert_eq!(read.place(1).line, 7);
        // Every field of the two cases, and of what surrounds them.
        let document = yaml::parse(text.as_bytes(), &Deadline::default()).unwrap();
        let mut written = Vec::new();
        keys(&document.value.into(), &mut written);
        written.sort();
        written.dedup();
        described.dedup();
        assert_eq!(described, written);
    }

    fn keys(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                found.push(name.clone());
                keys(value, found);
            }),
            Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
            _ => {}
        }
    }

    #[test]
    fn cases_that_ask_nothing_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.yaml");
        let failure = |case: &str| {
            let head = "apiVersion: fake-apiserver/v1\nkind: AdmissionTest\ncases:\n";
            std::fs::write(&path, format!("{head}- {case}\n")).unwrap();
            format!("{:#}", read(&path).err().unwrap())
        };
        assert!(failure("{name: a, expect: {verdict: allowed}}").contains("case \"a\": it has an object, or"));
        assert!(failure("{name: a, objekt: {}, expect: {verdict: allowed}}").contains("unknown field `objekt`"));
        assert!(failure("{name: a, object: {}, expect: {verdict: maybe}}").contains("unknown variant `maybe`"));
        std::fs::write(&path, "kind: ConfigMap\n").unwrap();
        assert!(read(&path).unwrap().is_none());
    }
}
