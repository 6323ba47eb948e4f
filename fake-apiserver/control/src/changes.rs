//! Changes of objects, and the requests that made them.

use crate::matching::{Match, Requested};
use crate::recording::ChangeType;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// Changes of objects, oldest first, as far back as the history reaches.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Changes {
    /// The changes: their objects, and the requests that made them.
    #[serde(rename = "match")]
    pub on: Match,
    /// The revision behind which they are; the oldest that is remembered by default.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "crate::number::read_some")]
    pub since: Option<u64>,
    /// The most that are answered with; all by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Whether the objects are answered with, too.
    pub objects: bool,
    /// The longest time that is waited for the first one, in seconds of the real clock; none is waited for by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
}

/// An object, by its name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Named {
    /// The resource, by its plural, with its group if two groups have one of that name: `pods`, `deployments.apps`.
    pub resource: String,
    /// The namespace; none of an object without one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The name.
    pub name: String,
}

/// A change of an object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The revision.
    pub revision: u64,
    /// The type; none of an object that was there before the history begins.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeType>,
    /// The API group.
    pub api_group: String,
    /// The resource.
    pub resource: String,
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// The request that made it; none if the server did so by itself, or that request is not answered yet or forgotten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Writer>,
    /// The object; of one that was removed, the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Value>,
}

/// The request that made a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Writer {
    /// Its cursor.
    pub cursor: u64,
    /// The user: of an impersonating request, the impersonated one.
    pub user: String,
    /// The header `User-Agent`.
    pub user_agent: String,
    /// The Kubernetes verb.
    pub verb: String,
    /// The subresource.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subresource: String,
    /// The replica, counted from 0.
    pub replica: usize,
}

impl Change {
    fn writer(&self, field: impl Fn(&Writer) -> &str) -> &str {
        self.by.as_ref().map_or("", field)
    }
}

impl Requested for Change {
    fn verb(&self) -> &str {
        self.writer(|by| &by.verb)
    }

    fn group(&self) -> &str {
        &self.api_group
    }

    fn resource(&self) -> &str {
        &self.resource
    }

    /// Changes are of objects, whatever the subresource of the request.
    fn subresource(&self) -> &str {
        ""
    }

    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn user(&self) -> &str {
        self.writer(|by| &by.user)
    }

    fn user_agent(&self) -> &str {
        self.writer(|by| &by.user_agent)
    }

    fn replica(&self) -> usize {
        self.by.as_ref().map_or(usize::MAX, |by| by.replica)
    }

    fn query(&self, _: &str) -> Option<Cow<'_, str>> {
        None
    }

    fn body(&self) -> Option<&Value> {
        self.object.as_ref()
    }
}
