//! Stages at work: what they ask the server for (`pkg/utils/lifecycle/next.go` and `finalizers.go` of kwok v0.8.0).

use super::shelf::Shelf;
use super::template::Surroundings;
use super::{Stage, Stageable, Step};
use crate::act::{Act, Deletion, PatchType};
use crate::plan::Plan;
use crate::resource::{Key, Resource};
use crate::workloads::facts::{owners, read, template};
use jiff::{SignedDuration, Timestamp};
use machinery::deadline::Deadline;
use machinery::object::meta;
use machinery::yaml;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tree::{Value, json};

/// The number of stages that an object may come to within a second: more than that are those that lead to each other.
const MOST: u32 = 100;
const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// The stages that objects have come to, by uid.
#[derive(Default)]
pub(in super::super) struct Player {
    objects: HashMap<String, Turn>,
    started: Option<Timestamp>,
}

/// The stage that an object comes to.
struct Turn {
    /// The revision for which it was chosen.
    revision: String,
    stage: Option<Arc<Stage>>,
    due: Timestamp,
    is_played: bool,
    /// The stages within the second that began then.
    pace: (Timestamp, u32),
}

/// An object that stages are about, with what templates ask for.
pub(in super::super) struct Played<'a> {
    pub(in super::super) about: Stageable,
    pub(in super::super) resource: Resource,
    pub(in super::super) object: &'a Value,
    /// The name of the node, and its address.
    pub(in super::super) node: (&'a str, &'a str),
    pub(in super::super) pod_ip: &'a str,
}

impl Player {
    /// Forgets an object.
    pub(in super::super) fn forget(&mut self, uid: &str) {
        self.objects.remove(uid);
    }

    /// Takes note that the stage of an object was not played after all.
    pub(in super::super) fn failed(&mut self, uid: &str) {
        if let Some(turn) = self.objects.get_mut(uid) {
            turn.is_played = false;
        }
    }

    /// Forgets which stages were chosen, as there are others.
    pub(in super::super) fn choose_anew(&mut self) {
        self.objects.values_mut().for_each(|turn| turn.revision.clear());
    }

    /// Plays the stage that an object comes to, if it is due.
    pub(in super::super) fn play(&mut self, shelf: &Shelf, played: &Played<'_>, now: Timestamp) -> Plan {
        let started = *self.started.get_or_insert(now);
        let (uid, revision) = (meta::uid(played.object), meta::resource_version(played.object));
        let turn = self.objects.entry(uid.to_owned()).or_insert_with(|| Turn::new(now));
        if turn.revision != revision {
            let stage = shelf.next(played.about, played.object).cloned();
            let wait = stage.as_ref().map_or(Duration::ZERO, |stage| stage.wait(played.object, now));
            let due = now.checked_add(wait).unwrap_or(Timestamp::MAX);
            (turn.revision, turn.stage, turn.due, turn.is_played) = (revision.to_owned(), stage, due, false);
        }
        let Some(stage) = turn.stage.clone().filter(|_| !turn.is_played) else { return Plan::default() };
        if let Some(left) = read::until(turn.due, now) {
            return Plan { again: Some(left), ..Plan::default() };
        }
        if let Some((left, is_first)) = turn.pause(now) {
            let message =
                format!("{MOST} stages within a second, the last one {}: they lead to each other", stage.name);
            let told = is_first.then(|| template::event(played.object, true, "StageLoop", message));
            return Plan { again: Some(left), ..Plan::of(told.into_iter().collect()) };
        }
        let around = Surroundings { now, started, node: played.node, pod_ip: played.pod_ip };
        match acts(&stage, played, &around) {
            Ok(acts) => {
                turn.is_played = true;
                Plan::of(acts)
            }
            Err(why) => Plan::failed(format!("the stage {}: {why}", stage.name)),
        }
    }
}

impl Turn {
    fn new(now: Timestamp) -> Turn {
        Turn { revision: String::new(), stage: None, due: now, is_played: false, pace: (now, 0) }
    }

    /// How long the next stage has to wait as there were too many, and whether it is the first one that has to.
    fn pause(&mut self, now: Timestamp) -> Option<(Duration, bool)> {
        let (begin, count) = self.pace;
        let end = begin.checked_add(SECOND).unwrap_or(Timestamp::MAX);
        match read::until(end, now) {
            Some(left) if count >= MOST => {
                self.pace.1 += 1;
                Some((left, count == MOST))
            }
            Some(_) => {
                self.pace.1 += 1;
                None
            }
            None => {
                self.pace = (now, 1);
                None
            }
        }
    }
}

/// The acts of a stage.
fn acts(stage: &Stage, played: &Played<'_>, around: &Surroundings<'_>) -> Result<Vec<Act>, String> {
    let key = owners::key(played.object);
    let (mut acts, mut is_deleted) = (Vec::new(), false);
    for step in &stage.steps {
        match step {
            Step::Event { warning, reason, message } => {
                acts.push(template::event(played.object, *warning, reason.clone(), message.clone()));
            }
            _ if is_deleted => {}
            Step::Finalizers { add, remove, empty } => {
                let operations = finalizers(played.object, add, remove, *empty);
                if !operations.is_empty() {
                    acts.push(patch(played, &key, "", PatchType::Json, operations.into()));
                }
            }
            Step::Delete => {
                is_deleted = true;
                let uid = Some(meta::uid(played.object).to_owned());
                let options = Deletion { uid, grace: Some(Duration::ZERO), ..Deletion::default() };
                acts.push(Act::Delete { resource: played.resource.clone(), key: key.clone(), options });
            }
            Step::Patch { subresource, root, template, patch_type } => {
                let text = template.render(played.object, around)?;
                let made = yaml::parse(text.as_bytes(), &Deadline::default())?.value;
                acts.push(patch(played, &key, subresource, *patch_type, rooted(root, made, *patch_type)?));
            }
        }
    }
    Ok(acts)
}

fn patch(played: &Played<'_>, key: &Key, subresource: &'static str, patch_type: PatchType, patch: Value) -> Act {
    Act::Patch { resource: played.resource.clone(), key: key.clone(), subresource, patch_type, patch }
}

/// A patch of what is below a field.
fn rooted(root: &str, made: Value, patch_type: PatchType) -> Result<Value, String> {
    match (root, patch_type, made) {
        ("", _, made) => Ok(made),
        (root, PatchType::Json, Value::Array(mut operations)) => {
            for operation in &mut operations {
                let path = format!("/{root}{}", read::text(operation, "/path"));
                operation["path"] = path.into();
            }
            Ok(operations.into())
        }
        (_, PatchType::Json, _) => Err("the template of a JSON patch makes no list".to_owned()),
        (root, _, made) => Ok(json!({root: made})),
    }
}

/// The operations that change finalizers.
fn finalizers(object: &Value, add: &[String], remove: &[String], empty: bool) -> Vec<Value> {
    let present: Vec<&str> = meta::finalizers(object).collect();
    let mut operations = Vec::new();
    let stays = |name: &str| !empty && !remove.iter().any(|removed| removed == name);
    let left = present.iter().filter(|name| stays(name)).count();
    match left {
        0 if !present.is_empty() => operations.push(json!({"op": "remove", "path": "/metadata/finalizers"})),
        _ => {
            let gone = present.iter().enumerate().rev().filter(|(_, name)| !stays(name));
            operations
                .extend(gone.map(|(at, _)| json!({"op": "remove", "path": format!("/metadata/finalizers/{at}")})));
        }
    }
    let new: Vec<&String> = add.iter().filter(|name| left == 0 || !present.contains(&&***name)).collect();
    match left {
        _ if new.is_empty() => {}
        0 => operations.push(json!({"op": "add", "path": "/metadata/finalizers", "value": new})),
        _ => {
            let added = |name: &&String| json!({"op": "add", "path": "/metadata/finalizers/-", "value": name});
            operations.extend(new.iter().map(added));
        }
    }
    operations
}
