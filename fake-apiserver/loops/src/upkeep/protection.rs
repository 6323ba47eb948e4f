//! Claims and volumes stay as long as they are in use.
//!
//! Follows `pkg/controller/volume/{pvcprotection,pvprotection}` (v1.37.1). Pods are not listed anew before a claim is let go, as what is known
//! is what there is.

use crate::act::Act;
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use crate::volumes::needs::claims;
use crate::volumes::{CLAIMS, VOLUMES};
use crate::workloads::facts::{conditions, pods, read};
use machinery::object::meta;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;
use tree::Value;

static OF_CLAIMS: Profile = Profile {
    name: "persistentvolumeclaim-protection-controller",
    alias: "pvc-protection",
    user: "system:serviceaccount:kube-system:pvc-protection-controller",
    program: "kube-controller-manager",
    component: "pvc-protection-controller",
};
static OF_VOLUMES: Profile = Profile {
    name: "persistentvolume-protection-controller",
    alias: "pv-protection",
    user: "system:serviceaccount:kube-system:pv-protection-controller",
    program: "kube-controller-manager",
    component: "pv-protection-controller",
};

const CLAIM_FINALIZER: &str = "kubernetes.io/pvc-protection";
const VOLUME_FINALIZER: &str = "kubernetes.io/pv-protection";
/// The condition of a claim that no pod refers to.
const UNUSED: &str = "Unused";

/// The loop that lets claims go.
#[derive(Default)]
pub(crate) struct ClaimProtection {
    /// The pods that refer to a claim.
    users: HashMap<Key, BTreeSet<Key>>,
}

impl ClaimProtection {
    /// Takes note of the claims of a pod, and adds their keys.
    fn note_pod(&mut self, change: &Change<'_>, keys: &mut Keys) {
        for (pod, is_now) in [(change.old, false), (change.new, true)] {
            for (name, _) in pod.iter().flat_map(|pod| claims(pod)) {
                let key = Key { namespace: change.key.namespace.clone(), name };
                let users = self.users.entry(key.clone()).or_default();
                match is_now {
                    true => users.insert(change.key.clone()),
                    false => users.remove(change.key),
                };
                if users.is_empty() {
                    self.users.remove(&key);
                }
                keys.add(key);
            }
        }
    }
}

impl Loop for ClaimProtection {
    fn profile(&self) -> &'static Profile {
        &OF_CLAIMS
    }

    fn follows(&self) -> &'static [Resource] {
        const FOLLOWED: &[Resource] = &[CLAIMS, pods::PODS];
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, _: &Objects, keys: &mut Keys) {
        if &*change.resource.plural == "persistentvolumeclaims" {
            return keys.add(change.key.clone());
        }
        self.note_pod(change, keys);
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let Some(claim) = view.objects.get(&CLAIMS, key) else { return Plan::default() };
        let users = self.users.get(key).into_iter().flatten();
        let all: Vec<&Value> = users.filter_map(|pod| Some(&**view.objects.get(&pods::PODS, pod)?)).collect();
        let is_bound = read::text(claim, "/status/phase") == "Bound" && meta::deletion_timestamp(claim).is_none();
        let used = || all.iter().any(|pod| !is_ended(pod) && uses(pod, claim, false));
        if is_bound && let Some(object) = with_use(claim, used(), view) {
            let told = Act::Update { resource: CLAIMS, subresource: "status", object };
            return Plan { again: Some(Duration::ZERO), ..Plan::of(vec![told]) };
        }
        let held = || all.iter().any(|pod| !read::text(pod, "/spec/nodeName").is_empty() && uses(pod, claim, true));
        protected(&CLAIMS, claim, CLAIM_FINALIZER, held)
    }
}

/// The loop that lets volumes go.
#[derive(Default)]
pub(crate) struct VolumeProtection;

impl Loop for VolumeProtection {
    fn profile(&self) -> &'static Profile {
        &OF_VOLUMES
    }

    fn follows(&self) -> &'static [Resource] {
        const FOLLOWED: &[Resource] = &[VOLUMES];
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, _: &Objects, keys: &mut Keys) {
        keys.add(change.key.clone());
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let Some(volume) = view.objects.get(&VOLUMES, key) else { return Plan::default() };
        protected(&VOLUMES, volume, VOLUME_FINALIZER, || read::text(volume, "/status/phase") == "Bound")
    }
}

/// An object has the finalizer, unless it is to go and is not held.
fn protected(resource: &Resource, object: &Value, finalizer: &str, is_held: impl Fn() -> bool) -> Plan {
    let has = meta::finalizers(object).any(|own| own == finalizer);
    let others = meta::finalizers(object).filter(|own| *own != finalizer).map(Value::from);
    let finalizers: Vec<Value> = match (has, meta::deletion_timestamp(object).is_some()) {
        (true, true) if !is_held() => others.collect(),
        (false, false) => others.chain([finalizer.into()]).collect(),
        _ => return Plan::default(),
    };
    let mut object = object.clone();
    object["metadata"]["finalizers"] = finalizers.into();
    Plan::of(vec![Act::Update { resource: resource.clone(), subresource: "", object }])
}

/// The claim with a condition that says whether it is used, unless it has that.
fn with_use(claim: &Value, used: bool, view: &View<'_>) -> Option<Value> {
    let present = conditions::get(claim, UNUSED).map(|condition| read::text(condition, "/status"));
    let (status, reason, message) = match used {
        true => ("False", "PodUsingPVC", "A pod is currently referencing this PVC"),
        false => ("True", "NoPodsUsingPVC", "No pods are currently referencing this PVC"),
    };
    let is_told = match (used, present) {
        (_, None) => false,
        (true, Some(present)) => present != "True",
        (false, Some(present)) => present == "True",
    };
    if is_told {
        return None;
    }
    let condition = conditions::new(UNUSED, status, reason, message, view.now);
    let mut claim = claim.clone();
    let all = claim["status"].get_mut("conditions").and_then(Value::as_array_mut);
    let own = all.and_then(|all| all.iter_mut().find(|one| read::text(one, "/type") == UNUSED));
    match own {
        Some(own) => *own = condition,
        None => conditions::push(&mut claim["status"], condition),
    }
    Some(claim)
}

/// Whether a pod refers to a claim; with `running`, one that was made for it counts only until it is shut down.
fn uses(pod: &Value, claim: &Value, running: bool) -> bool {
    let is_for_pod = || meta::owner_references(claim).iter().any(|owner| read::text(owner, "/uid") == meta::uid(pod));
    let is_down = pods::is_going(pod) && meta::deletion_grace_period_seconds(pod) == Some(0);
    claims(pod).any(|(name, made)| name == meta::name(claim) && (!made || is_for_pod() && !(running && is_down)))
}

/// Whether a pod has ended, or is going and nothing of it runs (`IsPodTerminated`).
fn is_ended(pod: &Value) -> bool {
    let runs = |status: &Value| status.pointer("/state/running").is_some();
    pods::is_terminal(pod) || pods::is_going(pod) && !read::list(pod, "/status/containerStatuses").iter().any(runs)
}
