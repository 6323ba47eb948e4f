//! Revisions: the set of the present template, those of the past, and the way back to one.
//!
//! Ports `getNewReplicaSet` and `cleanupDeployment` of `k8s.io/kubernetes/pkg/controller/deployment/sync.go`, `rollback.go`, and
//! `SetNewReplicaSetAnnotations` of `util/deployment_util.go` (v1.37.1).

use super::super::facts::{hash, owners, read, template};
use super::rollout::Rollout;
use super::sets::{self, HASH, HISTORY, REVISION, Set};
use super::{DEPLOYMENTS, KIND, progress, status};
use crate::act::{Act, Refusal};
use crate::plan::{Plan, View};
use machinery::object::meta;
use machinery::text::beginning;
use tree::{Value, json};

const ROLLBACK: &str = "deprecated.deployment.rollback.to";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Annotations that a deployment and its sets do not share.
const OWN: [&str; 6] = [LAST_APPLIED, REVISION, HISTORY, sets::DESIRED, sets::MAX, ROLLBACK];
/// The longest history, in characters.
const LONGEST_HISTORY: usize = 2000;
/// The longest name.
const LONGEST_NAME: usize = 253;

impl Rollout<'_> {
    /// Finds the set of the present template and brings it up to date; without one creates it, if asked to.
    pub(super) fn find_new(&mut self, create: bool) {
        let last = self.old().into_iter().filter_map(|old| self.sets[old].revision()).max().unwrap_or_default().max(0);
        let revision = last + 1;
        match self.new {
            Some(index) => self.refresh_new(index, revision),
            None if create => self.create_new(revision),
            None => {}
        }
    }

    fn refresh_new(&mut self, index: usize, revision: i64) {
        let seconds = read::int(&self.deployment, "/spec/minReadySeconds");
        let changed = annotate_new(&self.deployment, &mut self.sets[index], revision);
        if changed || read::int(&self.sets[index].object, "/spec/minReadySeconds") != seconds {
            super::facts_status::count(&mut self.sets[index].object["spec"], "minReadySeconds", seconds);
            self.changes(index);
        }
        let revision = self.sets[index].annotation(REVISION).to_owned();
        sets::annotate(&mut self.deployment, REVISION, &revision);
        let known = status::condition(&self.deployment, progress::PROGRESSING).is_some();
        if progress::has_deadline(&self.deployment) && !known {
            let message = format!("Found new replica set \"{}\"", self.sets[index].name());
            self.set_progress("True", "FoundNewReplicaSet", &message);
        }
    }

    fn create_new(&mut self, revision: i64) {
        let object = new_set(&self.deployment);
        self.sets.push(Set { object, before: None });
        let index = self.sets.len() - 1;
        self.new = Some(index);
        let replicas = self.new_replicas(index);
        self.sets[index].object["spec"]["replicas"] = replicas.into();
        annotate_new(&self.deployment, &mut self.sets[index], revision);
        let (desired, max) = (self.replicas(), self.replicas() + sets::max_surge(&self.deployment));
        self.sets[index].annotate(sets::DESIRED, &desired.to_string());
        self.sets[index].annotate(sets::MAX, &max.to_string());
        self.changes(index);
        let name = self.sets[index].name().to_owned();
        if replicas > 0 {
            let message = format!("Scaled up replica set {name} from 0 to {replicas}");
            self.event(false, "ScalingReplicaSet", message);
        }
        sets::annotate(&mut self.deployment, REVISION, &revision.to_string());
        if progress::has_deadline(&self.deployment) {
            self.set_progress("True", "NewReplicaSetCreated", &format!("Created new replica set \"{name}\""));
        }
    }

    /// Deletes the oldest sets that are not used any more, beyond the limit.
    pub(super) fn clean_up(&mut self) {
        let limit = read::number(&self.deployment, "/spec/revisionHistoryLimit").unwrap_or(i64::from(i32::MAX));
        if limit == i64::from(i32::MAX) {
            return;
        }
        let is_alive = |index: &usize| meta::deletion_timestamp(&self.sets[*index].object).is_none();
        let mut old: Vec<usize> = self.old().into_iter().filter(is_alive).collect();
        let surplus = old.len().saturating_sub(usize::try_from(limit).unwrap_or_default());
        old.sort_by(|one, other| {
            let (one, other) = (&self.sets[*one], &self.sets[*other]);
            match (one.revision(), other.revision()) {
                (Some(first), Some(second)) if first != second => first.cmp(&second),
                _ => sets::by_creation(one, other),
            }
        });
        old.truncate(surplus);
        for index in old {
            let set = &self.sets[index];
            let is_seen = meta::generation(&set.object) <= set.status("observedGeneration");
            if set.status("replicas") == 0 && set.replicas() == 0 && is_seen {
                self.delete(index);
            }
        }
    }

    /// The revision to which a deployment is to be rolled back, by an annotation of old clients.
    pub(super) fn rollback_to(&self) -> Option<i64> {
        meta::annotations(&self.deployment).get(ROLLBACK)?.parse().ok()
    }

    pub(super) fn rollback(mut self, revision: i64) -> Plan {
        self.find_new(true);
        let revision = if revision == 0 { last_revision(&self.sets) } else { revision };
        let mut object = (**self.before).clone();
        let found = self.sets.iter().find(|set| revision != 0 && set.revision() == Some(revision));
        let (warning, reason, message) = match found {
            _ if revision == 0 => {
                (true, "DeploymentRollbackRevisionNotFound", "Unable to find last revision.".to_owned())
            }
            None => {
                let message = "Unable to find the revision to rollback to.".to_owned();
                (true, "DeploymentRollbackRevisionNotFound", message)
            }
            Some(set) if restore(&mut object, set) => {
                let message = format!("Rolled back deployment \"{}\" to revision {revision}", self.name());
                (false, "DeploymentRollback", message)
            }
            Some(_) => {
                let message = format!(
                    "The rollback revision contains the same template as current deployment \"{}\"",
                    self.name()
                );
                (true, "DeploymentRollbackTemplateUnchanged", message)
            }
        };
        if let Some(annotations) = object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
            annotations.remove(ROLLBACK);
        }
        let event = template::event(self.before, warning, reason, message);
        self.deployment = (**self.before).clone();
        let mut plan = self.finish();
        let update = Act::Update { resource: DEPLOYMENTS, subresource: "", object };
        plan.acts.extend(if warning { [event, update] } else { [update, event] });
        plan
    }
}

/// Takes over a set's template and annotations, and returns whether the template is another.
fn restore(deployment: &mut Value, set: &Set) -> bool {
    let template = set.object.pointer("/spec/template");
    if sets::same_template(deployment.pointer("/spec/template"), template) {
        return false;
    }
    deployment["spec"]["template"] = sets::without_hash(template).unwrap_or_default();
    let own = meta::annotations(deployment).iter().filter(|(name, _)| OWN.contains(name));
    let theirs = meta::annotations(&set.object).iter().filter(|(name, _)| !OWN.contains(name));
    let annotations: Value = own.chain(theirs).collect();
    deployment["metadata"]["annotations"] = annotations;
    true
}

/// The last revision but one.
fn last_revision(sets: &[Set]) -> i64 {
    let (mut last, mut before) = (0, 0);
    for revision in sets.iter().filter_map(Set::revision) {
        if revision >= last {
            (last, before) = (revision, last);
        } else if revision > before {
            before = revision;
        }
    }
    before
}

/// The set of a deployment's template, without replicas.
fn new_set(deployment: &Value) -> Value {
    let mut template = deployment.pointer("/spec/template").cloned().unwrap_or_default();
    let hash = hash::template(&template, read::number(deployment, "/status/collisionCount"));
    meta::set_label(&mut template, HASH, &hash);
    let mut selector = deployment.pointer("/spec/selector").cloned().unwrap_or_default();
    selector["matchLabels"][HASH] = hash.as_str().into();
    let base = meta::name(deployment);
    let base = beginning(base, LONGEST_NAME - 1 - hash.len());
    let mut set = json!({
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": format!("{base}-{hash}"),
            "namespace": meta::namespace(deployment),
            "ownerReferences": [KIND.reference(deployment)],
            "labels": template["metadata"]["labels"].clone(),
        },
        "spec": {"replicas": 0, "selector": selector, "template": template},
    });
    super::facts_status::count(&mut set["spec"], "minReadySeconds", read::int(deployment, "/spec/minReadySeconds"));
    set
}

/// Annotates a set as that of the present template, and returns whether that changes it.
fn annotate_new(deployment: &Value, set: &mut Set, revision: i64) -> bool {
    let mut changed = false;
    for (name, value) in meta::annotations(deployment).iter().filter(|(name, _)| !OWN.contains(name)) {
        changed |= set.annotate(name, value);
    }
    let old_text = set.annotation(REVISION).to_owned();
    let Some(old) = set.revision().filter(|old| *old < revision) else { return changed };
    set.annotate(REVISION, &revision.to_string());
    if !old_text.is_empty() {
        let history = set.annotation(HISTORY).to_owned();
        set.annotate(HISTORY, &longer_history(&history, &old.to_string()));
    }
    true
}

/// A history with one more revision, without its oldest ones if it would be too long.
fn longer_history(history: &str, revision: &str) -> String {
    let mut kept = history;
    while kept.len() + revision.len() + 1 > LONGEST_HISTORY {
        kept = kept.split_once(',').map_or("", |(_, rest)| rest);
    }
    if kept.is_empty() { revision.to_owned() } else { format!("{kept},{revision}") }
}

/// The acts that follow when a new set could not be created.
pub(super) fn creation_refused(deployment: &Value, set: &Value, refusal: &Refusal, view: &View<'_>) -> Plan {
    if template::is_of_terminating_namespace(refusal) {
        return Plan::default();
    }
    let mut object = deployment.clone();
    let update = |object| Act::Update { resource: DEPLOYMENTS, subresource: "status", object };
    if refusal.reason == "AlreadyExists" {
        let there = view.objects.get(&super::SETS, &owners::key(set));
        let is_ours = there.is_some_and(|there| owners::is_controlled_by(there, deployment));
        if !is_ours {
            let count = read::int(deployment, "/status/collisionCount") + 1;
            object["status"]["collisionCount"] = count.into();
            return Plan { failed: Some(refusal.to_string()), ..Plan::of(vec![update(object)]) };
        }
        return Plan::failed(refusal.to_string());
    }
    let message = format!("Failed to create new replica set \"{}\": {refusal}", meta::name(set));
    let event = template::event(deployment, true, "ReplicaSetCreateError", message.clone());
    let mut acts = Vec::new();
    if progress::has_deadline(deployment) {
        let condition = status::new(progress::PROGRESSING, "False", "ReplicaSetCreateError", &message, view.now);
        status::set(&mut object, condition);
        if object != *deployment {
            acts.push(update(object));
        }
    }
    acts.push(event);
    Plan { failed: Some(refusal.to_string()), ..Plan::of(acts) }
}
