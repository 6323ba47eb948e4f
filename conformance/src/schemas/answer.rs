//! Answers, as they are compared.
//!
//! The status, the warnings and the whole body are compared, except values that differ from server to server: uids, revisions and times.
//! kube-apiserver goes through maps in Go's order, which is none, so the causes of a refusal are compared as a
//! multiset, and its message and the warnings as the multiset of their parts between commas.
//! A message that shows a whole object is compared without that, and one that names a type of CEL that the server invents
//! (`selfType596716805`), without its number. Whether a write left the revision as it was is compared.

use crate::answers::{sorted_parts, without_objects};
use conformance_judge::exchange::{Difference, Exchange, differences};
use conformance_judge::observation::Item;
use serde_json::Value;

/// An answer without the values that differ from server to server.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    /// The HTTP status.
    pub(super) status: u16,
    moved: Option<bool>,
    item: Item,
}

/// The beginning of the name of a type that the server invents.
const INVENTED: &str = "selfType";

impl Answer {
    /// The answer with that status, these values of the header `Warning`, and that body. `moved` is whether the object got
    /// another revision than it had before; `None` if it is not known from before.
    pub(super) fn new(status: u16, warnings: &[String], mut body: Value, moved: Option<bool>) -> Answer {
        if body["kind"] == "Status" {
            settle_status(&mut body);
        } else {
            settle_object(&mut body);
        }
        let warnings: Vec<&str> = warnings.iter().map(String::as_str).collect();
        let mut item = Item::new(status.to_string(), body);
        if !warnings.is_empty() {
            item.headers.insert("warning".to_owned(), sorted_parts(&warnings.join(", ")));
        }
        Answer { status, moved, item }
    }

    /// Whether it is as good as another one.
    pub(super) fn agrees(&self, other: &Answer) -> bool {
        self.status == other.status && self.item == other.item && !self.moves_otherwise(other)
    }

    fn moves_otherwise(&self, other: &Answer) -> bool {
        self.moved.zip(other.moved).is_some_and(|(one, other)| one != other)
    }

    /// The message of a refusal.
    #[cfg(test)]
    pub(super) fn message(&self) -> &str {
        self.item.document["message"].as_str().unwrap_or_default()
    }

    /// The differences from the real server's answer.
    pub(super) fn differences(&self, real: &Answer) -> Vec<Difference> {
        let exchange = |answer: &Answer| Exchange { step: 1, command: String::new(), items: vec![answer.item.clone()] };
        let mut all = differences(&[exchange(real)], &[exchange(self)]);
        if self.moves_otherwise(real) {
            let [recorded, observed] = [real.moved, self.moved].map(|moved| moved.map(Value::Bool));
            all.push(Difference { step: 1, path: "is written".to_owned(), recorded, observed });
        }
        all
    }
}

fn settle_status(status: &mut Value) {
    if let Some(message) = status["message"].as_str() {
        status["message"] = sorted_parts(&settled(message)).into();
    }
    if let Some(Value::Array(causes)) = status.pointer_mut("/details/causes") {
        for cause in causes.iter_mut() {
            if let Some(message) = cause["message"].as_str() {
                cause["message"] = settled(message).into();
            }
        }
        causes.sort_by_cached_key(Value::to_string);
    }
}

fn settle_object(object: &mut Value) {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        for name in ["creationTimestamp", "resourceVersion", "uid"] {
            metadata.remove(name);
        }
        if let Some(Value::Array(managers)) = metadata.get_mut("managedFields") {
            managers.iter_mut().filter_map(Value::as_object_mut).for_each(|manager| drop(manager.remove("time")));
            managers.sort_by_cached_key(Value::to_string);
        }
    }
    // The conditions of a definition, which follow a moment later.
    if object["kind"] == "CustomResourceDefinition" {
        object["status"] = Value::Null;
    }
}

/// The text without the values that differ from server to server.
fn settled(text: &str) -> String {
    let text = without_objects(text);
    let mut parts = text.split(INVENTED);
    let mut settled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        settled += &format!("{INVENTED}<number>{}", part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    settled
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refusal(message: &str, causes: [&str; 2]) -> Answer {
        let causes = causes.map(|message| json!({"message": message}));
        Answer::new(422, &[], json!({"kind": "Status", "message": message, "details": {"causes": causes}}), None)
    }

    #[test]
    fn what_has_no_order_is_compared_without() {
        let one = refusal("T \"a\" is invalid: [x: bad, y: worse]", ["bad", "worse"]);
        let other = refusal("T \"a\" is invalid: [y: worse, x: bad]", ["worse", "bad"]);
        assert!(one.agrees(&other));
        let third = refusal("T \"a\" is invalid: [y: worse, x: worse]", ["worse", "bad"]);
        assert!(!one.agrees(&third));
        assert_eq!(one.differences(&third).len(), 1);
    }

    #[test]
    fn invented_types_have_no_number() {
        assert_eq!(settled("(selfType12, int), (selfType3)"), "(selfType<number>, int), (selfType<number>)");
    }
}
