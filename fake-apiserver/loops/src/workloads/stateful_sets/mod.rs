//! `statefulset-controller`.
//!
//! Ports `k8s.io/kubernetes/pkg/controller/statefulset/stateful_set_control.go` (v1.37.1).

mod claims;
mod identity;
mod pass;
mod revision;
mod status;
mod update;

use super::facts::owners::{self, Kind};
use super::facts::pods::PODS;
use super::facts::revisions::REVISIONS;
use super::facts::template;
use crate::act::{Act, Refusal};
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use machinery::object::meta;
use pass::Pass;

const SETS: Resource = Resource::new("apps", "v1", "statefulsets");
const CLAIMS: Resource = Resource::new("", "v1", "persistentvolumeclaims");
const FOLLOWED: &[Resource] = &[SETS, PODS, REVISIONS, CLAIMS];
static KIND: Kind = Kind::new(SETS, "apps/v1", "StatefulSet");
static PROFILE: Profile = Profile {
    name: "statefulset-controller",
    alias: "statefulset",
    user: "system:serviceaccount:kube-system:statefulset-controller",
    program: "kube-controller-manager",
    component: "statefulset-controller",
};

/// The controller of stateful sets.
#[derive(Default)]
pub(super) struct StatefulSets;

impl Loop for StatefulSets {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
        if *change.resource == SETS {
            keys.add(change.key.clone());
        } else if *change.resource == PODS {
            owners::wanted(&KIND, owners::selector, change, objects, keys);
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let Some(set) = view.objects.get(&SETS, key) else { return Plan::default() };
        let Some(selector) = owners::selector(set) else { return Plan::default() };
        let selects = |pod: &tree::Value| owners::selects(&selector, pod) && identity::is_member(pod, set);
        let candidates = owners::candidates(view.objects, &PODS, set);
        let claim = owners::claim(&KIND, set, selects, &PODS, candidates, None);
        Pass::new(set, claim, view).plan()
    }

    fn refused(&mut self, key: &Key, act: &Act, refusal: &Refusal, view: &View<'_>) -> Option<Plan> {
        let set = view.objects.get(&SETS, key)?;
        let (verb, object, reason) = match act {
            Act::Create { resource, object, .. } if *resource == PODS => ("Create", object, "FailedCreate"),
            Act::Create { resource, object, .. } if *resource == CLAIMS => {
                let name = meta::name(object);
                let message =
                    format!("Create Claim {name} for Pod in StatefulSet {} failed error: {refusal}", key.name);
                let event = template::event(set, true, "FailedCreate", message);
                return Some(Plan { failed: Some(refusal.to_string()), ..Plan::of(vec![event]) });
            }
            _ => return None,
        };
        let message = format!("{verb} Pod {} in StatefulSet {} failed error: {refusal}", meta::name(object), key.name);
        let mut acts = Vec::new();
        if refusal.reason != "AlreadyExists" {
            acts.push(template::event(set, true, reason, message));
        }
        Some(Plan { failed: Some(refusal.to_string()), ..Plan::of(acts) })
    }
}
