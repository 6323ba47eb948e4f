//! The claims of ephemeral volumes: `pkg/controller/volume/ephemeral/controller.go` (v1.37.1).

use super::{CLAIMS, needs};
use crate::act::{Act, Refusal};
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use crate::workloads::facts::owners::Kind;
use crate::workloads::facts::pods::{self, PODS};
use crate::workloads::facts::{owners, read, template};
use machinery::object::meta;
use tree::{Value, json};

static PROFILE: Profile = Profile {
    name: "ephemeral-volume-controller",
    alias: "ephemeral-volume",
    user: "system:serviceaccount:kube-system:ephemeral-volume-controller",
    program: "kube-controller-manager",
    component: "ephemeral_volume",
};

const POD: Kind = Kind::new(PODS, "v1", "Pod");

/// The loop that makes claims for pods.
#[derive(Default)]
pub(crate) struct Ephemeral;

/// The ephemeral volumes of a pod.
fn volumes(pod: &Value) -> impl Iterator<Item = &Value> {
    read::list(pod, "/spec/volumes").iter().filter(|volume| volume.get("ephemeral").is_some())
}

/// The failure about a volume, with the warning.
fn failed(pod: &Value, volume: &str, why: &str) -> Plan {
    let event = template::event(pod, true, "FailedBinding", format!("ephemeral volume {volume}: {why}"));
    let key = owners::key(pod);
    Plan { failed: Some(format!("pod {key}, ephemeral volume {volume}: {why}")), ..Plan::of(vec![event]) }
}

impl Loop for Ephemeral {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        const FOLLOWED: &[Resource] = &[PODS, CLAIMS];
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
        if *change.resource == PODS {
            if change.new.is_some_and(|pod| volumes(pod).next().is_some()) {
                keys.add(change.key.clone());
            }
        } else if let (None, Some(claim)) = (change.new, change.old) {
            // Somebody has deleted it: its pod gets another one.
            let owner = owners::controller(claim).map(|owner| read::text(owner, "/name")).unwrap_or_default();
            let key = Key { namespace: change.key.namespace.clone(), name: owner.to_owned() };
            if objects.get(&PODS, &key).is_some() {
                keys.add(key);
            }
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let Some(pod) = view.objects.get(&PODS, key).filter(|pod| !pods::is_going(pod)) else {
            return Plan::default();
        };
        let mut acts = Vec::new();
        for volume in volumes(pod) {
            let key = Key { namespace: key.namespace.clone(), name: needs::ephemeral(pod, volume) };
            match view.objects.get(&CLAIMS, &key).map(|claim| needs::is_anothers(claim, pod)) {
                Some(None) => {}
                Some(Some(why)) => {
                    let mut plan = failed(pod, read::text(volume, "/name"), &why);
                    acts.append(&mut plan.acts);
                    return Plan { acts, ..plan };
                }
                None => {
                    let object = claim(pod, volume, &key.name);
                    acts.push(Act::Create { resource: CLAIMS, key, subresource: "", object });
                }
            }
        }
        Plan::of(acts)
    }

    fn refused(&mut self, key: &Key, act: &Act, refusal: &Refusal, view: &View<'_>) -> Option<Plan> {
        let Act::Create { object, .. } = act else { return None };
        let pod = view.objects.get(&PODS, key)?;
        let name = meta::name(object);
        let volume = volumes(pod).find(|volume| needs::ephemeral(pod, volume) == name)?;
        Some(failed(pod, read::text(volume, "/name"), &format!("create PVC {name}: {refusal}")))
    }
}

fn claim(pod: &Value, volume: &Value, name: &str) -> Value {
    let mut metadata = json!({"name": name, "ownerReferences": [POD.reference(pod)]});
    let template = &volume["ephemeral"]["volumeClaimTemplate"];
    for field in ["annotations", "labels"] {
        if let Some(value) = template.pointer(&format!("/metadata/{field}")).filter(|value| !value.is_null()) {
            metadata[field] = value.clone();
        }
    }
    let spec = template.get("spec").cloned().unwrap_or_default();
    json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec})
}
