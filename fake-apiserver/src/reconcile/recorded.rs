//! The objects of a real server's first start, as data: `bootstrap.jsonl` holds one a line, with `<time>` for the time and `<uid>` for
//! the uid (`cargo xtask conformance bootstrap` records them). The text is as this server's encoder makes it, so that a server starts
//! without parsing them.

use super::shared::Shared;
use crate::clock::format_seconds;
use crate::commit::{Encoded, recorded_draft};
use crate::object::meta;
use crate::registry::{RBAC_GROUP, Registry, Rule};
use crate::store::Key;
use jiff::Timestamp;
use std::borrow::Cow;
use tree::Value;

const OBJECTS: &str = include_str!("bootstrap.jsonl");

/// A recorded object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recorded(&'static str);

/// The objects of a group. They have their defaults and field managers.
pub(super) fn objects(group: &str) -> impl Iterator<Item = Recorded> {
    OBJECTS.lines().map(Recorded).filter(move |object| {
        let version = object.api_version();
        version.strip_prefix(group).is_some_and(|rest| rest.starts_with('/'))
    })
}

impl Recorded {
    pub(super) fn kind(self) -> &'static str {
        self.behind("{\"kind\":\"")
    }

    fn api_version(self) -> &'static str {
        self.behind("\"apiVersion\":\"")
    }

    pub(super) fn name(self) -> &'static str {
        self.behind("\"metadata\":{\"name\":\"")
    }

    fn namespace(self) -> &'static str {
        let metadata = self.0.split("\"uid\"").next().unwrap_or_default();
        Recorded(metadata).behind("\"namespace\":\"")
    }

    /// The text from the first place behind that beginning to the next quote; empty without such a place.
    fn behind(self, beginning: &str) -> &'static str {
        let text = self.0.split_once(beginning).map(|(_, text)| text).unwrap_or_default();
        text.split('"').next().unwrap_or_default()
    }

    /// The object as of a time, without uid.
    pub(super) fn object(self, now: Timestamp) -> Value {
        let text = self.0.replacen("\"uid\":\"<uid>\",", "", 1).replace("<time>", &format_seconds(now));
        serde_json::from_str(&text).expect("the record is JSON")
    }

    /// The draft of the object, with a new uid; `None` if its kind is not served.
    pub(super) fn drafted(self, registry: &Registry, cluster: &Shared, now: Timestamp) -> Option<Encoded> {
        let resource = registry.kind(self.api_version(), self.kind())?.resource;
        let key = Key::new(resource.id, self.namespace(), self.name());
        let text = without(self.0, &cluster.options.unserved_pages);
        recorded_draft(resource, key, &text, &cluster.ids.uid(), &format_seconds(now))
    }
}

/// The text of a role without those paths, as upstream's roles have them only if they are served.
fn without(text: &'static str, paths: &[&str]) -> Cow<'static, str> {
    paths.iter().fold(Cow::Borrowed(text), |text, path| {
        let item = [format!("\"{path}\","), format!(",\"{path}\"")].into_iter().find(|item| text.contains(item));
        match item {
            Some(item) => text.replacen(&item, "", 1).into(),
            None => text,
        }
    })
}

/// The rules of `system:node`, which hold for every node even if that role is changed: `NodeRules`.
pub(crate) fn node_rules() -> Vec<Rule> {
    let is_node = |role: &Value| role["kind"] == "ClusterRole" && meta::name(role) == "system:node";
    objects(RBAC_GROUP)
        .map(|role| role.object(Timestamp::UNIX_EPOCH))
        .find(is_node)
        .map(|role| Rule::all_of(&role))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::draft;

    #[test]
    fn recorded_texts_are_those_of_the_encoder() {
        let (registry, cluster) = (Registry::built_in(), Shared::empty());
        for recorded in OBJECTS.lines().map(Recorded) {
            let made = recorded.drafted(&registry, &cluster, Timestamp::UNIX_EPOCH).expect("the kind is served");
            let mut object = recorded.object(Timestamp::UNIX_EPOCH);
            meta::set(&mut object, "uid", &*made.meta.uid);
            let resource = registry.get(made.key.resource).expect("the kind is served");
            let expected = draft(resource, &object).expect("the record is sound");
            assert_eq!(String::from_utf8(made.json.clone()), String::from_utf8(expected.json.clone()));
            assert_eq!(made.key, expected.key);
            assert_eq!((made.slot, made.body), (expected.slot, expected.body), "{}", recorded.name());
            assert_eq!(made.meta.labels, expected.meta.labels, "{}", recorded.name());
            assert_eq!(made.meta.fields, expected.meta.fields, "{}", recorded.name());
        }
    }
}
