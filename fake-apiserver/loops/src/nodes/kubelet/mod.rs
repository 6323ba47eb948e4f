//! A kubelet by rule: it registers nodes, and runs the pods on them as rules say.
//!
//! It writes what `k8s.io/kubernetes/pkg/kubelet` (v1.37.1) writes about such pods. Rules decide what containers do.

mod answers;
mod conditions;
mod containers;
mod life;
mod node;
mod staged;
mod status;

use super::book::{Book, RULES};
use super::rules::{Gone, JOBS, Rules, SETS};
use super::stages::{Player, STAGES, Shelf, Stages};
use crate::act::{Act, Deletion, Refusal};
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::question::{Answer, Question};
use crate::resource::{Key, Resource};
use crate::workloads::facts::pods::{self, PODS};
use crate::workloads::facts::{read, template};
use jiff::Timestamp;
use life::Life;
use machinery::object::meta;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tree::Value;

pub(super) const NODES: Resource = Resource::new("", "v1", "nodes");
const NAMESPACES: Resource = Resource::new("", "v1", "namespaces");
const LEASES: Resource = Resource::new("coordination.k8s.io", "v1", "leases");
/// Owners are followed as rules name them.
const FOLLOWED: &[Resource] = &[NAMESPACES, NODES, LEASES, PODS, SETS, JOBS, RULES, STAGES];
/// The text before the namespace in the key of an object with rules. It is in no name of a namespace.
const RULES_OF: &str = "podrules ";
/// The namespace in the key of an object with a stage.
const STAGES_OF: &str = "stages ";

static PROFILE: Profile =
    Profile { name: "kubelet", alias: "", user: "system:node:node-1", program: "kubelet", component: "kubelet" };

/// The kubelets of some nodes.
pub(super) struct Kubelet {
    nodes: Vec<String>,
    version: String,
    rules: Book,
    /// The lives of pods so far, by uid.
    lives: HashMap<String, Life>,
    /// How many pods of an owner have been seen, by its uid.
    seen: HashMap<String, u64>,
    /// The pods that have got an address.
    addresses: u32,
    stages: Shelf,
    player: Player,
}

impl Kubelet {
    pub(super) fn new(nodes: Vec<String>, version: String, rules: Rules, stages: Stages) -> Kubelet {
        let (lives, seen, addresses, player) = Default::default();
        let (rules, stages) = (Book::of(rules), Shelf::of(stages));
        Kubelet { nodes, version, rules, lives, seen, addresses, stages, player }
    }

    /// Rules have changed: the pods that they may be about are looked at, and their object if they are wrong.
    fn note_rules(&self, change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
        let Key { namespace, name } = change.key;
        if self.rules.mistake(change.key).is_some() {
            keys.add(Key { namespace: format!("{RULES_OF}{namespace}"), name: name.clone() });
        }
        let here = objects.within(&PODS, namespace).filter(|(_, pod)| self.is_here(pod));
        here.for_each(|(key, _)| keys.add(key.clone()));
    }

    /// Says what is wrong with rules.
    fn refuse_rules(&self, key: &Key, view: &View<'_>) -> Plan {
        let (object, mistake) = (view.objects.get(&RULES, key), self.rules.mistake(key));
        let event =
            |(object, mistake): (&Arc<Value>, &str)| template::event(object, true, "InvalidRules", mistake.to_owned());
        Plan::of(object.zip(mistake).map(event).into_iter().collect())
    }

    fn is_here(&self, pod: &Value) -> bool {
        let node = read::text(pod, "/spec/nodeName");
        self.nodes.iter().any(|name| name == node)
    }

    fn run(&mut self, pod: &Value, view: &View<'_>) -> Plan {
        if self.is_staged(pod, view.objects) {
            return self.play_pod(pod, view);
        }
        let fate = self.rules.fate(pod, view.objects);
        if let Some(deleted) = meta::deletion_timestamp(pod).and_then(|time| time.parse().ok()) {
            let end = end(pod, deleted, fate.gone);
            return match read::until(end, view.now) {
                Some(again) => Plan { again: Some(again), ..Plan::default() },
                None => self.end(pod, view),
            };
        }
        if pods::is_terminal(pod) {
            return Plan::default();
        }
        let (uid, lives) = (meta::uid(pod).to_owned(), &mut self.lives);
        let seen = &mut self.seen;
        let life = lives.entry(uid).or_insert_with(|| Life::begin(pod, view.now));
        life.set_outcome(fate.outcome, pod, || life::turn(pod, seen));
        let again = life.advance(pod, view.now);
        let news = life.news(pod);
        let life = life.clone();
        let mut acts: Vec<Act> =
            news.into_iter().map(|(warning, reason, message)| template::event(pod, warning, reason, message)).collect();
        let address = self.address(pod);
        let status = status::of(pod, &life, &address, view);
        acts.extend(update(pod, status));
        Plan { again, ..Plan::of(acts) }
    }

    /// Ends a pod that is being deleted, and lets it go.
    fn end(&mut self, pod: &Value, view: &View<'_>) -> Plan {
        let mut acts = Vec::new();
        if !pods::is_terminal(pod) {
            let mut life = self.lives.get(meta::uid(pod)).cloned().unwrap_or_else(|| Life::begin(pod, view.now));
            life.kill(view.now);
            let address = self.address(pod);
            acts.extend(update(pod, status::of(pod, &life, &address, view)));
        }
        if meta::deletion_grace_period_seconds(pod) != Some(0) {
            let uid = Some(meta::uid(pod).to_owned());
            let options = Deletion { uid, grace: Some(Duration::ZERO), ..Deletion::default() };
            let key = crate::workloads::facts::owners::key(pod);
            acts.push(Act::Delete { resource: PODS, key, options });
        }
        Plan::of(acts)
    }

    /// The address of a pod: that which it has, or a new one.
    fn address(&mut self, pod: &Value) -> String {
        if read::flag(pod, "/spec/hostNetwork") {
            return self.host(pod);
        }
        match read::text(pod, "/status/podIP") {
            "" => {
                self.addresses += 1;
                let [_, high, middle, low] = self.addresses.to_be_bytes();
                format!("10.{}.{middle}.{low}", 244_u8.wrapping_add(high % 8))
            }
            address => address.to_owned(),
        }
    }

    fn host(&self, pod: &Value) -> String {
        let node = read::text(pod, "/spec/nodeName");
        node::address(self.nodes.iter().position(|name| name == node).unwrap_or_default())
    }

    /// Takes note of the addresses that pods have, as of a cluster that went on in another process.
    fn note_address(&mut self, pod: &Value) {
        let parts: Vec<u32> =
            read::text(pod, "/status/podIP").split('.').filter_map(|part| part.parse().ok()).collect();
        if let [10, high, middle, low] = parts[..] {
            let number = (high.saturating_sub(244) << 16) | (middle << 8) | low;
            self.addresses = self.addresses.max(number);
        }
    }
}

/// When a pod that is being deleted has ended. Its time of deletion includes its grace.
fn end(pod: &Value, deleted: Timestamp, gone: Gone) -> Timestamp {
    let grace = meta::deletion_grace_period_seconds(pod).unwrap_or_default();
    let begin = read::after(deleted, -grace);
    match gone {
        Gone::AtOnce => begin,
        Gone::AfterGrace => deleted,
        Gone::After(time) => begin.saturating_add(time).unwrap_or(Timestamp::MAX).min(deleted),
    }
}

fn update(pod: &Value, status: Value) -> Option<Act> {
    let object = crate::workloads::facts::status::changed(pod, status)?;
    Some(Act::Update { resource: PODS, subresource: "status", object })
}

impl Loop for Kubelet {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
        let node = |name: &str| Key { namespace: String::new(), name: name.to_owned() };
        if self.rules.note(change) {
            self.note_rules(change, objects, keys);
        } else if self.stages.note(change) {
            self.note_stages(change, objects, keys);
        } else if *change.resource == PODS {
            let Some(pod) = change.new else {
                let uid = change.old.map(meta::uid).unwrap_or_default();
                self.lives.remove(uid);
                self.player.forget(uid);
                return;
            };
            self.note_address(pod);
            if self.is_here(pod) {
                keys.add(change.key.clone());
            }
        } else if *change.resource == NAMESPACES {
            // The namespace of the leases is there: the nodes can be.
            if change.key.name == node::LEASE_NAMESPACE && change.old.is_none() {
                self.nodes.iter().for_each(|name| keys.add(node(name)));
            }
        } else if *change.resource == NODES && self.nodes.contains(&change.key.name) {
            self.note_node(change, keys);
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        if key.namespace.is_empty() {
            return self.tend(&key.name, view);
        }
        if key.namespace == STAGES_OF {
            return self.refuse_stage(&key.name, view);
        }
        if let Some(namespace) = key.namespace.strip_prefix(RULES_OF) {
            return self.refuse_rules(&Key { namespace: namespace.to_owned(), name: key.name.clone() }, view);
        }
        match view.objects.get(&PODS, key) {
            Some(pod) if self.is_here(pod) => self.run(&pod.clone(), view),
            _ => Plan::default(),
        }
    }

    fn refused(&mut self, key: &Key, _act: &Act, _refusal: &Refusal, view: &View<'_>) -> Option<Plan> {
        self.play_again(key, view);
        None
    }

    fn answer(&mut self, question: &Question, objects: &Objects) -> Option<Answer> {
        let pod = objects.get(&PODS, &question.pod).filter(|pod| self.is_here(pod))?;
        Some(answers::answer(question, pod, &self.rules.fate(pod, objects)))
    }
}
