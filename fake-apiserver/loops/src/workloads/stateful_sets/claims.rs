//! The claims of a stateful set's pods, and who owns them.
//!
//! Ports `k8s.io/kubernetes/pkg/controller/statefulset/stateful_set_utils.go` and `stateful_pod_control.go` (v1.37.1).

use super::super::facts::{owners, read, template};
use super::{CLAIMS, KIND, identity};
use crate::act::Act;
use crate::plan::View;
use crate::resource::{Key, Resource};
use machinery::object::meta;
use std::sync::Arc;
use tree::{Value, json};

static POD: owners::Kind = owners::Kind::new(Resource::new("", "v1", "pods"), "v1", "Pod");

fn name(set: &Value, template: &Value, ordinal: i64) -> String {
    format!("{}-{}-{ordinal}", meta::name(template), meta::name(set))
}

/// The claims of a pod, with their names.
fn of(set: &Value, ordinal: i64) -> Vec<Value> {
    let labels = set.pointer("/spec/selector/matchLabels").and_then(Value::as_object);
    let made = read::list(set, "/spec/volumeClaimTemplates").iter().map(|template| {
        let mut claim = template.clone();
        (claim["apiVersion"], claim["kind"]) = ("v1".into(), "PersistentVolumeClaim".into());
        if let Some(fields) = claim.as_object_mut() {
            fields.remove("status");
        }
        meta::set(&mut claim, "name", name(set, template, ordinal));
        meta::set(&mut claim, "namespace", meta::namespace(set));
        for (key, value) in labels.into_iter().flatten() {
            meta::set_label(&mut claim, key, value.as_str().unwrap_or_default());
        }
        claim
    });
    made.collect()
}

/// Gives a pod the volumes of its claims, in place of those of the same names.
pub(super) fn mount(set: &Value, pod: &mut Value, ordinal: i64) {
    let templates = read::list(set, "/spec/volumeClaimTemplates");
    if templates.is_empty() {
        return;
    }
    let mut volumes: Vec<Value> = Vec::new();
    for template in templates {
        let claim = json!({"claimName": name(set, template, ordinal)});
        volumes.push(json!({"name": meta::name(template), "persistentVolumeClaim": claim}));
    }
    let is_claimed = |volume: &Value| templates.iter().any(|claim| meta::name(claim) == read::text(volume, "/name"));
    volumes.extend(read::list(pod, "/spec/volumes").iter().filter(|volume| !is_claimed(volume)).cloned());
    pod["spec"]["volumes"] = volumes.into();
}

fn find<'o>(claim: &Value, view: &View<'o>) -> Option<&'o Arc<Value>> {
    view.objects.get(&CLAIMS, &owners::key(claim))
}

/// Creates the claims of a pod that are missing, with the events about them. The error is about one that is being deleted.
pub(super) fn create(set: &Value, pod: &Value, view: &View<'_>) -> Result<Vec<Act>, String> {
    let mut acts = Vec::new();
    for claim in of(set, identity::ordinal(pod).unwrap_or_default()) {
        let name = meta::name(&claim).to_owned();
        match find(&claim, view) {
            Some(there) if meta::deletion_timestamp(there).is_some() => {
                return Err(format!("pvc {name} is being deleted"));
            }
            Some(_) => {}
            None => {
                let message =
                    format!("Create Claim {name} Pod {} in StatefulSet {} success", meta::name(pod), meta::name(set));
                let key = Key { namespace: meta::namespace(set).to_owned(), name };
                acts.push(Act::Create { resource: CLAIMS, key, subresource: "", object: claim });
                acts.push(template::event(set, false, "SuccessfulCreate", message));
            }
        }
    }
    Ok(acts)
}

fn policy<'s>(set: &'s Value, when: &str) -> &'s str {
    read::text(set, &format!("/spec/persistentVolumeClaimRetentionPolicy/{when}"))
}

/// Whether a claim is of a pod of the same name that is gone, and goes with it.
pub(super) fn is_stale(set: &Value, pod: &Value, view: &View<'_>) -> bool {
    if policy(set, "whenScaled") != "Delete" {
        return false;
    }
    let is_of_another = |owner: &Value| {
        read::text(owner, "/kind") == "Pod"
            && read::text(owner, "/name") == meta::name(pod)
            && read::text(owner, "/uid") != meta::uid(pod)
    };
    let claims = of(set, identity::ordinal(pod).unwrap_or_default());
    claims
        .iter()
        .filter_map(|claim| find(claim, view))
        .any(|claim| meta::owner_references(claim).iter().any(is_of_another))
}

/// Gives the claims of a pod the owners that go before them, as the set's policy says.
pub(super) fn own(set: &Value, pod: &Value, in_range: bool, view: &View<'_>) -> Vec<Act> {
    let is_one_of_us = |owner: &Value| {
        let (kind, name) = (read::text(owner, "/kind"), read::text(owner, "/name"));
        (kind == "StatefulSet" && name == meta::name(set)) || (kind == "Pod" && name == meta::name(pod))
    };
    let mut acts = Vec::new();
    for claim in of(set, identity::ordinal(pod).unwrap_or_default()) {
        let Some(there) = find(&claim, view) else { continue };
        let old = meta::owner_references(there);
        let mut new: Vec<Value> = old.iter().filter(|owner| !is_one_of_us(owner)).cloned().collect();
        let has_another = new.iter().any(|owner| read::flag(owner, "/controller"));
        if !has_another {
            let scaled = policy(set, "whenScaled") == "Delete" && !in_range;
            if scaled && !meta::uid(pod).is_empty() {
                new.push(POD.reference(pod));
            } else if policy(set, "whenDeleted") == "Delete" && !scaled {
                new.push(KIND.reference(set));
            }
        }
        let uids =
            |owners: &[Value]| owners.iter().map(|owner| read::text(owner, "/uid").to_owned()).collect::<Vec<_>>();
        if uids(old) != uids(&new) {
            let mut object = (**there).clone();
            match new.is_empty() {
                true => meta::remove(&mut object, "ownerReferences"),
                false => meta::set(&mut object, "ownerReferences", new),
            }
            acts.push(Act::Update { resource: CLAIMS, subresource: "", object });
        }
    }
    acts
}
