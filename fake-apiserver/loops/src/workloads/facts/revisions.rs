//! Controller revisions: templates of the past.
//!
//! Ports `k8s.io/kubernetes/pkg/controller/history/controller_history.go` (v1.37.1).

use super::owners::{self, Claim, Kind};
use super::read;
use crate::act::{Act, Deletion};
use crate::objects::Objects;
use crate::resource::Resource;
use machinery::object::meta;
use std::sync::Arc;
use tree::{Value, json};

/// Controller revisions.
pub(crate) const REVISIONS: Resource = Resource::new("apps", "v1", "controllerrevisions");

/// The label with a revision's hash on revisions of daemon sets, and with the revision on pods.
pub(crate) const HASH: &str = "controller-revision-hash";

/// The revisions of a controller, oldest first, with what is to be done to own them.
pub(crate) fn of<'o>(kind: &Kind, owner: &'o Value, objects: &'o Objects) -> Claim<'o> {
    let selector = owners::selector(owner);
    let selects = |revision: &Value| {
        selector.as_ref().is_some_and(|selector| owners::selects(selector, revision))
            || owners::is_controlled_by(revision, owner)
    };
    let candidates = owners::candidates(objects, &REVISIONS, owner);
    let mut claim = owners::claim(kind, owner, selects, &REVISIONS, candidates, None);
    claim.mine.sort_by_key(|revision| {
        (number(revision), meta::creation_timestamp(revision).to_owned(), meta::name(revision).to_owned())
    });
    claim
}

/// The number of a revision.
pub(crate) fn number(revision: &Value) -> i64 {
    read::int(revision, "/revision")
}

/// The data of the revision that has a controller's template.
pub(crate) fn data(owner: &Value) -> Value {
    let mut template = owner.pointer("/spec/template").cloned().unwrap_or_default();
    template["$patch"] = "replace".into();
    json!({"spec": {"template": template}})
}

/// Whether a revision has that data.
pub(crate) fn has(revision: &Value, data: &Value) -> bool {
    machinery::object::generation::equal(revision.get("data"), Some(data))
}

/// The template of a revision.
pub(crate) fn template(revision: &Value) -> Value {
    let mut template = revision.pointer("/data/spec/template").cloned().unwrap_or_default();
    if let Some(fields) = template.as_object_mut() {
        fields.remove("$patch");
    }
    template
}

/// A revision of a controller's template, which is named by a hash, and has it as that label.
pub(crate) fn new(kind: &Kind, owner: &Value, number: i64, (label, hash): (&str, &str), data: Value) -> Value {
    let base = meta::name(owner);
    let mut revision = json!({
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": format!("{base}-{hash}"),
            "namespace": meta::namespace(owner),
            "ownerReferences": [kind.reference(owner)],
        },
        "data": data,
        "revision": number,
    });
    if let Some(labels) = owner.pointer("/spec/template/metadata/labels").filter(|labels| labels.is_object()) {
        revision["metadata"]["labels"] = labels.clone();
    }
    meta::set_label(&mut revision, label, hash);
    if let Some(annotations) = owner.pointer("/metadata/annotations").filter(|all| all.is_object()) {
        revision["metadata"]["annotations"] = annotations.clone();
    }
    revision
}

/// The creation of a revision.
pub(crate) fn create(revision: &Value) -> Act {
    Act::Create { resource: REVISIONS, key: owners::key(revision), subresource: "", object: revision.clone() }
}

/// The change of a revision's number.
pub(crate) fn renumber(revision: &Arc<Value>, number: i64) -> Act {
    let mut object = (**revision).clone();
    object["revision"] = number.into();
    Act::Update { resource: REVISIONS, subresource: "", object }
}

/// The deletion of a revision.
pub(crate) fn delete(revision: &Value) -> Act {
    Act::Delete { resource: REVISIONS, key: owners::key(revision), options: Deletion::default() }
}
