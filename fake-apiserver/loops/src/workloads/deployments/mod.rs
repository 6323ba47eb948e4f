//! `deployment-controller`.
//!
//! Ports `k8s.io/kubernetes/pkg/controller/deployment/deployment_controller.go` (v1.37.1). Upstream writes a deployment's status several
//! times in one pass, of which all but the first collide with it and are tried again; here a pass writes each object once.

mod history;
mod progress;
mod rollout;
mod scaling;
mod sets;
mod status;
mod strategy;

use super::facts::owners::{self, Kind};
use super::facts::pods::PODS;
use super::facts::{read, status as facts_status, template};
use super::replicas::SETS;
use crate::act::{Act, Refusal};
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use machinery::object::meta;
use rollout::Rollout;
use tree::Value;

const DEPLOYMENTS: Resource = Resource::new("apps", "v1", "deployments");
const FOLLOWED: &[Resource] = &[DEPLOYMENTS, SETS, PODS];
static KIND: Kind = Kind::new(DEPLOYMENTS, "apps/v1", "Deployment");
static PROFILE: Profile = Profile {
    name: "deployment-controller",
    alias: "deployment",
    user: "system:serviceaccount:kube-system:deployment-controller",
    program: "kube-controller-manager",
    component: "deployment-controller",
};

/// The controller of deployments.
#[derive(Default)]
pub(super) struct Deployments;

impl Loop for Deployments {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
        if *change.resource == DEPLOYMENTS {
            keys.add(change.key.clone());
        } else if *change.resource == SETS {
            owners::wanted(&KIND, owners::selector, change, objects, keys);
        } else if change.new.is_none() {
            keys_of_gone_pod(change, objects, keys);
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let Some(deployment) = view.objects.get(&DEPLOYMENTS, key) else { return Plan::default() };
        let selector = deployment.pointer("/spec/selector").cloned().unwrap_or_default();
        if selector.as_object().is_none_or(|selector| selector.is_empty()) {
            return selecting_all(deployment);
        }
        let Some(selector) = owners::selector(deployment) else { return Plan::default() };
        let selects = |set: &Value| owners::selects(&selector, set);
        let candidates = owners::candidates(view.objects, &SETS, deployment);
        let claim = owners::claim(&KIND, deployment, selects, &SETS, candidates, None);
        Rollout::new(deployment, claim, view).plan()
    }

    fn refused(&mut self, key: &Key, act: &Act, refusal: &Refusal, view: &View<'_>) -> Option<Plan> {
        let Act::Create { object, .. } = act else { return None };
        let deployment = view.objects.get(&DEPLOYMENTS, key)?;
        Some(history::creation_refused(deployment, object, refusal, view))
    }
}

/// A deployment that recreates its pods waits for the last one of the old ones to go.
fn keys_of_gone_pod(change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
    let Some(set) = change.old.and_then(owners::controller) else { return };
    let set = Key { namespace: change.key.namespace.clone(), name: read::text(set, "/name").to_owned() };
    let Some(deployment) = objects.get(&SETS, &set).and_then(|set| owners::controller(set)) else { return };
    let key = Key { namespace: set.namespace.clone(), name: read::text(deployment, "/name").to_owned() };
    if objects.get(&DEPLOYMENTS, &key).is_some_and(|object| read::text(object, "/spec/strategy/type") == "Recreate") {
        keys.add(key);
    }
}

fn selecting_all(deployment: &Value) -> Plan {
    let message = "This deployment is selecting all pods. A non-empty selector is required.";
    let mut acts = vec![template::event(deployment, true, "SelectingAll", message.to_owned())];
    if facts_status::observed(deployment) < meta::generation(deployment) {
        let mut object = deployment.clone();
        object["status"]["observedGeneration"] = meta::generation(deployment).into();
        acts.push(Act::Update { resource: DEPLOYMENTS, subresource: "status", object });
    }
    Plan::of(acts)
}
