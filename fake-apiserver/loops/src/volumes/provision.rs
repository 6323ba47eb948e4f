//! Volumes that are made for claims: by drivers outside of Kubernetes, which are told by an annotation, or on a path of the host.

use super::migrated::{self, PROVISIONER};
use super::needs::SELECTED_NODE;
use super::writes::{self, BY_CONTROLLER, annotate, step};
use super::{CLASSES, VOLUMES, matching, named};
use crate::act::Act;
use crate::plan::{Plan, View};
use crate::workloads::facts::{read, template};
use machinery::object::meta;
use tree::{Value, json};

/// The plugin that provisions on a path of the host.
pub(super) const HOST_PATH: &str = "kubernetes.io/host-path";

fn failed(claim: &Value, message: String) -> Plan {
    Plan::of(vec![template::event(claim, true, "ProvisioningFailed", message)])
}

/// Lets a volume be made for a claim (`provisionClaim`).
pub(super) fn claim(claim: &Value, view: &View<'_>) -> Plan {
    let name = matching::class(claim);
    let Some(class) = view.objects.get(&CLASSES, &named(name)) else {
        return failed(claim, format!("storageclass.storage.k8s.io {name:?} not found"));
    };
    let provisioner = read::text(class, "/provisioner");
    match (provisioner, migrated::driver(provisioner)) {
        (_, Some(driver)) => by_driver(claim, driver),
        (HOST_PATH, _) => on_host(claim, class, view),
        ("kubernetes.io/nfs", _) => failed(claim, "no provisionable volume plugin matched".to_owned()),
        (plugin, _) if plugin.starts_with("kubernetes.io/") => {
            failed(claim, format!("no volume plugin matched name: {plugin}"))
        }
        (driver, _) => by_driver(claim, driver),
    }
}

/// The claim that says who is to make its volume, if it does not say so.
fn told(claim: &Value, provisioner: &str) -> Option<Value> {
    if meta::annotations(claim).get(PROVISIONER[0]) == Some(provisioner) {
        return None;
    }
    let mut claim = claim.clone();
    PROVISIONER.iter().for_each(|name| annotate(&mut claim, name, provisioner));
    Some(claim)
}

fn by_driver(claim: &Value, driver: &str) -> Plan {
    let message = format!(
        "Waiting for a volume to be created either by the external provisioner '{driver}' or manually by the system administrator. If volume \
         creation is delayed, please verify that the provisioner is running and correctly registered."
    );
    match told(claim, driver) {
        // The event is about the claim that says so.
        Some(told) => step(vec![writes::claim(told)]),
        None => Plan::of(vec![template::event(claim, false, "ExternalProvisioning", message)]),
    }
}

/// `provisionClaimOperation`, with the plugin `hostPath`.
fn on_host(claim: &Value, class: &Value, view: &View<'_>) -> Plan {
    if claim.pointer("/spec/dataSource").is_some_and(Value::is_object) {
        let message = format!(
            "plugin {HOST_PATH:?} is not a CSI plugin. Only CSI plugin can provision a claim with a datasource"
        );
        return failed(claim, message);
    }
    if let Some(told) = told(claim, HOST_PATH) {
        return step(vec![writes::claim(told)]);
    }
    let name = format!("pvc-{}", meta::uid(claim));
    if view.objects.get(&VOLUMES, &named(&name)).is_some() {
        return Plan::default();
    }
    let options: Vec<&str> = read::list(class, "/mountOptions").iter().filter_map(Value::as_str).collect();
    if !options.is_empty() {
        let (class, options) = (meta::name(class), options.join(" "));
        return failed(
            claim,
            format!(
                "Mount options are not supported by the provisioner but StorageClass {class:?} has mount options [{options}]"
            ),
        );
    }
    if read::text(claim, "/spec/volumeMode") == "Block" {
        let why = format!("{HOST_PATH} does not support block volume provisioning");
        let mut plan =
            failed(claim, format!("Failed to provision volume with StorageClass {:?}: {why}", meta::name(class)));
        if writes::has(claim, SELECTED_NODE) {
            let mut unplaced = claim.clone();
            writes::strip(&mut unplaced, SELECTED_NODE);
            plan.acts.insert(0, writes::claim(unplaced));
        }
        return plan;
    }
    let message = format!("Successfully provisioned volume {name} using {HOST_PATH}");
    let object = made(claim, class, &name);
    Plan::of(vec![
        Act::Create { resource: VOLUMES, key: named(&name), subresource: "", object },
        template::event(claim, false, "ProvisioningSucceeded", message),
    ])
}

fn made(claim: &Value, class: &Value, name: &str) -> Value {
    let policy = read::text(class, "/reclaimPolicy");
    let mut volume = json!({
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "annotations": {
            "kubernetes.io/createdby": "hostpath-dynamic-provisioner",
            (BY_CONTROLLER): "yes",
            (migrated::PROVISIONED_BY): HOST_PATH,
        }},
        "spec": {
            "persistentVolumeReclaimPolicy": policy,
            "accessModes": claim.pointer("/spec/accessModes").cloned().unwrap_or_else(|| json!(["ReadWriteOnce"])),
            "capacity": {"storage": claim.pointer("/spec/resources/requests/storage").cloned().unwrap_or_default()},
            "hostPath": {"path": format!("/tmp/hostpath_pv/{}", meta::uid(claim))},
            "claimRef": writes::reference(claim),
            "storageClassName": matching::class(claim),
        },
    });
    if policy == "Delete" {
        meta::set_finalizers(&mut volume, vec![migrated::FINALIZER.to_owned()]);
    }
    volume
}
