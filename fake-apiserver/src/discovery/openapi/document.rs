//! A document, in the order of keys that Go writes.

use crate::version::{MAJOR, MINOR};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The security schemes in all documents but those about custom resources alone.
const SECURITY_SCHEMES: &str = r#""securitySchemes":{"BearerToken":{"type":"apiKey","description":"Bearer Token authentication","name":"authorization","in":"header"}}"#;

/// A document in the making.
#[derive(Default)]
pub(super) struct Document {
    /// The operations by path, as JSON.
    pub(super) paths: BTreeMap<String, String>,
    /// The schemas by name, as JSON.
    pub(super) models: BTreeMap<String, Cow<'static, str>>,
    /// The parameters that operations of version 2 refer to, by name.
    pub(super) parameters: BTreeMap<String, Cow<'static, str>>,
    /// Whether it is about more than custom resources.
    pub(super) describes_built_in: bool,
}

impl Document {
    /// The document of a version of a group.
    pub(super) fn v3(&self) -> String {
        let (title, version) = match self.describes_built_in {
            true => ("Kubernetes", format!("{MAJOR}.{MINOR}")),
            false => ("Kubernetes CRD Swagger", "v0.1.0".to_owned()),
        };
        let mut json = format!(r#"{{"openapi":"3.0.0","info":{{"title":"{title}","version":"{version}"}},"paths":"#);
        object(&mut json, &self.paths);
        json.push_str(r#","components":{"#);
        if !self.models.is_empty() || !self.describes_built_in {
            json.push_str(r#""schemas":"#);
            object(&mut json, &self.models);
        }
        if self.describes_built_in {
            json.push_str(if self.models.is_empty() { "" } else { "," });
            json.push_str(SECURITY_SCHEMES);
        }
        json.push_str("}}");
        json
    }

    /// The document of all groups.
    pub(super) fn v2(&self) -> String {
        let mut json =
            format!(r#"{{"swagger":"2.0","info":{{"title":"Kubernetes","version":"{MAJOR}.{MINOR}"}},"paths":"#);
        object(&mut json, &self.paths);
        json.push_str(r#","definitions":"#);
        object(&mut json, &self.models);
        json.push_str(r#","parameters":"#);
        object(&mut json, &self.parameters);
        json.push_str(
            r#","securityDefinitions":{"BearerToken":{"description":"Bearer Token authentication","type":"apiKey","name":"authorization","in":"header"}},"security":[{"BearerToken":[]}]}"#,
        );
        json
    }
}

/// Appends an object, whose keys need no escapes and whose values are JSON.
pub(super) fn object<K: AsRef<str>, V: AsRef<str>>(json: &mut String, members: &BTreeMap<K, V>) {
    json.push('{');
    for (number, (key, value)) in members.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        write!(json, r#"{comma}"{}":{}"#, key.as_ref(), value.as_ref()).expect("writing to a String cannot fail");
    }
    json.push('}');
}
