//! Pods and nodes that go through stages.

use super::{Kubelet, NODES, STAGES_OF, node};
use crate::act::Act;
use crate::nodes::stages::{Played, STAGES, Stageable};
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Plan, View};
use crate::resource::Key;
use crate::workloads::facts::pods::PODS;
use crate::workloads::facts::{read, template};
use machinery::object::meta;
use tree::Value;

impl Kubelet {
    /// Whether stages decide about a pod: there are some, and no rule is about it.
    pub(super) fn is_staged(&self, pod: &Value, objects: &Objects) -> bool {
        self.stages.is_about(Stageable::Pod) && !self.rules.rules(pod, objects)
    }

    /// Plays the stage that a pod comes to.
    pub(super) fn play_pod(&mut self, pod: &Value, view: &View<'_>) -> Plan {
        let (host, pod_ip) = (self.host(pod), self.address(pod));
        let node = (read::text(pod, "/spec/nodeName"), &*host);
        let played = Played { about: Stageable::Pod, resource: PODS, object: pod, node, pod_ip: &pod_ip };
        self.player.play(&self.stages, &played, view.now)
    }

    /// Registers a node, keeps its lease, and plays the stage that it comes to.
    pub(super) fn tend(&mut self, name: &str, view: &View<'_>) -> Plan {
        let is_staged = self.stages.is_about(Stageable::Node);
        let mut plan = node::plan(&self.nodes, &self.version, name, is_staged, view);
        let key = Key { namespace: String::new(), name: name.to_owned() };
        // What is written now is looked at again.
        let is_written = plan.acts.iter().any(|act| matches!(act, Act::Update { resource, .. } if *resource == NODES));
        let Some(object) = view.objects.get(&NODES, &key).filter(|_| is_staged && !is_written) else {
            return plan;
        };
        let address = node::address(self.nodes.iter().position(|node| node == name).unwrap_or_default());
        let played =
            Played { about: Stageable::Node, resource: NODES, object, node: (name, &address), pod_ip: &address };
        let played = self.player.play(&self.stages, &played, view.now);
        plan.acts.extend(played.acts);
        plan.again = read::sooner(plan.again, played.again);
        plan.failed = played.failed;
        plan
    }

    /// Takes note of a node, which is looked at anew: at each change with stages, and as it comes without.
    pub(super) fn note_node(&mut self, change: &Change<'_>, keys: &mut Keys) {
        if change.new.is_none() {
            self.player.forget(change.old.map(meta::uid).unwrap_or_default());
        }
        if change.old.is_none() || self.stages.is_about(Stageable::Node) {
            keys.add(change.key.clone());
        }
    }

    /// Stages have changed: all pods and nodes are looked at, and their object if it is wrong.
    pub(super) fn note_stages(&mut self, change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
        let name = &change.key.name;
        if self.stages.mistake(name).is_some() {
            keys.add(Key { namespace: STAGES_OF.to_owned(), name: name.clone() });
        }
        self.player.choose_anew();
        let node = |name: &String| Key { namespace: String::new(), name: name.clone() };
        self.nodes.iter().map(node).for_each(|key| keys.add(key));
        let here = objects.all(&PODS).filter(|(_, pod)| self.is_here(pod));
        here.for_each(|(key, _)| keys.add(key.clone()));
    }

    /// Says what is wrong with a stage.
    pub(super) fn refuse_stage(&self, name: &str, view: &View<'_>) -> Plan {
        let key = Key { namespace: String::new(), name: name.to_owned() };
        let (object, mistake) = (view.objects.get(&STAGES, &key), self.stages.mistake(name));
        let told = object
            .zip(mistake)
            .map(|(object, mistake)| -> Act { template::event(object, true, "InvalidStage", mistake.to_owned()) });
        Plan::of(told.into_iter().collect())
    }

    /// Lets the stage of an object be played again, as the server has refused a part of it.
    pub(super) fn play_again(&mut self, key: &Key, view: &View<'_>) {
        let resource = if key.namespace.is_empty() { NODES } else { PODS };
        if let Some(object) = view.objects.get(&resource, key) {
            self.player.failed(meta::uid(object));
        }
    }
}
