//! Owner references.

use crate::resource::Key;
use machinery::object::meta;
use tree::Value;

/// An owner reference of an object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reference<'a> {
    pub(super) api_version: &'a str,
    pub(super) kind: &'a str,
    pub(super) name: &'a str,
    pub(super) uid: &'a str,
    pub(super) blocks: bool,
    whole: &'a Value,
}

impl<'a> Reference<'a> {
    /// The owner references of an object, in order.
    pub(super) fn of(object: &'a Value) -> impl Iterator<Item = Reference<'a>> {
        meta::owner_references(object).iter().map(|whole| {
            let text = |field: &str| whole.get(field).and_then(Value::as_str).unwrap_or_default();
            Reference {
                api_version: text("apiVersion"),
                kind: text("kind"),
                name: text("name"),
                uid: text("uid"),
                blocks: whole.get("blockOwnerDeletion").and_then(Value::as_bool).unwrap_or_default(),
                whole,
            }
        })
    }

    /// The reference as it stands.
    pub(super) fn value(&self) -> Value {
        self.whole.clone()
    }

    /// The words for the owner in an event about the object in `namespace`.
    pub(super) fn in_namespace(&self, namespace: &str) -> String {
        let Reference { api_version, kind, name, uid, .. } = self;
        format!("[{api_version}/{kind}, namespace: {namespace}, name: {name}, uid: {uid}]")
    }
}

/// The differences between the references of an object before and now, by uid.
#[derive(Default)]
pub(super) struct Differences<'a> {
    pub(super) added: Vec<Reference<'a>>,
    /// The owners that the object does not hold up any more.
    pub(super) released: Vec<&'a str>,
}

impl<'a> Differences<'a> {
    pub(super) fn between(old: &'a Value, new: &'a Value) -> Differences<'a> {
        let mut differences = Differences::default();
        for reference in Reference::of(new) {
            match Reference::of(old).filter(|before| before.uid == reference.uid).last() {
                None => differences.added.push(reference),
                Some(before) if before.blocks && !reference.blocks => differences.released.push(reference.uid),
                Some(_) => {}
            }
        }
        let is_gone = |before: &Reference<'_>| Reference::of(new).all(|now| now.uid != before.uid);
        let removed = Reference::of(old).filter(|before| before.blocks && is_gone(before));
        differences.released.extend(removed.map(|before| before.uid));
        differences
    }
}

/// The key under which an object is looked at: to delete it if its owners are gone, or to orphan its dependents.
pub(super) fn task(verb: &str, uid: &str) -> Key {
    Key { namespace: verb.to_owned(), name: uid.to_owned() }
}
