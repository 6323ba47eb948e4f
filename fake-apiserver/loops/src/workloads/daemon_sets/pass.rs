//! One pass over a daemon set (`podsShouldBeOnNode`, `manage` and `syncNodes`).

use super::super::facts::names::Names;
use super::super::facts::owners::Claim;
use super::super::facts::pods;
use super::super::facts::{read, revisions, scaled, template};
use super::revision::Revisions;
use super::{KIND, NODES, SETS, Wait, nodes, status};
use crate::act::Act;
use crate::plan::{Plan, View};
use machinery::object::meta;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tree::Value;

const GENERATION: &str = "deprecated.daemonset.template.generation";
/// The most pods that are created or deleted at once.
const BURST: usize = 250;
/// The first and the longest wait before a failed pod is replaced, in seconds.
const WAITS: (i64, i64) = (1, 15 * 60);

pub(super) type Waits = HashMap<(String, i64, String), Wait>;

/// A pass.
pub(super) struct Pass<'v> {
    pub(super) view: &'v View<'v>,
    pub(super) set: &'v Arc<Value>,
    pub(super) nodes: Vec<&'v Arc<Value>>,
    pub(super) mine: Vec<&'v Arc<Value>>,
    pub(super) on_node: BTreeMap<String, Vec<&'v Value>>,
    pub(super) revisions: Revisions<'v>,
    acts: Vec<Act>,
    again: Option<Duration>,
}

impl<'v> Pass<'v> {
    pub(super) fn new(set: &'v Arc<Value>, claim: Claim<'v>, view: &'v View<'v>) -> Pass<'v> {
        let mut revisions = Revisions::of(set, view);
        let mut acts = std::mem::take(&mut revisions.acts);
        acts.extend(claim.acts);
        let mut on_node: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
        for pod in claim.mine.iter().filter(|pod| !(pods::is_terminal(pod) && pods::is_going(pod))) {
            if let Some(node) = nodes::target(pod) {
                on_node.entry(node.to_owned()).or_default().push(pod);
            }
        }
        for pods in on_node.values_mut() {
            pods.sort_by_key(|pod| {
                let is_waiting = read::text(pod, "/spec/nodeName").is_empty();
                (is_waiting, meta::creation_timestamp(pod).to_owned(), meta::name(pod).to_owned())
            });
        }
        let nodes = view.objects.all(&NODES).map(|(_, node)| node).collect();
        Pass { view, set, nodes, mine: claim.mine, on_node, revisions, acts, again: None }
    }

    pub(super) fn plan(mut self, names: &mut Names, waits: &mut Waits) -> Plan {
        if self.revisions.collides {
            let mut object = (**self.set).clone();
            let collisions = read::int(self.set, "/status/collisionCount") + 1;
            object["status"]["collisionCount"] = collisions.into();
            self.acts.push(Act::Update { resource: SETS, subresource: "status", object });
            return Plan::of(self.acts);
        }
        let (wanted, unwanted) = self.manage(waits);
        let is_settled = wanted.is_empty() && unwanted.is_empty();
        self.do_all(&wanted, &unwanted, names);
        // As upstream, updates begin once the set is where it should be.
        if is_settled && read::text(self.set, "/spec/updateStrategy/type") == "RollingUpdate" {
            let (wanted, unwanted) = self.roll();
            self.do_all(&wanted, &unwanted, names);
        }
        let cleaned = self.revisions.clean_up(self.set, &self.mine);
        self.acts.extend(cleaned);
        let object = status::changed(&self);
        self.acts.extend(object.map(|object| Act::Update { resource: SETS, subresource: "status", object }));
        let seconds = read::int(self.set, "/spec/minReadySeconds");
        let available = pods::next_available(self.mine.iter().map(|pod| &***pod), seconds, self.view.now);
        Plan { again: read::sooner(self.again, available), ..Plan::of(self.acts) }
    }

    /// Whether a pod is of the present template.
    pub(super) fn is_updated(&self, pod: &Value) -> bool {
        let generation = meta::annotations(self.set).get(GENERATION);
        let labels = meta::labels(pod);
        labels.get(revisions::HASH) == Some(self.revisions.hash.as_str())
            || generation.is_some() && labels.get("pod-template-generation") == generation
    }

    /// The most pods beyond those wanted, and the most that may be missing.
    pub(super) fn limits(&self, wanted: i64) -> (i64, i64) {
        let rolling = self.set.pointer("/spec/updateStrategy/rollingUpdate");
        let part = |name: &str| scaled::scaled(rolling.and_then(|rolling| rolling.get(name)), wanted, true);
        match (part("maxSurge"), part("maxUnavailable")) {
            (0, 0) => (0, 1),
            limits => limits,
        }
    }

    fn allows_surge(&self) -> bool {
        read::text(self.set, "/spec/updateStrategy/type") == "RollingUpdate" && self.limits(1).0 > 0
    }

    pub(super) fn is_available(&self, pod: &Value) -> bool {
        pods::is_available(pod, read::int(self.set, "/spec/minReadySeconds"), self.view.now)
    }

    /// The nodes that need a pod, and the pods that have to go.
    fn manage(&mut self, waits: &mut Waits) -> (Vec<String>, Vec<&'v Value>) {
        let (mut wanted, mut unwanted) = (Vec::new(), Vec::new());
        for node in self.nodes.clone() {
            let (should, may) = nodes::runs(self.set, node);
            let name = meta::name(node);
            match self.on_node.get(name).cloned() {
                None if should => wanted.push(name.to_owned()),
                None => {}
                Some(pods) if may => self.judge(name, should, &pods, waits, &mut wanted, &mut unwanted),
                Some(pods) => unwanted.extend(pods.into_iter().filter(|pod| !pods::is_going(pod))),
            }
        }
        let is_there = |name: &String| self.nodes.iter().any(|node| meta::name(node) == name);
        let lost = self.on_node.iter().filter(|(name, _)| !is_there(name)).flat_map(|(_, pods)| pods);
        unwanted.extend(lost.copied().filter(|pod| read::text(pod, "/spec/nodeName").is_empty()));
        (wanted, unwanted)
    }

    fn judge(
        &mut self,
        node: &str,
        should: bool,
        all: &[&'v Value],
        waits: &mut Waits,
        wanted: &mut Vec<String>,
        unwanted: &mut Vec<&'v Value>,
    ) {
        let mut running = Vec::new();
        for pod in all.iter().copied().filter(|pod| !pods::is_going(pod)) {
            let place = format!("{}/{}", meta::namespace(pod), meta::name(pod));
            match pods::phase(pod) {
                "Failed" => {
                    if self.wait(node, waits) {
                        let message = format!("Found failed daemon pod {place} on node {node}, will try to kill it");
                        self.acts.push(template::event(self.set, true, "FailedDaemonPod", message));
                        unwanted.push(pod);
                    }
                }
                "Succeeded" => {
                    let message = format!("Found succeeded daemon pod {place} on node {node}, will try to delete it");
                    self.acts.push(template::event(self.set, false, "SucceededDaemonPod", message));
                    unwanted.push(pod);
                }
                _ => running.push(pod),
            }
        }
        if !self.allows_surge() {
            unwanted.extend(running.into_iter().skip(1));
        } else if running.is_empty() && should {
            wanted.push(node.to_owned());
        } else if running.len() > 1 {
            let (new, old): (Vec<&Value>, Vec<&Value>) = running.into_iter().partition(|pod| self.is_of_hash(pod));
            unwanted.extend(new.iter().skip(1).chain(old.iter().skip(1)));
            if let (Some(new), Some(old)) = (new.first(), old.first())
                && (!pods::is_ready(old) || self.is_available(new))
            {
                unwanted.push(old);
            }
        }
    }

    fn is_of_hash(&self, pod: &Value) -> bool {
        meta::labels(pod).get(revisions::HASH) == Some(self.revisions.hash.as_str())
    }

    /// Whether a failed pod may be replaced now. If so, the next one waits twice as long.
    fn wait(&mut self, node: &str, waits: &mut Waits) -> bool {
        let generation = read::int(self.set, "/status/observedGeneration");
        let place = (meta::uid(self.set).to_owned(), generation, node.to_owned());
        let now = self.view.now;
        let seconds = match waits.get(&place) {
            None => WAITS.0,
            Some(wait) => {
                if let Some(left) = read::until(read::after(wait.since, wait.seconds), now) {
                    self.again = read::sooner(self.again, Some(left));
                    return false;
                }
                wait.seconds.saturating_mul(2).min(WAITS.1)
            }
        };
        waits.insert(place, Wait { since: now, seconds });
        true
    }

    fn do_all(&mut self, wanted: &[String], unwanted: &[&Value], names: &mut Names) {
        let spec = self.set.pointer("/spec/template/spec").cloned().unwrap_or_default();
        for node in wanted.iter().take(BURST) {
            let mut pod = template::pod(&KIND, self.set);
            if let Some(generation) = meta::annotations(self.set).get(GENERATION) {
                meta::set_label(&mut pod, "pod-template-generation", generation);
            }
            meta::set_label(&mut pod, revisions::HASH, &self.revisions.hash);
            pod["spec"]["tolerations"] = nodes::tolerations(&spec).into();
            nodes::aim(&mut pod, node);
            self.acts.extend(template::create(pod, self.set, names, self.view));
        }
        for pod in unwanted.iter().take(BURST) {
            self.acts.extend(template::delete(pod, self.set));
        }
    }
}
