//! The fields of stored objects that selectors may ask for.

use super::custom;
use super::rules::{FieldText, Rules};
use crate::custom::json_path::JsonPath;
use crate::deadline::Deadline;
use crate::object::selector::SelectableField;
use std::borrow::Cow;
use tree::Value;

/// A field of stored objects that selectors may ask for.
#[derive(Debug)]
pub struct StoredField {
    /// Name, as the storage version's selectors write it: `spec.nodeName`.
    pub name: Cow<'static, str>,
    text: TextSource,
}

/// The source of the text to select by.
#[derive(Debug)]
enum TextSource {
    /// The field of that name.
    Field,
    Rule(FieldText),
    /// The value at a path, if it is one.
    Path(Option<JsonPath>),
}

impl StoredField {
    /// The field of that name at a path.
    pub(super) fn at(name: String, path: Option<JsonPath>) -> Self {
        StoredField { name: name.into(), text: TextSource::Path(path) }
    }

    /// The object's text for it; "" when unset.
    pub fn value<'a>(&self, object: &'a Value) -> Cow<'a, str> {
        match &self.text {
            TextSource::Rule(text) => text(object),
            TextSource::Field => {
                let value = self.name.split('.').try_fold(object, |value, field| value.get(field));
                value.and_then(Value::as_str).unwrap_or_default().into()
            }
            TextSource::Path(path) => {
                // These paths have only fields.
                let value = path.as_ref().and_then(|path| path.first(object, &Deadline::default()));
                let value = value.filter(|value| !value.is_null());
                value.map_or_else(Cow::default, |value| custom::go_text(value).into())
            }
        }
    }
}

/// The fields that selectors use, each once, without those in the key.
pub(super) fn stored_fields<'s>(
    selectable: impl Iterator<Item = &'s SelectableField>,
    rules: &Rules,
) -> Vec<StoredField> {
    let mut fields: Vec<StoredField> = Vec::new();
    for SelectableField { stored_as: name, .. } in selectable {
        if name != "metadata.namespace" && fields.iter().all(|field| field.name != *name) {
            let rule = rules.fields.iter().find(|(label, _)| label == name);
            let text = rule.map_or(TextSource::Field, |(_, text)| TextSource::Rule(*text));
            fields.push(StoredField { name: name.clone(), text });
        }
    }
    fields
}
