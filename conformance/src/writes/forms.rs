//! Forms: the structure of a kind's objects, as data.
//!
//! A form is a JSON value in which
//! * a list is a choice of one of its items, which are forms but for lists, which stand for themselves;
//! * an object has some of its fields, and always those whose name ends with `!`, which does not belong to the name;
//!   the value chosen for the field with an empty name is merged into the object itself;
//! * `{"$list": [FORM...]}` is a list of some of these items. `"$least": 1` of at least one; `"$by": FIELD` says by which
//!   field strategic patches merge the items, `"$set": true` that they merge them as a set; an item with `"$always": true` is
//!   in every list;
//! * `{"$use": NAME}` is the shared form of that name;
//! * everything else stands for itself.

use crate::resources;
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The namespace of all objects.
pub(super) const NAMESPACE: &str = "writes";

/// The forms of all kinds.
#[derive(Debug, Deserialize)]
pub(super) struct Forms {
    shared: BTreeMap<String, Value>,
    /// The kinds.
    pub(super) kinds: Vec<Kind>,
    /// The definition of the custom one.
    pub(super) definition: Value,
}

/// A kind, and the forms of its objects.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Kind {
    /// The plural.
    pub(super) resource: String,
    /// The kind; that of a resource of the real server is recorded.
    #[serde(default)]
    pub(super) kind: String,
    /// Whether objects are in no namespace; recorded, too.
    #[serde(skip)]
    cluster: bool,
    /// The namespace of the objects, if it is not the usual one.
    #[serde(default)]
    pub(super) namespace: Option<String>,
    /// Whether it is a custom resource.
    #[serde(default)]
    pub(super) custom: bool,
    /// Whether there is a subresource `scale`.
    #[serde(default)]
    pub(super) scale: bool,
    /// Whether a controller within the server writes to the objects, too, which the real one does a moment later.
    #[serde(default)]
    pub(super) settles: bool,
    /// The form of an object without its status, for each version.
    pub(super) versions: BTreeMap<String, Value>,
    /// The form of the status, if it is a subresource.
    #[serde(default)]
    pub(super) status: Option<Value>,
}

/// A form, by its kind.
pub(super) enum Form<'f> {
    Choice(&'f [Value]),
    List(List<'f>),
    Object(Vec<Field<'f>>),
    Plain(&'f Value),
}

/// A list of some items.
#[derive(Clone, Copy)]
pub(super) struct List<'f> {
    pub(super) items: &'f [Value],
    pub(super) least: usize,
    /// The field by which strategic patches merge items.
    pub(super) by: Option<&'f str>,
    /// Whether strategic patches merge it as a set.
    pub(super) is_set: bool,
}

/// A field of an object; without a name its fields are those of the object.
#[derive(Clone, Copy)]
pub(super) struct Field<'f> {
    pub(super) name: &'f str,
    pub(super) required: bool,
    pub(super) form: &'f Value,
}

impl Forms {
    /// Reads the file; with `only`, the other resources are left out.
    pub(super) fn load(path: &Path, only: Option<&str>) -> Result<Forms> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let mut forms: Forms = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
        forms.kinds.retain(|kind| only.is_none_or(|only| kind.resource == only));
        ensure!(!forms.kinds.is_empty(), "{} has no such resource", path.display());
        for kind in forms.kinds.iter_mut().filter(|kind| !kind.custom) {
            let recorded = kind.versions.keys().find_map(|version| resources::served(&kind.resource, version));
            let recorded = recorded.with_context(|| format!("no version of {} is recorded", kind.resource))?;
            kind.kind = recorded.kind.to_string();
            kind.cluster = !recorded.namespaced;
        }
        Ok(forms)
    }

    /// The shared form of that name.
    pub(super) fn shared(&self, name: &str) -> &Value {
        self.shared.get(name).unwrap_or_else(|| panic!("there is no form {name}"))
    }

    /// The form that `form` describes; `$use` is resolved.
    pub(super) fn form<'f>(&'f self, form: &'f Value) -> Form<'f> {
        match form {
            Value::Array(items) => Form::Choice(items),
            Value::Object(fields) => {
                if let Some(name) = fields.get("$use").and_then(Value::as_str) {
                    return self.form(self.shared(name));
                }
                if let Some(Value::Array(items)) = fields.get("$list") {
                    let least = fields.get("$least").and_then(Value::as_u64).unwrap_or(0);
                    return Form::List(List {
                        items,
                        least: usize::try_from(least).unwrap_or(items.len()),
                        by: fields.get("$by").and_then(Value::as_str),
                        is_set: fields.contains_key("$set"),
                    });
                }
                let field = |(name, form)| {
                    let (name, required) = match str::strip_suffix(name, '!') {
                        Some(name) => (name, true),
                        None => (name, name.is_empty()),
                    };
                    Field { name, required, form }
                };
                let fields = fields.iter().filter(|(name, _)| *name != "$always");
                Form::Object(fields.map(|(name, form): (&'f String, &'f Value)| field((name, form))).collect())
            }
            plain => Form::Plain(plain),
        }
    }
}

impl Kind {
    /// The path of the collection in that version.
    pub(super) fn collection(&self, version: &str) -> String {
        let root = if version == "v1" { "/api" } else { "/apis" };
        let namespace = match (self.cluster, &self.namespace) {
            (true, _) => String::new(),
            (false, own) => format!("/namespaces/{}", own.as_deref().unwrap_or(NAMESPACE)),
        };
        format!("{root}/{version}{namespace}/{}", self.resource)
    }
}
