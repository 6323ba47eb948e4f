//! A recorded request, as tests in all languages see it.

use crate::matching::Requested;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// A recorded request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// Its number, from 1 on.
    pub cursor: u64,
    /// The replica, counted from 0.
    pub replica: usize,
    /// The time of its arrival, by the replica's clock.
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub received: Timestamp,
    /// The time until it was answered, in microseconds: of a watch, until its events could begin.
    #[serde(default)]
    pub took_micros: u64,
    /// The user; "" if nobody was authenticated.
    pub user: String,
    /// The user that it impersonates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impersonated: Option<String>,
    /// The header `User-Agent`.
    pub user_agent: String,
    /// The HTTP method.
    pub method: String,
    /// The path and the query.
    pub uri: String,
    /// The Kubernetes verb.
    pub verb: String,
    /// The API group.
    pub api_group: String,
    /// The API version.
    pub version: String,
    /// The resource.
    pub resource: String,
    /// The subresource.
    pub subresource: String,
    /// The namespace.
    pub namespace: String,
    /// The object's name.
    pub name: String,
    /// The kind of a patch, as `kubectl patch --type` has it (`json`, `merge`, `strategic`), or `apply`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch_type: Option<String>,
    /// The object in the body, whatever its form on the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// The HTTP status of the response; of one that never came, 0.
    pub code: u16,
    /// The code of the event of type ERROR that a watch has in place of events: of one whose history is forgotten, 410.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<u16>,
    /// The number of objects that a list has answered with, if it selects none of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<u64>,
    /// The revision that it wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// The reason for a 401.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authentication_error: Option<String>,
    /// The rule that struck it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Struck>,
}

/// The rule that struck a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Struck {
    /// The rule's id.
    pub id: String,
    /// The rule's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The actions: `status`, `connection`, ...
    pub actions: Vec<String>,
    /// Whether the store had taken a write of the request.
    pub committed: bool,
    /// Whether no real server could have answered so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfaithful: bool,
}

impl Request {
    /// A parameter of the query.
    pub fn parameter(&self, name: &str) -> Option<Cow<'_, str>> {
        let (_, query) = self.uri.split_once('?')?;
        let found = query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name)?;
        Some(unescaped(found.1))
    }

    /// Whether the history that it asked for is forgotten.
    pub fn is_expired(&self) -> bool {
        self.code == 410 || self.error == Some(410)
    }

    /// Whether it writes, if it succeeds.
    pub fn is_write(&self) -> bool {
        matches!(self.verb.as_str(), "create" | "update" | "patch" | "delete" | "deletecollection")
    }

    /// The object that it is about: `secrets default/web`.
    pub fn object(&self) -> (&str, &str, &str) {
        (&self.resource, &self.namespace, &self.name)
    }

    /// A line for people: `42 update secrets default/web by manager: 409`.
    pub fn line(&self) -> String {
        let resource = match self.subresource.as_str() {
            "" => self.resource.clone(),
            subresource => format!("{}/{subresource}", self.resource),
        };
        let object = match (self.namespace.as_str(), self.name.as_str()) {
            ("", name) => name.to_owned(),
            (namespace, name) => format!("{namespace}/{name}"),
        };
        let about = if resource.is_empty() { self.uri.clone() } else { format!("{resource} {object}") };
        format!("{} {} {} by {}: {}", self.cursor, self.verb, about.trim_end(), self.user(), self.code)
    }
}

/// A text of a query without its escapes.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['%', '+']) {
        return text.into();
    }
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, after @ ..] = rest {
        let escaped = after.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        match (first, escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
                continue;
            }
            (b'+', _) => bytes.push(b' '),
            _ => bytes.push(*first),
        }
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned().into()
}

impl Requested for Request {
    fn verb(&self) -> &str {
        &self.verb
    }

    fn group(&self) -> &str {
        &self.api_group
    }

    fn resource(&self) -> &str {
        &self.resource
    }

    fn subresource(&self) -> &str {
        &self.subresource
    }

    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn user(&self) -> &str {
        self.impersonated.as_deref().unwrap_or(&self.user)
    }

    fn user_agent(&self) -> &str {
        &self.user_agent
    }

    fn replica(&self) -> usize {
        self.replica
    }

    fn query(&self, name: &str) -> Option<Cow<'_, str>> {
        self.parameter(name)
    }

    fn body(&self) -> Option<&Value> {
        self.body.as_ref()
    }
}
