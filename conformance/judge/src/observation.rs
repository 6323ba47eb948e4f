//! Observations: the results of carried out commands.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Everything one command observed, in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The items observed, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Item>,
    /// Names that the command itself bound.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bound: BTreeMap<String, Value>,
    /// Whether the server refused the request. A scenario has to expect that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
    /// The reason why the command could not be carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// An observed item: a reply, an object of a list, a watch event, a call of a controller, a line of a log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// The beginning of the scenario's line: `404 NotFound`, `ADDED a`, `PUT serviceaccounts/builder 200`.
    pub head: String,
    /// The document its fields are looked up in.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub document: Value,
    /// Response headers, lower case.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// A body that is not JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Item {
    /// An item with a document and nothing more.
    pub fn new(head: impl Into<String>, document: Value) -> Item {
        Item { head: head.into(), document, ..Item::default() }
    }

    /// Whether it is the answer to a request that succeeded.
    pub fn is_success(&self) -> bool {
        self.head.starts_with('2')
    }
}

impl From<Vec<Item>> for Observation {
    fn from(items: Vec<Item>) -> Self {
        Observation { items, ..Observation::default() }
    }
}
