//! Exchanges: one command of a scenario and everything observed, with placeholders for what differs from run to
//! run, so that the answers of two servers can be compared. Those of a real kube-apiserver are kept in
//! `fixtures/recordings/`, a line an exchange; [`differences`] compares.

use crate::dialogue::Played;
use crate::history::Event;
use crate::ledger::Omission;
use crate::names::Names;
use crate::normalise::Placeholders;
use crate::observation::{Item, Observation};
use crate::scenario::Scenario;
use crate::scenario::expectation::Expectation;
use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

/// The largest document that is kept, in bytes. Of larger ones (API descriptions) only the scenario's expectation is compared.
const LARGEST: usize = 32_768;

/// A command and the items observed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// The number of the command in the scenario, from 1.
    pub step: usize,
    /// The first line of the command, as the scenario has it.
    pub command: String,
    /// The items observed.
    pub items: Vec<Item>,
}

/// A value that differs between two exchanges.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The exchange's [`step`](Exchange::step).
    pub step: usize,
    /// The path of the value: `metadata.name`; with the item's number before it if there are several: `[2] metadata.name`.
    pub path: String,
    /// The value recorded.
    pub recorded: Option<Value>,
    /// The value observed.
    pub observed: Option<Value>,
}

/// The exchanges of `scenario` as it was `played`, without the ledger's omissions and without items that the scenario leaves
/// open (`...`).
pub fn exchanges(scenario: &Scenario, played: &Played, omitted: &[Omission]) -> Vec<Exchange> {
    let mut step = 0;
    let mut exchanges: Vec<Exchange> = Vec::new();
    for event in played.history.events() {
        match event {
            Event::Step { command, .. } => {
                step += 1;
                exchanges.push(Exchange { step, command: command.clone(), items: Vec::new() });
            }
            Event::Observed { observation, .. } => {
                if let Some(exchange) = exchanges.last_mut() {
                    let expectation = scenario.steps[step - 1].expectation.as_ref();
                    exchange.items = seen(observation);
                    exchange.items.truncate(expectation.and_then(Expectation::expected_items).unwrap_or(usize::MAX));
                }
            }
            _ => {}
        }
    }
    exchanges.retain(|exchange| !exchange.items.is_empty());
    let mut placeholders = placeholders(&exchanges, &played.dialogue.names);
    if scenario.has_several_writers() {
        placeholders.forget_order();
    }
    normalise(&mut exchanges, &placeholders, omitted);
    for item in exchanges.iter_mut().flat_map(|exchange| &mut exchange.items) {
        if item.document.to_string().len() > LARGEST {
            item.document = "<a large document>".into();
        }
    }
    exchanges
}

/// The placeholders for values in `exchanges` that differ from run to run; values that have a name in `names` keep it.
pub fn placeholders(exchanges: &[Exchange], names: &Names) -> Placeholders {
    let items = exchanges.iter().flat_map(|exchange| &exchange.items);
    Placeholders::collect(items.map(|item| &item.document), names)
}

/// Puts placeholders into `exchanges` and takes the omissions out.
pub fn normalise(exchanges: &mut [Exchange], placeholders: &Placeholders, omitted: &[Omission]) {
    for Exchange { command, items, .. } in exchanges {
        let omitted = || omitted.iter().filter(|omission| omission.is_about(command));
        for item in items {
            item.headers.retain(|name, _| !omitted().any(|omission| omission.omits_header(name)));
            item.head = placeholders.substitute(&item.head);
            item.text = item.text.as_deref().map(|text| placeholders.substitute(text));
            for value in item.headers.values_mut() {
                *value = placeholders.substitute(value);
            }
            item.document = placeholders.normal(&item.document);
            omitted().for_each(|omission| omission.take_out_of(&mut item.document));
        }
    }
}

/// The items of an observation, without the objects of a list, which are in its document.
fn seen(observation: &Observation) -> Vec<Item> {
    let listed = |list: &Item| list.document["items"].as_array().is_some_and(|items| !items.is_empty());
    let mut items = observation.items.clone();
    if items.first().is_some_and(listed) {
        items.truncate(1);
    }
    items.extend(observation.problem.iter().map(|problem| Item::new(format!("problem: {problem}"), Value::Null)));
    items
}

/// Reads recorded exchanges.
pub fn load(path: &Path) -> Result<Vec<Exchange>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let line = |(index, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("{}:{}", path.display(), index + 1))
    };
    text.lines().enumerate().map(line).collect()
}

/// Writes exchanges, a line each.
pub fn save(exchanges: &[Exchange], path: &Path) -> Result<()> {
    let line = |exchange| Ok(serde_json::to_string(exchange)? + "\n");
    let text = exchanges.iter().map(line).collect::<Result<String>>()?;
    let folder = path.parent().context("a file in no folder")?;
    std::fs::create_dir_all(folder)?;
    std::fs::write(path, text).with_context(|| path.display().to_string())
}

/// The differences between two runs, in order.
pub fn differences(recorded: &[Exchange], observed: &[Exchange]) -> Vec<Difference> {
    let steps: BTreeSet<usize> = recorded.iter().chain(observed).map(|exchange| exchange.step).collect();
    let mut found = Vec::new();
    for step in steps {
        let (recorded, observed) = (items_of(recorded, step), items_of(observed, step));
        let count = recorded.len().max(observed.len());
        for index in 0..count {
            let place = if count > 1 { format!("[{index}] ") } else { String::new() };
            let mut differ = |path: String, recorded: Option<&Value>, observed: Option<&Value>| {
                let path = place.clone() + &path;
                found.push(Difference { step, path, recorded: recorded.cloned(), observed: observed.cloned() });
            };
            // Of an item that the other side lacks, only the head is shown.
            let parts = if index < recorded.len().min(observed.len()) { &PARTS[..] } else { &PARTS[..1] };
            for (name, part) in parts {
                let of = |items: &[Item]| items.get(index).map(part);
                compare(name, of(recorded).as_ref(), of(observed).as_ref(), &mut differ);
            }
        }
    }
    found
}

fn items_of(exchanges: &[Exchange], step: usize) -> &[Item] {
    exchanges.iter().find(|exchange| exchange.step == step).map_or(&[], |exchange| &exchange.items)
}

type Part = fn(&Item) -> Value;

/// The parts of an item that are compared. Paths in a document begin at its root.
const PARTS: [(&str, Part); 4] = [
    ("head", |item| item.head.as_str().into()),
    ("header", |item| item.headers.iter().map(|(name, value)| (name.clone(), value.as_str())).collect()),
    ("", |item| item.document.clone()),
    ("text", |item| item.text.clone().into()),
];

fn compare(
    path: &str,
    recorded: Option<&Value>,
    observed: Option<&Value>,
    differ: &mut impl FnMut(String, Option<&Value>, Option<&Value>),
) {
    match (recorded, observed) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            for key in keys {
                let plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
                let path = match (plain, path) {
                    (true, "") => key.clone(),
                    (true, path) => format!("{path}.{key}"),
                    (false, path) => format!("{path}[{key}]"),
                };
                compare(&path, one.get(key), other.get(key), differ);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) => {
            for index in 0..one.len().max(other.len()) {
                compare(&format!("{path}[{index}]"), one.get(index), other.get(index), differ);
            }
        }
        (one, other) if one == other => {}
        (one, other) => differ(path.to_owned(), one, other),
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<Value>| value.as_ref().map_or_else(|| "absent".to_owned(), Value::to_string);
        write!(f, "    - {path}: {}\n    + {path}: {}", shown(&self.recorded), shown(&self.observed), path = self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_name_their_place() {
        let exchange = |step, documents: &[Value]| Exchange {
            step,
            command: "get x".to_owned(),
            items: documents.iter().map(|document| Item::new("200", document.clone())).collect(),
        };
        let recorded = [exchange(1, &[json!({"a": {"b.c": [1, 2]}, "d": 1})]), exchange(2, &[json!(1), json!(2)])];
        let observed = [exchange(1, &[json!({"a": {"b.c": [1]}, "d": 1})]), exchange(3, &[json!(3)])];
        let found: Vec<String> = differences(&recorded, &observed)
            .iter()
            .map(|Difference { step, path, recorded, observed }| format!("{step} {path} {recorded:?} {observed:?}"))
            .collect();
        assert_eq!(
            found,
            [
                "1 a[b.c][1] Some(Number(2)) None",
                "2 [0] head Some(String(\"200\")) None",
                "2 [1] head Some(String(\"200\")) None",
                "3 head None Some(String(\"200\"))",
            ]
        );
        assert_eq!(differences(&recorded, &recorded), []);
    }
}
