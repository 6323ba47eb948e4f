//! Acceptance of names: those of a definition that are free, or its own already, are accepted.
//!
//! Follows `NamingConditionController` of `pkg/controller/status` (k8s.io/apiextensions-apiserver v0.37.1).

use imbl::OrdMap;
use std::collections::BTreeSet;
use std::sync::Arc;
use tree::{Map, Value};

/// The names of all definitions, as they were last reconciled.
#[derive(Clone, Default)]
pub(super) struct AllNames {
    /// By group, and by name of the definition.
    groups: OrdMap<Box<str>, OrdMap<Box<str>, Arc<Names>>>,
}

struct Names {
    /// `status.acceptedNames`.
    accepted: Value,
    is_misnamed: bool,
}

/// The accepted names of the definitions of a group.
#[derive(Default)]
pub(super) struct Taken {
    resources: BTreeSet<String>,
    kinds: BTreeSet<String>,
}

/// The names accepted for a definition, and the conflict, if there is one.
pub(super) struct Naming {
    /// `status.acceptedNames`.
    pub(super) accepted: Value,
    /// The reason and message of the last name that another definition has.
    pub(super) conflict: Option<(&'static str, String)>,
}

/// Whether a definition lacks some of the names in its spec.
pub(super) fn is_misnamed(definition: &Value) -> bool {
    definition["spec"]["names"] != definition["status"]["acceptedNames"]
}

/// The group of a definition, by its name.
fn group(name: &str) -> &str {
    name.split_once('.').map_or("", |(_, group)| group)
}

impl AllNames {
    /// Keeps the names of a definition.
    pub(super) fn set(&mut self, name: &str, definition: &Value) {
        let accepted = definition["status"]["acceptedNames"].clone();
        let names = Names { accepted, is_misnamed: is_misnamed(definition) };
        self.groups.entry(group(name).into()).or_default().insert(name.into(), names.into());
    }

    /// Forgets a definition, which was removed.
    pub(super) fn forget(&mut self, name: &str) {
        if let Some(definitions) = self.groups.get_mut(group(name)) {
            definitions.remove(name);
            if definitions.is_empty() {
                self.groups.remove(group(name));
            }
        }
    }

    /// The other definitions of the group.
    fn beside(&self, name: &str) -> impl Iterator<Item = (&str, &Names)> {
        let definitions = self.groups.get(group(name)).into_iter().flatten();
        definitions.map(|(other, names)| (&**other, &**names)).filter(move |(other, _)| *other != name)
    }

    /// The names that other definitions of the group have.
    pub(super) fn taken_beside(&self, name: &str) -> Taken {
        let mut taken = Taken::default();
        self.beside(name).for_each(|(_, names)| taken.add(&names.accepted));
        taken
    }

    /// The other definitions of the group that lack names.
    pub(super) fn misnamed_beside(&self, name: &str) -> impl Iterator<Item = &str> {
        self.beside(name).filter(|(_, names)| names.is_misnamed).map(|(other, _)| other)
    }
}

impl Taken {
    /// Adds the accepted names of a definition.
    fn add(&mut self, names: &Value) {
        let texts = |field: &str| names[field].as_str().map(str::to_owned);
        self.resources.extend(texts("plural").into_iter().chain(texts("singular")).chain(short_names(names)));
        self.kinds.extend(texts("kind").into_iter().chain(texts("listKind")));
    }
}

fn short_names(names: &Value) -> impl Iterator<Item = String> {
    names["shortNames"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned)
}

impl Naming {
    /// Accepts the names of a definition that are not taken.
    pub(super) fn of(definition: &Value, taken: &Taken) -> Naming {
        let wanted = &definition["spec"]["names"];
        let accepted = &definition["status"]["acceptedNames"];
        let mut naming = Naming { accepted: accepted.clone(), conflict: None };
        if !naming.accepted.is_object() {
            naming.accepted = Value::Object(Map::new());
        }
        naming.take(wanted, accepted, "plural", &taken.resources, "PluralConflict");
        naming.take(wanted, accepted, "singular", &taken.resources, "SingularConflict");
        if wanted["shortNames"] != accepted["shortNames"] {
            let own: BTreeSet<String> = short_names(accepted).collect();
            let conflicts: BTreeSet<String> = short_names(wanted)
                .filter(|name| !own.contains(name) && taken.resources.contains(name))
                .map(|name| in_use(&name))
                .collect();
            match conflicts.len() {
                0 => naming.put(wanted, "shortNames"),
                count => {
                    let all = conflicts.into_iter().collect::<Vec<_>>().join(", ");
                    let message = if count == 1 { all } else { format!("[{all}]") };
                    naming.conflict = Some(("ShortNamesConflict", message));
                }
            }
        }
        naming.take(wanted, accepted, "kind", &taken.kinds, "KindConflict");
        naming.take(wanted, accepted, "listKind", &taken.kinds, "ListKindConflict");
        naming.put(wanted, "categories");
        naming
    }

    fn take(&mut self, wanted: &Value, accepted: &Value, field: &str, taken: &BTreeSet<String>, reason: &'static str) {
        let text = |names: &Value| names[field].as_str().unwrap_or_default().to_owned();
        let name = text(wanted);
        if name != text(accepted) && taken.contains(&name) {
            self.conflict = Some((reason, in_use(&name)));
        } else {
            self.put(wanted, field);
        }
    }

    fn put(&mut self, wanted: &Value, field: &str) {
        match wanted.get(field) {
            Some(value) => self.accepted[field] = value.clone(),
            None => {
                self.accepted.as_object_mut().map(|names| names.remove(field));
            }
        }
    }
}

fn in_use(name: &str) -> String {
    format!("{name:?} is already in use")
}
