//! Claims that ask for more than they have: those who can give it to them are outside of Kubernetes, and the claim says that it waits for them.
//!
//! Follows `pkg/controller/volume/expand/expand_controller.go` (v1.37.1). FlexVolumes, which a kubelet expands, are left alone.

use super::{CLAIMS, VOLUMES, migrated, named};
use crate::act::{Act, PatchType};
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use crate::workloads::facts::{read, template};
use machinery::object::meta;
use quantity::Quantity;
use std::cmp::Ordering;
use tree::{Value, json};

static PROFILE: Profile = Profile {
    name: "persistentvolume-expander-controller",
    alias: "persistentvolume-expander",
    user: "system:serviceaccount:kube-system:expand-controller",
    program: "kube-controller-manager",
    component: "volume_expand",
};

/// The annotation of a claim with the driver that is to expand its volume.
const RESIZER: &str = "volume.kubernetes.io/storage-resizer";
const WAITS: &str = "ExternalExpanding";
const REQUEST: &str = "/spec/resources/requests/storage";
const CAPACITY: &str = "/status/capacity/storage";

/// The loop that tells claims to wait.
#[derive(Default)]
pub(crate) struct Expander;

/// How two sizes compare; what is absent is 0.
fn compare(one: &Value, other: &Value, at: [&str; 2]) -> Ordering {
    let size = |object: &Value, at: &str| {
        let text = read::text(object, at).to_owned();
        Quantity::parse(if text.is_empty() { "0" } else { &text }).ok()
    };
    size(one, at[0]).partial_cmp(&size(other, at[1])).unwrap_or(Ordering::Equal)
}

impl Loop for Expander {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        const FOLLOWED: &[Resource] = &[CLAIMS, VOLUMES];
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, _: &Objects, keys: &mut Keys) {
        let Some(claim) = change.new.filter(|_| *change.resource == CLAIMS) else { return };
        let is_more = change.old.is_none_or(|old| {
            let grows = |at: &str| compare(claim, old, [at, at]) == Ordering::Greater;
            grows(REQUEST) || grows(CAPACITY)
        });
        if is_more && read::text(claim, "/status/phase") == "Bound" {
            keys.add(change.key.clone());
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let Some(claim) = view.objects.get(&CLAIMS, key) else { return Plan::default() };
        let name = read::text(claim, "/spec/volumeName");
        let Some(volume) = view.objects.get(&VOLUMES, &named(name)) else {
            return Plan::failed(format!("failed to get PV {name:?}: persistentvolumes {name:?} not found"));
        };
        if read::text(volume, "/spec/claimRef/uid") != meta::uid(claim) {
            return Plan::failed(format!("persistent Volume is not bound to PVC being updated : {key}"));
        }
        let has_enough = compare(claim, claim, [REQUEST, CAPACITY]) != Ordering::Greater;
        if has_enough || volume.pointer("/spec/flexVolume").is_some() {
            return Plan::default();
        }
        let event = |message: &str| template::event(claim, false, WAITS, message.to_owned());
        match migrated::of(volume) {
            Some((plugin, driver)) => {
                let message =
                    format!("CSI migration enabled for {plugin}; waiting for external resizer to expand the pvc");
                Plan::of([event(&message)].into_iter().chain(resized_by(claim, key, driver)).collect())
            }
            None => Plan::of(vec![event("waiting for an external controller to expand this PVC")]),
        }
    }
}

/// Names the driver that is to expand the volume of a claim.
fn resized_by(claim: &Value, key: &Key, driver: &str) -> Option<Act> {
    if meta::annotations(claim).get(RESIZER) == Some(driver) {
        return None;
    }
    let (annotations, revision) = (json!({RESIZER: driver}), meta::resource_version(claim));
    Some(Act::Patch {
        resource: CLAIMS,
        key: key.clone(),
        subresource: "status",
        patch_type: PatchType::Strategic,
        patch: json!({"metadata": {"annotations": annotations, "resourceVersion": revision}}),
    })
}
