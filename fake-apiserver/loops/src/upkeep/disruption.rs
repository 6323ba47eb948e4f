//! Budgets for disruptions: how many pods there are, should be, and may be missed.
//!
//! Follows `pkg/controller/disruption/disruption.go` (v1.37.1). The scale of controllers that are custom resources is not asked for: to a
//! budget that needs it they are no controllers.

use crate::act::Act;
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use crate::workloads::facts::{conditions, owners, pods, read};
use jiff::Timestamp;
use machinery::object::meta;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;
use tree::{Map, Value, json};

static PROFILE: Profile = Profile {
    name: "disruption-controller",
    alias: "disruption",
    user: "system:serviceaccount:kube-system:disruption-controller",
    program: "kube-controller-manager",
    component: "controllermanager",
};

const BUDGETS: Resource = Resource::new("policy", "v1", "poddisruptionbudgets");
const DEPLOYMENTS: Resource = Resource::new("apps", "v1", "deployments");
const REPLICA_SETS: Resource = Resource::new("apps", "v1", "replicasets");
const STATEFUL_SETS: Resource = Resource::new("apps", "v1", "statefulsets");
const REPLICATION_CONTROLLERS: Resource = Resource::new("", "v1", "replicationcontrollers");
/// The seconds within which an evicted pod is deleted, or was not.
const DELETION: i64 = 2 * 60;
/// The seconds for which a pod that was to be disrupted, and was not, is a target.
const STALE: i64 = 2 * 60;
/// The beginning of the keys of pods.
const POD: &str = "pods/";
/// The condition of a budget.
const ALLOWED: &str = "DisruptionAllowed";
/// The condition of a pod that is to be disrupted.
const TARGET: &str = "DisruptionTarget";

/// The loop that keeps budgets.
#[derive(Default)]
pub(crate) struct Disruption {
    /// The pods that have several budgets, to be told of once, by the budget that was chosen.
    torn: BTreeMap<Key, BTreeSet<Key>>,
}

/// The numbers of a budget's pods.
struct Count {
    expected: i64,
    desired: i64,
    unmanaged: bool,
}

impl Loop for Disruption {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        const FOLLOWED: &[Resource] =
            &[BUDGETS, pods::PODS, DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS, REPLICATION_CONTROLLERS];
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
        match &*change.resource.plural {
            "poddisruptionbudgets" => keys.add(change.key.clone()),
            "pods" => {
                let Some(pod) = change.object() else { return };
                let mut budgets =
                    objects.within(&BUDGETS, &change.key.namespace).filter(|(_, budget)| selects(budget, pod));
                if let Some((key, _)) = budgets.next() {
                    keys.add(key.clone());
                    if budgets.next().is_some() && change.new.is_some() {
                        self.torn.entry(key.clone()).or_default().insert(change.key.clone());
                    }
                }
                if change.new.is_some_and(|pod| stale_since(pod).is_some()) {
                    let name = format!("{POD}{}", change.key.name);
                    keys.add(Key { namespace: change.key.namespace.clone(), name });
                }
            }
            _ => {}
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        if let Some(name) = key.name.strip_prefix(POD) {
            return not_disrupted(&Key { namespace: key.namespace.clone(), name: name.to_owned() }, view);
        }
        let torn = self.torn.remove(key).unwrap_or_default();
        let Some(budget) = view.objects.get(&BUDGETS, key) else { return Plan::default() };
        let mut plan = synced(budget, view);
        let told = torn.iter().filter_map(|pod| {
            let about = view.objects.get(&pods::PODS, pod)?;
            let (namespace, pod, name) = (&pod.namespace, &pod.name, &key.name);
            let message = format!(
                "Pod {namespace:?}/{pod:?} matches multiple PodDisruptionBudgets.  Chose {name:?} arbitrarily."
            );
            Some(event(about, true, "MultiplePodDisruptionBudgets", message))
        });
        let told: Vec<Act> = told.collect();
        plan.acts.splice(0..0, told);
        plan
    }
}

fn event(about: &Value, warning: bool, reason: &'static str, message: String) -> Act {
    Act::Event { about: about.clone(), warning, reason: reason.into(), action: "", message }
}

fn selects(budget: &Value, pod: &Value) -> bool {
    owners::selector(budget).is_some_and(|selector| owners::selects(&selector, pod))
}

/// The status that a budget should have.
fn synced(budget: &Value, view: &View<'_>) -> Plan {
    let all = view.objects.within(&pods::PODS, meta::namespace(budget)).map(|(_, pod)| pod);
    let selector = owners::selector(budget);
    let is_selected = |pod: &Value| selector.as_ref().is_some_and(|selector| owners::selects(selector, pod));
    let all: Vec<&Arc<Value>> = all.filter(|pod| is_selected(pod)).collect();
    let mut acts = Vec::new();
    if all.is_empty() {
        acts.push(event(budget, false, "NoPods", "No matching pods found".to_owned()));
    }
    let count = match expected(budget, &all, view.objects) {
        Ok(count) => count,
        Err(why) => {
            let message = format!("Failed to calculate the number of expected pods: {why}");
            acts.push(event(budget, true, "CalculateExpectedPodCountFailed", message));
            acts.extend(status(budget, failed(budget, &why, view.now)));
            return Plan::of(acts);
        }
    };
    if count.unmanaged {
        acts.push(event(budget, true, "UnmanagedPods", unmanaged(budget)));
    }
    let disrupted = disrupted(budget, &all, view.now);
    acts.extend(disrupted.late.iter().map(|pod| {
        let namespace = meta::namespace(budget);
        let message = format!("Pod was expected by PDB {namespace}/{namespace} to be deleted but it wasn't");
        event(pod, true, "NotDeleted", message)
    }));
    let is_healthy = |pod: &&&Arc<Value>| {
        !pods::is_going(pod) && !disrupted.pods.contains_key(meta::name(pod)) && pods::is_ready(pod)
    };
    let healthy = i64::try_from(all.iter().filter(is_healthy).count()).unwrap_or(i64::MAX);
    let allowed = if count.expected <= 0 { 0 } else { (healthy - count.desired).max(0) };
    let mut now = json!({
        "disruptionsAllowed": allowed,
        "currentHealthy": healthy,
        "desiredHealthy": count.desired,
        "expectedPods": count.expected,
        "observedGeneration": meta::generation(budget),
    });
    if !disrupted.pods.is_empty() {
        now["disruptedPods"] = Value::Object(disrupted.pods);
    }
    let (state, reason) = if allowed > 0 { ("True", "SufficientPods") } else { ("False", "InsufficientPods") };
    let old = budget.get("status").cloned().unwrap_or_default();
    now["conditions"] = conditioned(&old, (state, reason, ""), meta::generation(budget), view.now).into();
    acts.extend(status(budget, now));
    let again = disrupted.next.and_then(|next| read::until(next, view.now));
    Plan { acts, again, failed: None }
}

/// The update of a status, unless it is as it should be.
fn status(budget: &Value, now: Value) -> Option<Act> {
    (budget.get("status") != Some(&now)).then(|| {
        let mut object = budget.clone();
        object["status"] = now;
        Act::Update { resource: BUDGETS, subresource: "status", object }
    })
}

/// The conditions of a status, with one that is new, or says something else.
fn conditioned(old: &Value, new: (&str, &str, &str), generation: i64, now: Timestamp) -> Vec<Value> {
    let (state, reason, message) = new;
    let mut all = read::list(old, "/conditions").to_vec();
    let own = all.iter().position(|condition| read::text(condition, "/type") == ALLOWED);
    let since = own.map(|at| &all[at]).filter(|own| read::text(own, "/status") == state);
    let since = since.map_or_else(|| read::stamp(now), |own| read::text(own, "/lastTransitionTime").to_owned());
    let mut condition = json!({
        "type": ALLOWED, "status": state, "lastTransitionTime": since, "reason": reason, "message": message,
    });
    if generation != 0 {
        condition["observedGeneration"] = generation.into();
    }
    match own {
        Some(at) => all[at] = condition,
        None => all.push(condition),
    }
    all
}

/// The status of a budget whose pods cannot be counted: nothing may be disrupted.
fn failed(budget: &Value, why: &str, now: Timestamp) -> Value {
    let mut status = budget.get("status").cloned().unwrap_or_else(|| json!({}));
    let observed = read::int(&status, "/observedGeneration");
    status["disruptionsAllowed"] = 0.into();
    status["conditions"] = conditioned(&status, ("False", "SyncFailed", why), observed, now).into();
    status
}

/// The numbers of pods that there are and should be.
fn expected(budget: &Value, all: &[&Arc<Value>], objects: &Objects) -> Result<Count, String> {
    let (most, least) = (budget.pointer("/spec/maxUnavailable"), budget.pointer("/spec/minAvailable"));
    let scaled =
        |value: &Value, total: i64| part(value, total).ok_or_else(|| "invalid value for IntOrString".to_owned());
    Ok(match (most, least) {
        (Some(most), _) => {
            let (expected, unmanaged) = scale(all, objects)?;
            Count { expected, desired: (expected - scaled(most, expected)?).max(0), unmanaged }
        }
        (None, Some(least)) if least.is_number() => {
            let expected = i64::try_from(all.len()).unwrap_or(i64::MAX);
            Count { expected, desired: least.as_i64().unwrap_or_default(), unmanaged: false }
        }
        (None, Some(least)) => {
            let (expected, unmanaged) = scale(all, objects)?;
            Count { expected, desired: scaled(least, expected)?, unmanaged }
        }
        (None, None) => Count { expected: 0, desired: 0, unmanaged: false },
    })
}

/// A number, or a part of a total, rounded up.
fn part(value: &Value, total: i64) -> Option<i64> {
    match value.as_str() {
        Some(text) => Some((text.strip_suffix('%')?.parse::<i64>().ok()? * total + 99).div_euclid(100)),
        None => value.as_i64(),
    }
}

/// The sum of the scales of the pods' controllers, and whether a pod has none.
fn scale(all: &[&Arc<Value>], objects: &Objects) -> Result<(i64, bool), String> {
    let mut scales: BTreeMap<String, i64> = BTreeMap::new();
    let mut unmanaged = false;
    for pod in all {
        let Some(reference) = owners::controller(pod) else {
            unmanaged = true;
            continue;
        };
        let found = controller(reference, meta::namespace(pod), objects);
        let (uid, replicas) = found.ok_or_else(|| format!("found no controllers for pod {:?}", meta::name(pod)))?;
        scales.insert(uid, replicas);
    }
    Ok((scales.values().sum(), unmanaged))
}

/// The uid and the scale of a controller; for a replica set of a deployment those of that.
fn controller(reference: &Value, namespace: &str, objects: &Objects) -> Option<(String, i64)> {
    let group = read::text(reference, "/apiVersion").rsplit_once('/').map_or("", |(group, _)| group);
    let resource = match (read::text(reference, "/kind"), group) {
        ("ReplicationController", "") => &REPLICATION_CONTROLLERS,
        ("ReplicaSet", "apps" | "extensions") => &REPLICA_SETS,
        ("Deployment", "apps" | "extensions") => &DEPLOYMENTS,
        ("StatefulSet", "apps") => &STATEFUL_SETS,
        _ => return None,
    };
    let key = Key { namespace: namespace.to_owned(), name: read::text(reference, "/name").to_owned() };
    let found = objects.get(resource, &key).filter(|found| meta::uid(found) == read::text(reference, "/uid"))?;
    match owners::controller(found)
        .filter(|above| *resource == REPLICA_SETS && read::text(above, "/kind") == "Deployment")
    {
        Some(above) => controller(above, namespace, objects),
        None => Some((meta::uid(found).to_owned(), read::int(found, "/spec/replicas"))),
    }
}

/// The pods that were evicted and are still there.
struct Disrupted<'a> {
    pods: Map,
    late: Vec<&'a Arc<Value>>,
    /// When the next of them should be gone.
    next: Option<Timestamp>,
}

fn disrupted<'a>(budget: &Value, all: &[&'a Arc<Value>], now: Timestamp) -> Disrupted<'a> {
    let mut disrupted = Disrupted { pods: Map::default(), late: Vec::new(), next: None };
    let Some(known) = budget.pointer("/status/disruptedPods").and_then(Value::as_object) else { return disrupted };
    for pod in all.iter().filter(|pod| !pods::is_going(pod)) {
        let Some(since) = known.get(meta::name(pod)) else { continue };
        let Some(gone) = since.as_str().and_then(|since| since.parse().ok()).map(|since| read::after(since, DELETION))
        else {
            continue;
        };
        if gone < now {
            disrupted.late.push(pod);
            continue;
        }
        disrupted.next = Some(disrupted.next.map_or(gone, |next| next.min(gone)));
        disrupted.pods.insert(meta::name(pod).into(), since.clone());
    }
    disrupted
}

/// Since when a pod is to be disrupted, and is not.
fn stale_since(pod: &Value) -> Option<Timestamp> {
    let target = conditions::get(pod, TARGET).filter(|target| read::text(target, "/status") == "True")?;
    let is_over = pods::is_going(pod) || pods::is_terminal(pod);
    let is_so = !is_over && read::text(target, "/reason") != "TerminationByKubelet";
    is_so.then(|| read::time(target, "/lastTransitionTime")).flatten()
}

/// Takes back the condition of a pod that was to be disrupted, and was not in time.
fn not_disrupted(key: &Key, view: &View<'_>) -> Plan {
    let Some((pod, since)) = view.objects.get(&pods::PODS, key).and_then(|pod| Some((pod, stale_since(pod)?))) else {
        return Plan::default();
    };
    if let Some(left) = read::until(read::after(since, STALE), view.now) {
        return Plan { again: Some(left), ..Plan::default() };
    }
    let mut object = (**pod).clone();
    let all = object["status"].get_mut("conditions").and_then(Value::as_array_mut);
    if let Some(target) = all.and_then(|all| all.iter_mut().find(|one| read::text(one, "/type") == TARGET)) {
        let mut now = json!({"type": TARGET, "status": "False", "lastTransitionTime": read::stamp(view.now)});
        if let Some(generation) = target.get("observedGeneration") {
            now["observedGeneration"] = generation.clone();
        }
        *target = now;
    }
    Plan::of(vec![Act::Update { resource: pods::PODS, subresource: "status", object }])
}

/// The warning about pods without a controller, with the selector as Go prints it.
fn unmanaged(budget: &Value) -> String {
    let mut selector = "&LabelSelector{MatchLabels:map[string]string{".to_owned();
    for (key, value) in budget.pointer("/spec/selector/matchLabels").and_then(Value::as_object).into_iter().flatten() {
        write!(selector, "{key}: {},", value.as_str().unwrap_or_default()).ok();
    }
    selector.push_str("},MatchExpressions:[]LabelSelectorRequirement{");
    for one in read::list(budget, "/spec/selector/matchExpressions") {
        let values: Vec<&str> = read::list(one, "/values").iter().filter_map(Value::as_str).collect();
        let (key, operator) = (read::text(one, "/key"), read::text(one, "/operator"));
        let values = values.join(" ");
        write!(selector, "LabelSelectorRequirement{{Key:{key},Operator:{operator},Values:[{values}],}},").ok();
    }
    selector.push_str("},}");
    format!(
        "Pods selected by this PodDisruptionBudget (selector: {selector}) were found to be unmanaged. As a result, the status of the PDB \
         cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set \".spec.minAvailable\" \
         field of the PDB to an integer value."
    )
}
