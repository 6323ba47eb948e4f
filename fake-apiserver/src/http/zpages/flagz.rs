//! `/flagz`: the flags that the server was started with, with the defaults of those that were not given.
//!
//! Follows `flagz.go` and `textserializer.go` of `k8s.io/apiserver/pkg/server/flagz` (v0.37.1). The text is made once.

use super::super::replica::Replica;
use super::page::{Head, Page, SEPARATORS};
use serde::Serialize;
use std::collections::BTreeMap;

/// `Flagz` of `config.k8s.io`.
#[derive(Serialize)]
pub(super) struct Flagz<'r> {
    #[serde(flatten)]
    head: Head,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    flags: &'r BTreeMap<String, String>,
}

pub(super) fn object<'r>(version: &str, replica: &'r Replica) -> Flagz<'r> {
    Flagz { head: Page::Flagz.head(version), flags: flags(replica) }
}

/// The flags, one a line.
pub(super) fn text(replica: &Replica) -> String {
    let separator = replica.separator_of_flags.get_or_init(|| replica.dice.one_of(&SEPARATORS));
    let line = |(name, value): (&String, &String)| format!("{name}{separator}{value}\n");
    Page::Flagz.heading() + &flags(replica).iter().map(line).collect::<String>()
}

fn flags(replica: &Replica) -> &BTreeMap<String, String> {
    replica.pages.flags.as_ref().expect("without flags there is no such page")
}
