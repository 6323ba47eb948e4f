//! The parts that both pages have.

use super::super::negotiate::PAGE_GROUP;
use super::super::pages::{FLAGZ, STATUSZ};
use serde::Serialize;
use std::collections::BTreeMap;

/// The name that the pages have for the server.
const COMPONENT: &str = "apiserver";
/// The separators of names and values, of which one is chosen by chance: nobody shall parse the text.
pub(super) const SEPARATORS: [&str; 4] = [":", ": ", "=", " "];
/// A page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Page {
    Flagz,
    Statusz,
}

/// The beginning of an object, in the key order of the wire.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Head {
    kind: &'static str,
    api_version: String,
    metadata: BTreeMap<&'static str, &'static str>,
}

impl Page {
    pub(super) fn path(self) -> &'static str {
        match self {
            Page::Flagz => FLAGZ,
            Page::Statusz => STATUSZ,
        }
    }

    /// Its name in the metrics.
    pub(super) fn name(self) -> &'static str {
        self.path().trim_start_matches('/')
    }

    pub(super) fn kind(self) -> &'static str {
        match self {
            Page::Flagz => "Flagz",
            Page::Statusz => "Statusz",
        }
    }

    /// The head of its object.
    pub(super) fn head(self, version: &str) -> Head {
        Head {
            kind: self.kind(),
            api_version: format!("{PAGE_GROUP}/{version}"),
            metadata: BTreeMap::from([("name", COMPONENT)]),
        }
    }

    /// The beginning of its text.
    pub(super) fn heading(self) -> String {
        format!(
            "\n{COMPONENT} {}\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is \
             for debugging purposes only.\n",
            self.name()
        )
    }
}
