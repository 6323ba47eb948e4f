//! `replicaset-controller` and `replicationcontroller-controller`, which are one upstream, too.
//!
//! Ports `syncReplicaSet` and `manageReplicas` of `k8s.io/kubernetes/pkg/controller/replicaset/replica_set.go` (v1.37.1).

mod status;

use super::facts::names::Names;
use super::facts::owners::{self, Claim, Kind};
use super::facts::pods::{self, PODS};
use super::facts::{conditions, rank, read, template};
use crate::act::{Act, Refusal};
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use machinery::object::meta;
use machinery::object::selector::LabelSelector;
use std::collections::HashMap;
use std::sync::Arc;
use tree::{Value, json};

pub(super) const SETS: Resource = Resource::new("apps", "v1", "replicasets");
const CONTROLLERS: Resource = Resource::new("", "v1", "replicationcontrollers");

/// The most pods that are created or deleted at once.
const BURST: usize = 500;

static OF_SETS: Variant = Variant {
    profile: Profile {
        name: "replicaset-controller",
        alias: "replicaset",
        user: "system:serviceaccount:kube-system:replicaset-controller",
        program: "kube-controller-manager",
        component: "replicaset-controller",
    },
    kind: Kind::new(SETS, "apps/v1", "ReplicaSet"),
    follows: &[SETS, PODS],
    selector: owners::selector,
    counts_terminating: true,
};

static OF_CONTROLLERS: Variant = Variant {
    profile: Profile {
        name: "replicationcontroller-controller",
        alias: "replicationcontroller",
        user: "system:serviceaccount:kube-system:replication-controller",
        program: "kube-controller-manager",
        component: "replication-controller",
    },
    kind: Kind::new(CONTROLLERS, "v1", "ReplicationController"),
    follows: &[CONTROLLERS, PODS],
    selector: |owner| LabelSelector::structured(&json!({"matchLabels": owner.pointer("/spec/selector")?.clone()})),
    counts_terminating: false,
};

/// The differences between the two kinds.
#[derive(Debug)]
struct Variant {
    profile: Profile,
    kind: Kind,
    follows: &'static [Resource],
    selector: fn(&Value) -> Option<LabelSelector>,
    counts_terminating: bool,
}

/// A controller that keeps a number of pods.
pub(super) struct Replicas {
    variant: &'static Variant,
    names: Names,
}

impl Replicas {
    pub(super) fn of_sets() -> Replicas {
        Replicas { variant: &OF_SETS, names: Names::default() }
    }

    pub(super) fn of_controllers() -> Replicas {
        Replicas { variant: &OF_CONTROLLERS, names: Names::default() }
    }

    fn plan(&mut self, owner: &Arc<Value>, failure: Option<(&'static str, String)>, view: &View<'_>) -> Plan {
        let variant = self.variant;
        let Some(selector) = (variant.selector)(owner) else { return Plan::default() };
        let (active, ended): (Vec<_>, Vec<_>) =
            owners::candidates(view.objects, &PODS, owner).into_iter().partition(|pod| pods::is_active(pod));
        let selects = |pod: &Value| owners::selects(&selector, pod);
        let Claim { mine, mut acts } = owners::claim(&variant.kind, owner, selects, &PODS, active, None);
        let going = ended.iter().filter(|pod| pods::is_terminating(pod) && owners::is_controlled_by(pod, owner));
        let terminating = variant.counts_terminating.then(|| going.filter(|pod| selects(pod)).count());
        if failure.is_none() && meta::deletion_timestamp(owner).is_none() {
            self.manage(owner, &mine, view, &mut acts);
        }
        let status = status::of(owner, &mine, terminating, failure, view.now);
        acts.extend(status::changed(owner, status).map(|object| Act::Update {
            resource: variant.kind.resource.clone(),
            subresource: "status",
            object,
        }));
        let seconds = read::int(owner, "/spec/minReadySeconds");
        Plan { again: pods::next_available(mine.iter().map(|pod| &***pod), seconds, view.now), ..Plan::of(acts) }
    }

    fn manage(&mut self, owner: &Arc<Value>, mine: &[&Arc<Value>], view: &View<'_>, acts: &mut Vec<Act>) {
        let wanted = usize::try_from(read::int(owner, "/spec/replicas")).unwrap_or_default();
        for _ in mine.len()..wanted.min(mine.len().saturating_add(BURST)) {
            let pod = template::pod(&self.variant.kind, owner);
            acts.extend(template::create(pod, owner, &mut self.names, view));
        }
        let surplus = mine.len().saturating_sub(wanted).min(BURST);
        for pod in to_delete(owner, mine, surplus, view) {
            acts.extend(template::delete(pod, owner));
        }
    }
}

/// The pods that go first. Pods of other sets of the same owner count as related: where many of them are, one can go.
fn to_delete<'p>(owner: &Value, mine: &[&'p Arc<Value>], surplus: usize, view: &View<'_>) -> Vec<&'p Value> {
    if surplus == 0 {
        return Vec::new();
    }
    let mut pods: Vec<&Value> = mine.iter().map(|pod| &***pod).collect();
    if surplus < pods.len() {
        let on_node = related(owner, view);
        let rank = |pod: &Value| on_node.get(read::text(pod, "/spec/nodeName")).copied().unwrap_or_default();
        pods.sort_by(|one, other| rank::compare((one, rank(one)), (other, rank(other)), Some(view.now)));
    }
    pods.truncate(surplus);
    pods
}

fn related<'o>(owner: &'o Value, view: &View<'o>) -> HashMap<&'o str, usize> {
    let namespace = meta::namespace(owner);
    let controller = owners::controller(owner).map(|reference| read::text(reference, "/uid"));
    let siblings = view.objects.within(&SETS, namespace).map(|(_, set)| set).filter(|set| {
        let theirs = owners::controller(set).map(|reference| read::text(reference, "/uid"));
        controller.is_some() && theirs == controller
    });
    let selectors: Vec<LabelSelector> = siblings.filter_map(|set| owners::selector(set)).collect();
    let mut on_node = HashMap::new();
    for (_, pod) in view.objects.within(&PODS, namespace) {
        if pods::is_active(pod) && selectors.iter().any(|selector| owners::selects(selector, pod)) {
            *on_node.entry(read::text(pod, "/spec/nodeName")).or_default() += 1;
        }
    }
    on_node
}

impl Loop for Replicas {
    fn profile(&self) -> &'static Profile {
        &self.variant.profile
    }

    fn follows(&self) -> &'static [Resource] {
        self.variant.follows
    }

    fn wants(&mut self, change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
        match *change.resource == PODS {
            true => owners::wanted(&self.variant.kind, self.variant.selector, change, objects, keys),
            false => keys.add(change.key.clone()),
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let owner = view.objects.get(&self.variant.kind.resource, key);
        owner.map(|owner| self.plan(owner, None, view)).unwrap_or_default()
    }

    fn refused(&mut self, key: &Key, act: &Act, refusal: &Refusal, view: &View<'_>) -> Option<Plan> {
        let owner = view.objects.get(&self.variant.kind.resource, key)?;
        if template::is_of_terminating_namespace(refusal) {
            return Some(Plan::default());
        }
        let (event, reason, error) = template::failed(act, owner, refusal)?;
        let mut plan = self.plan(owner, Some((reason, error.clone())), view);
        plan.acts.insert(0, event);
        plan.failed = Some(error);
        Some(plan)
    }
}

/// Whether a set could not create or delete its pods.
pub(super) fn failure(set: &Value) -> Option<&Value> {
    conditions::get(set, "ReplicaFailure")
}
