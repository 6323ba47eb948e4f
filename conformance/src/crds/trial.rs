//! A trial: the requests to a pair of servers about a package, case by case.

use super::package::{Example, Package};
use super::table::{Counts, Tally};
use crate::pair::{Dialogue, Pair, Request};
use crate::sources::Document;
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// The most differences of a case that are shown.
const SHOWN: usize = 8;

/// Carries out all cases of `package`. `report` gets the differences of each case that has some.
///
/// # Errors
/// If a server does not answer.
pub(super) async fn run(package: &Package, pair: &Pair, mut report: impl FnMut(String)) -> Result<Tally> {
    let mut tally = Tally::default();
    for definition in &package.definitions {
        let dialogue = define(definition, pair).await?;
        tally.definitions.count(judge(&definition.file, &dialogue, pair, &mut report));
    }
    for version in &package.versions {
        let dialogue = describe(version, pair).await?;
        tally.versions.count(judge(version, &dialogue, pair, &mut report));
    }
    let mut namespaces = BTreeSet::new();
    for example in &package.examples {
        if let Some(namespace) = example.namespace.as_deref().filter(|namespace| namespaces.insert(*namespace)) {
            let body = json!({"metadata": {"name": namespace}});
            let request = Request { method: "POST", body, ..Request::get("/api/v1/namespaces") };
            // Of those that exist, and of names that are none, both say the same.
            pair.ask(&mut Dialogue::default(), &request).await?;
        }
        let (dialogue, created) = exemplify(example, pair).await?;
        tally.created += usize::from(created);
        tally.examples.count(judge(&example.about, &dialogue, pair, &mut report));
    }
    Ok(tally)
}

/// Creates a definition on both servers, and reads it until they agree or time is up.
async fn define(definition: &Document, pair: &Pair) -> Result<Dialogue> {
    let mut dialogue = Dialogue::default();
    let body = definition.document.clone();
    if pair.ask(&mut dialogue, &Request { method: "POST", body, ..Request::get(DEFINITIONS) }).await? {
        let name = segment(&definition.document["metadata"]["name"]);
        pair.settle(&mut dialogue, &Request::get(format!("{DEFINITIONS}/{name}"))).await?;
    }
    Ok(dialogue)
}

/// Looks at the discovery of a group's version in both dialects, and at its OpenAPI document.
async fn describe(version: &str, pair: &Pair) -> Result<Dialogue> {
    let mut dialogue = Dialogue::default();
    for path in [format!("/apis/{version}"), format!("/openapi/v3/apis/{version}")] {
        pair.settle(&mut dialogue, &Request::get(path)).await?;
    }
    let group = version.split('/').next().map(str::to_owned);
    pair.settle(&mut dialogue, &Request { accept: AGGREGATED, group, ..Request::get("/apis") }).await?;
    Ok(dialogue)
}

/// Creates an object, reads it in all its versions, as a table, too, and deletes it. False if it was refused.
async fn exemplify(example: &Example, pair: &Pair) -> Result<(Dialogue, bool)> {
    let mut dialogue = Dialogue::default();
    let namespace = example.namespace.as_ref().map(|name| format!("/namespaces/{}", segment(&json!(name))));
    let collection =
        |version: &str| format!("/apis/{version}{}/{}", namespace.as_deref().unwrap_or_default(), example.plural);
    let own = collection(&example.versions[0]);
    let create = Request { method: "POST", body: example.object.clone(), ..Request::get(own.clone()) };
    if !pair.ask(&mut dialogue, &create).await? {
        return Ok((dialogue, false));
    }
    let name = segment(&example.object["metadata"]["name"]);
    for version in &example.versions {
        let request = Request::get(format!("{}/{name}", collection(version)));
        pair.ask(&mut dialogue, &request).await?;
        pair.ask(&mut dialogue, &Request { accept: TABLE, ..request }).await?;
    }
    pair.ask(&mut dialogue, &Request { method: "DELETE", ..Request::get(format!("{own}/{name}")) }).await?;
    Ok((dialogue, true))
}

/// Whether both servers answered the same; if not, `report` gets the differences.
fn judge(about: &str, dialogue: &Dialogue, pair: &Pair, report: &mut impl FnMut(String)) -> bool {
    let differences = pair.differences(dialogue);
    if differences.is_empty() {
        return true;
    }
    let lines = differences.iter().take(SHOWN).map(|one| format!("  {}\n{one}\n", dialogue.command(one)));
    let more = differences.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!("  and {more} more\n") } else { String::new() };
    report(format!("{about}\n{}{more}", lines.collect::<String>()));
    false
}

/// A name as a segment of a path. A value other than a string becomes `-`, which no object is named.
fn segment(name: &Value) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let escaped = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.as_str().unwrap_or("-").bytes().map(escaped).collect()
}

impl Counts {
    fn count(&mut self, equal: bool) {
        self.all += 1;
        self.equal += usize::from(equal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_segment() {
        assert_eq!(segment(&json!("a.b-1")), "a.b-1");
        assert_eq!(segment(&json!("${A}/b")), "%24%7BA%7D%2Fb");
        assert_eq!(segment(&Value::Null), "-");
    }
}
