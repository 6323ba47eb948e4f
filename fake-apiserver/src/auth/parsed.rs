//! Stored objects as authentication reads them with each request: parsed once per revision.

use crate::memo::{Memo, TREE};
use crate::store::{Entry, Key};
use std::sync::Arc;
use tree::Value;

/// A cache of parsed objects, with the revision that each was parsed at.
#[derive(Debug, Default)]
pub(crate) struct ParsedObjects(Memo<Key, (u64, Arc<Value>)>);

impl ParsedObjects {
    /// The tree of a stored object.
    pub(crate) fn object(&self, entry: &Entry) -> Arc<Value> {
        match self.0.get(&entry.key) {
            Some((revision, object)) if revision == entry.revision => object,
            _ => {
                let object = Arc::new(entry.object());
                self.0.insert(entry.key.clone(), (entry.revision, object.clone()), TREE * entry.json().len());
                object
            }
        }
    }

    /// Forgets all.
    pub(crate) fn clear(&self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Draft, Meta, ResourceId, Store, Updated};

    #[test]
    fn an_object_is_parsed_anew_when_it_changed() {
        let draft = |value: &str| {
            let json = format!(r#"{{"metadata":{{"uid":"u"}},"value":"{value}"}}"#);
            let slot = json.find('}').expect("metadata has an end");
            Draft { key: Key::new(ResourceId(0), "n", "o"), json: json.into(), slot, body: 1, meta: Meta::default() }
        };
        let (store, parsed) = (Store::new(10), ParsedObjects::default());
        let old = store.create(draft("old"), None).expect("it is new");
        let object = parsed.object(&old);
        assert_eq!(object["value"], "old");
        assert!(Arc::ptr_eq(&parsed.object(&old), &object));
        let Ok(Updated::Changed(new)) = store.update(draft("new"), old.revision) else { panic!("it is current") };
        assert_eq!(parsed.object(&new)["value"], "new");
    }
}
