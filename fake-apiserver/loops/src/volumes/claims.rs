//! The way of a claim: `syncClaim`.

use super::matching::{self, class, has_claim, is_bound_to};
use super::writes::{self, BY_CONTROLLER, claim_status, has, is_bound, lost};
use super::{CLASSES, VOLUMES, migrated, named, needs, provision};
use crate::plan::{Plan, View};
use crate::workloads::facts::pods::{self, PODS};
use crate::workloads::facts::{read, template};
use machinery::object::meta;
use tree::Value;

/// Decides about a claim.
pub(super) fn claim(claim: &Value, view: &View<'_>) -> Plan {
    if let Some(moved) = migrated::claim(claim) {
        return writes::step(vec![writes::claim(moved)]);
    }
    match (is_bound(claim), read::text(claim, "/spec/volumeName")) {
        (true, "") => {
            let message = "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!";
            lost(claim, "ClaimLost", message)
        }
        (true, volume) => bound(claim, volume, view),
        (false, "") => of_any_volume(claim, view),
        (false, volume) => of_that_volume(claim, volume, view),
    }
}

/// `syncBoundClaim`
fn bound(claim: &Value, volume: &str, view: &View<'_>) -> Plan {
    let Some(volume) = view.objects.get(&VOLUMES, &named(volume)) else {
        return lost(claim, "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
    };
    if !has_claim(volume) || read::text(volume, "/spec/claimRef/uid") == meta::uid(claim) {
        return writes::bind(volume, claim);
    }
    let message = "Two claims are bound to the same volume, this one is bound incorrectly";
    lost(claim, "ClaimMisbound", message)
}

/// The claim waits.
fn pending(claim: &Value, mut plan: Plan) -> Plan {
    plan.acts.extend(claim_status(claim, "Pending", None));
    plan
}

fn warning(claim: &Value, reason: &'static str, message: String) -> Plan {
    Plan::of(vec![template::event(claim, true, reason, message)])
}

/// `syncUnboundClaim`, of a claim that does not care.
fn of_any_volume(claim: &Value, view: &View<'_>) -> Plan {
    let is_delayed = needs::is_delayed(claim, view.objects);
    if let Some(volume) = matching::best(claim, is_delayed, view.objects) {
        return writes::bind(volume, claim);
    }
    if let Some(given) = with_default_class(claim, view) {
        return Plan::of(vec![writes::claim(given)]);
    }
    let normal = |reason, message| Plan::of(vec![template::event(claim, false, reason, message)]);
    if is_delayed && needs::selected_node(claim).is_none() {
        let (reason, message) = waiting(claim, view);
        return pending(claim, normal(reason, message));
    }
    if !class(claim).is_empty() {
        return provision::claim(claim, view);
    }
    let message = "no persistent volumes available for this claim and no storage class is set".to_owned();
    pending(claim, normal("FailedBinding", message))
}

/// `syncUnboundClaim`, of a claim that names its volume.
fn of_that_volume(claim: &Value, name: &str, view: &View<'_>) -> Plan {
    let Some(volume) = view.objects.get(&VOLUMES, &named(name)) else { return pending(claim, Plan::default()) };
    if !has_claim(volume) {
        return match matching::mismatch(volume, claim) {
            None => writes::bind(volume, claim),
            Some(why) => {
                let message = format!("Cannot bind to requested volume {name:?}: {why}");
                pending(claim, warning(claim, "VolumeMismatch", message))
            }
        };
    }
    if is_bound_to(volume, claim) {
        return writes::bind(volume, claim);
    }
    let told = warning(claim, "FailedBinding", format!("volume {name:?} already bound to a different claim."));
    if !has(claim, BY_CONTROLLER) {
        return pending(claim, told);
    }
    let owner = super::claim_of(volume).map(|key| key.to_string()).unwrap_or_default();
    let key = format!("{}/{}", meta::namespace(claim), meta::name(claim));
    let why = format!("invalid binding of claim {key:?} to volume {name:?}: volume already claimed by {owner:?}");
    Plan { failed: Some(why), ..told }
}

/// The claim with the default class, if it has none and there is one (`assignDefaultStorageClass`).
fn with_default_class(claim: &Value, view: &View<'_>) -> Option<Value> {
    const DEFAULT: [&str; 2] =
        ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
    if matching::has_class(claim) {
        return None;
    }
    let is_default = |class: &Value| DEFAULT.iter().any(|name| meta::annotations(class).get(name) == Some("true"));
    let defaults = view.objects.all(&CLASSES).map(|(_, class)| class).filter(|class| is_default(class));
    // The newest one; of several the first by name, in whose order they come.
    let newest = defaults.reduce(|one, other| match meta::creation_timestamp(other) > meta::creation_timestamp(one) {
        true => other,
        false => one,
    });
    let mut claim = claim.clone();
    claim["spec"]["storageClassName"] = meta::name(newest?).into();
    Some(claim)
}

/// The event about what a claim waits for that the scheduler is to bind (`emitEventForUnboundDelayBindingClaim`).
fn waiting(claim: &Value, view: &View<'_>) -> (&'static str, String) {
    let of_claim = |pod: &Value| needs::claims(pod).any(|(name, _)| name == meta::name(claim));
    let is_waiting = |pod: &Value| read::text(pod, "/spec/nodeName").is_empty() && !pods::is_terminal(pod);
    let all = view.objects.within(&PODS, meta::namespace(claim)).map(|(_, pod)| pod);
    let names: Vec<&str> = all.filter(|pod| is_waiting(pod) && of_claim(pod)).map(|pod| meta::name(pod)).collect();
    match &names[..] {
        [] => ("WaitForFirstConsumer", "waiting for first consumer to be created before binding".to_owned()),
        [pod] => ("WaitForPodScheduled", format!("waiting for pod {pod} to be scheduled")),
        pods => ("WaitForPodScheduled", format!("waiting for pods {} to be scheduled", pods.join(","))),
    }
}
