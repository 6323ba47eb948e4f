//! The endpoints of a service in slices.
//!
//! Follows `pkg/controller/endpointslice/endpointslice_controller.go` (v1.37.1). Topology hints and traffic distribution are not made.

use super::reconciler::{MANAGED_BY, Reconciler, SERVICE_NAME};
use super::triggers::Triggers;
use super::{NODES, SERVICES, SLICES, pods};
use crate::act::{Act, Refusal};
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use crate::workloads::facts::pods as states;
use machinery::object::meta;
use std::sync::Arc;
use tree::Value;

static PROFILE: Profile = Profile {
    name: "endpointslice-controller",
    alias: "endpointslice",
    user: "system:serviceaccount:kube-system:endpointslice-controller",
    program: "kube-controller-manager",
    component: "endpoint-slice-controller",
};

/// Who manages the slices, as their label says.
const MANAGER: &str = "endpointslice-controller.k8s.io";

/// The loop that writes slices.
#[derive(Default)]
pub(crate) struct SlicesLoop(Triggers);

impl Loop for SlicesLoop {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        const FOLLOWED: &[Resource] = &[SERVICES, states::PODS, SLICES, NODES];
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
        match &*change.resource.plural {
            "pods" => pods::concerned(change, objects, keys),
            "services" => keys.add(change.key.clone()),
            "endpointslices" => {
                for slice in [change.old, change.new].into_iter().flatten().filter(|slice| is_managed(slice)) {
                    if let Some(service) = meta::labels(slice).get(SERVICE_NAME) {
                        keys.add(Key { namespace: change.key.namespace.clone(), name: service.to_owned() });
                    }
                }
            }
            // Pods wait for their node; zones do not change.
            _ if change.old.is_none() => self.0.known().for_each(|key| keys.add(key.clone())),
            _ => {}
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let Some(service) = view.objects.get(&SERVICES, key) else {
            self.0.forget(key);
            return Plan::default();
        };
        let Some(all) = pods::of_service(service, view.objects) else { return Plan::default() };
        let of_service = |slice: &&Arc<Value>| {
            let named = meta::labels(slice).get(SERVICE_NAME) == Some(&*key.name);
            named && is_managed(slice) && meta::deletion_timestamp(slice).is_none()
        };
        let existing = view.objects.within(&SLICES, &key.namespace).map(|(_, slice)| slice).filter(of_service);
        let existing: Vec<&Arc<Value>> = existing.collect();
        let time = self.0.last(key, service, &all);
        let reconciler = Reconciler { service, manager: MANAGER, objects: view.objects, time };
        let (mut acts, missing) = reconciler.reconcile(&all, &existing);
        let failed = (!missing.is_empty()).then(|| missing.join(", "));
        acts.extend(failed.as_ref().map(|why| failure(service, key, why)));
        Plan { acts, failed, ..Plan::default() }
    }

    fn refused(&mut self, key: &Key, act: &Act, refusal: &Refusal, view: &View<'_>) -> Option<Plan> {
        let verb = match act {
            Act::Create { .. } if refusal.message.contains("because it is being terminated") => {
                return Some(Plan::default());
            }
            Act::Create { .. } => "create",
            Act::Update { .. } if refusal.reason != "Conflict" => "update",
            _ => return None,
        };
        let service = view.objects.get(&SERVICES, key)?;
        let why = format!("failed to {verb} EndpointSlice for Service {key}: {refusal}");
        Some(Plan { acts: vec![failure(service, key, &why)], failed: Some(why), ..Plan::default() })
    }
}

fn is_managed(slice: &Value) -> bool {
    meta::labels(slice).get(MANAGED_BY) == Some(MANAGER)
}

/// The event about slices that could not be written.
fn failure(service: &Value, key: &Key, why: &str) -> Act {
    Act::Event {
        about: service.clone(),
        warning: true,
        reason: "FailedToUpdateEndpointSlices".into(),
        action: "",
        message: format!("Error updating Endpoint Slices for Service {key}: {why}"),
    }
}
