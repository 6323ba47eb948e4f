//! The managers of an object's fields, as `metadata.managedFields` keeps them (`internal/managedfields.go` and
//! `internal/capmanagers.go` of `k8s.io/apimachinery/pkg/util/managedfields`, v0.37.1).

use super::set::Set;
use crate::schema;
use std::collections::BTreeMap;
use tree::{Map, Text, Value};

/// The maximum number of managers with updates; beyond it the oldest are merged into one.
const MAX_UPDATERS: usize = 10;
/// The manager that the oldest are merged into.
const ANCIENT: &str = "ancient-changes";

/// The operation by which a manager got its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Server-side apply.
    Apply,
    /// Any other write.
    Update,
}

/// The identity of a field manager.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Manager {
    /// The name, such as `kubectl`.
    pub name: String,
    /// The operation by which it got its fields.
    pub operation: Operation,
    /// The version in which it updated; empty for applies, which share one entry for all versions.
    pub api_version: String,
    /// The subresource through which it wrote; empty for the object itself.
    pub subresource: String,
}

/// The fields that a manager owns.
#[derive(Debug, Clone, PartialEq)]
pub struct Owned {
    pub set: Set,
    /// The version in which the fields have these names.
    pub api_version: String,
    /// The time of its last write that changed the set, as `managedFields` shows it.
    pub time: Option<String>,
}

/// All managers of an object.
pub type Managers = BTreeMap<Manager, Owned>;

impl Manager {
    /// A manager of updates, or of applies.
    pub fn new(name: &str, operation: Operation, api_version: &str, subresource: &str) -> Manager {
        Manager {
            name: if name.is_empty() { "unknown" } else { name }.to_owned(),
            operation,
            api_version: if operation == Operation::Update { api_version } else { "" }.to_owned(),
            subresource: subresource.to_owned(),
        }
    }

    /// The text that upstream knows it by and sorts it by (`BuildManagerIdentifier`).
    pub fn identifier(&self) -> String {
        let operation = if self.applies() { "Apply" } else { "Update" };
        let mut text = format!("{{\"manager\":{},\"operation\":\"{operation}\"", schema::quote(&self.name));
        for (field, value) in [("apiVersion", &self.api_version), ("subresource", &self.subresource)] {
            if !value.is_empty() {
                text += &format!(",\"{field}\":\"{value}\"");
            }
        }
        text + "}"
    }

    /// Whether it applies.
    pub fn applies(&self) -> bool {
        self.operation == Operation::Apply
    }
}

/// Reads `managedFields`; an absent or null field is an empty list.
///
/// # Errors
/// If an entry is malformed.
pub fn decode(entries: Option<&Value>) -> Result<Managers, String> {
    let entries = entries.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut managers = Managers::new();
    for (index, entry) in entries.iter().enumerate() {
        let text = |name: &str| entry[name].as_str().unwrap_or_default();
        let operation = match text("operation") {
            "Apply" => Operation::Apply,
            "Update" => Operation::Update,
            _ => return Err("operation must be `Apply` or `Update`".to_owned()),
        };
        if text("apiVersion").is_empty() {
            return Err("apiVersion must not be empty".to_owned());
        }
        match text("fieldsType") {
            "FieldsV1" => {}
            "" => return Err(format!("missing fieldsType in managed fields entry {index}")),
            other => return Err(format!("invalid fieldsType {other:?} in managed fields entry {index}")),
        }
        let mut manager = Manager::new("", operation, text("apiVersion"), text("subresource"));
        manager.name = text("manager").to_owned();
        let set = Set::parse(&entry["fieldsV1"])?;
        let time = entry["time"].as_str().map(str::to_owned);
        managers.insert(manager, Owned { set, api_version: text("apiVersion").to_owned(), time });
    }
    Ok(managers)
}

/// The `managedFields` of a manager that owns fields, whose text they are, since a time.
pub(super) fn encode_only(manager: &Manager, api_version: &str, fields: Text, time: &str) -> Value {
    entry(manager, api_version, Value::Raw(fields), time)
}

/// The `managedFields` of managers, in their order: by operation, time, name, version and subresource.
pub fn encode(managers: &Managers) -> Vec<Value> {
    let mut order: Vec<(&Manager, &Owned)> = managers.iter().collect();
    order.sort_by_key(|(manager, owned)| {
        let time = owned.time.as_deref().unwrap_or_default();
        (manager.operation, time, &manager.name, &owned.api_version, &manager.subresource)
    });
    order.into_iter().map(|(manager, owned)| encode_one(manager, owned)).collect()
}

fn encode_one(manager: &Manager, owned: &Owned) -> Value {
    entry(manager, &owned.api_version, owned.set.print(), owned.time.as_deref().unwrap_or_default())
}

fn entry(manager: &Manager, api_version: &str, fields: Value, time: &str) -> Value {
    let operation = match manager.operation {
        Operation::Apply => "Apply",
        Operation::Update => "Update",
    };
    let text = |name, text: &str| (name, Value::from(text));
    let entry = [
        text("apiVersion", api_version),
        text("fieldsType", "FieldsV1"),
        ("fieldsV1", fields),
        text("manager", &manager.name),
        text("operation", operation),
        text("subresource", &manager.subresource),
        text("time", time),
    ];
    entry.into_iter().filter(|(_, value)| value != "").collect()
}

/// Whether these `managedFields` ask to reset all managers: an empty list, or one empty entry.
pub fn asks_for_reset(entries: Option<&Value>) -> bool {
    match entries.and_then(Value::as_array).map(Vec::as_slice) {
        Some([]) => true,
        Some([only]) => only.as_object().is_some_and(Map::is_empty),
        _ => false,
    }
}

/// Merges the oldest managers with updates, if there are too many.
pub(super) fn cap(managers: &mut Managers) {
    let updaters = managers.keys().filter(|manager| !manager.applies());
    let mut count = updaters.clone().count();
    if count <= MAX_UPDATERS {
        return;
    }
    let mut updaters: Vec<Manager> = updaters.cloned().collect();
    // Times are all in UTC and seconds, so that their texts are in order.
    let time = |managers: &Managers, manager: &Manager| managers.get(manager).and_then(|owned| owned.time.clone());
    updaters.sort_by_cached_key(|manager| (time(managers, manager), manager.clone()));
    let mut firsts: BTreeMap<String, Manager> = BTreeMap::new();
    // The sets that each bucket takes up: united at the end, as a union takes time with the size of both.
    let mut taken: BTreeMap<Manager, Vec<Set>> = BTreeMap::new();
    for manager in updaters {
        if count <= MAX_UPDATERS {
            break;
        }
        let Some(version) = managers.get(&manager).map(|owned| owned.api_version.clone()) else { continue };
        let Some(first) = firsts.get(&version) else {
            firsts.insert(version, manager);
            continue;
        };
        let bucket = Manager::new(ANCIENT, Operation::Update, &version, "");
        if !managers.contains_key(&bucket)
            && let Some(first) = managers.remove(first)
        {
            managers.insert(bucket.clone(), first);
        }
        let Some(owned) = managers.remove(&manager) else { continue };
        match managers.get_mut(&bucket) {
            Some(united) => {
                united.time = owned.time;
                taken.entry(bucket).or_default().push(owned.set);
            }
            // As upstream, a bucket that is itself an old manager is lost.
            None => drop(taken.remove(&bucket)),
        }
        count -= 1;
    }
    for (bucket, sets) in taken {
        if let Some(united) = managers.get_mut(&bucket) {
            let own = std::mem::take(&mut united.set);
            united.set = Set::union_of([vec![own], sets].concat());
        }
    }
}
