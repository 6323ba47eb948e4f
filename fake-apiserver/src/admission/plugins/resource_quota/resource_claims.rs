//! The evaluator of resource claims: their number, and that of the devices of each class, also by the extended resources that stand for them.
//!
//! Follows `pkg/quota/v1/evaluator/core/resource_claims.go` (v1.37.1) and `deviceclass/extendedresourcecache` of
//! k8s.io/dynamic-resource-allocation (v0.37.1).

use super::evaluator::Evaluator;
use super::pods::{EXTENDED_OF_CLASS, Pods, REQUESTS, is_extended_for_quota};
use crate::admission::{Attributes, Operation};
use crate::object::meta;
use crate::registry::{Amounts, Quantity, ids, items, number, text};
use crate::store::{Key, Scope};
use std::collections::BTreeMap;
use tree::Value;

/// The number of claims.
const COUNT: &str = "count/resourceclaims.resource.k8s.io";
/// `ResourceClaimsPerClass`.
const DEVICES: &str = ".deviceclass.resource.k8s.io/devices";
/// `AllocationResultsMaxSize`: the devices that a claim of all may get.
const MOST_DEVICES: usize = 32;
/// `ExtendedResourceClaimAnnotation`, on claims that the scheduler makes for a pod's extended resources.
const FOR_EXTENDED: &str = "resource.kubernetes.io/extended-resource-claim";

/// The evaluator of resource claims.
pub(super) struct ResourceClaims<'a> {
    write: &'a Attributes<'a>,
    /// The extended resource that stands for each device class, if one does.
    classes: BTreeMap<String, Option<String>>,
}

impl<'a> ResourceClaims<'a> {
    pub(super) fn new(write: &'a Attributes<'a>) -> Self {
        let snapshot = write.server.view.snapshot(write.server.store);
        let all = Scope::all(ids::DEVICE_CLASSES);
        let classes = snapshot.range(&all, "").map(|entry| {
            let class = entry.object();
            let extended = class["spec"]["extendedResourceName"].as_str().map(str::to_owned);
            (meta::name(&class).to_owned(), extended)
        });
        let classes = classes.collect();
        ResourceClaims { write, classes }
    }

    /// Whether a device class stands behind an extended resource.
    fn has_class(&self, resource: &str) -> bool {
        let implicit = resource.strip_prefix(EXTENDED_OF_CLASS).is_some_and(|class| self.classes.contains_key(class));
        implicit || self.classes.values().flatten().any(|extended| extended == resource)
    }

    /// The usage of the pod whose extended resources a claim is for: it is counted already (`getVerifiedPodUsage`).
    fn usage_of_pod(&self, claim: &Value) -> Option<Amounts> {
        let owner = controller(claim)?;
        let key = Key::new(ids::PODS, self.write.namespace, text(owner, "/name"));
        let pod = self.write.server.store.get(&key)?.object();
        let named = pod["status"]["extendedResourceClaimStatus"].as_object();
        let is_claim = match named {
            Some(named) => named.get("resourceClaimName").and_then(Value::as_str) == Some(meta::name(claim)),
            None => self.is_first(claim, meta::uid(&pod)),
        };
        (is_claim && text(owner, "/uid") == meta::uid(&pod))
            .then(|| Pods { now: self.write.server.clock.now() }.usage(&pod))
    }

    /// Whether no other claim for the pod's extended resources is older.
    fn is_first(&self, claim: &Value, pod: &str) -> bool {
        let age = |claim: &Value| (meta::creation_timestamp(claim).to_owned(), meta::name(claim).to_owned());
        let namespace = Some(self.write.namespace.into());
        let all = Scope { resource: ids::RESOURCE_CLAIMS, namespace, name: None };
        let snapshot = self.write.server.store.snapshot();
        let mut others = snapshot.range(&all, "").map(|entry| entry.object());
        !others
            .any(|other| controller(&other).is_some_and(|owner| text(owner, "/uid") == pod) && age(&other) < age(claim))
    }
}

/// The pod for whose extended resources a claim was made.
fn controller(claim: &Value) -> Option<&Value> {
    let is_for_extended = meta::annotations(claim).get(FOR_EXTENDED) == Some("true");
    let mut owners = items(claim, "/metadata/ownerReferences").iter();
    let owner = owners.find(|owner| owner["controller"] == true).filter(|_| is_for_extended)?;
    (text(owner, "/kind") == "Pod" && text(owner, "/apiVersion") == "v1").then_some(owner)
}

/// The devices that a request, or one of its alternatives, may get.
fn devices(request: &Value) -> usize {
    match text(request, "/allocationMode") {
        "ExactCount" => number(request, "/count").and_then(|count| usize::try_from(count).ok()).unwrap_or_default(),
        "All" => MOST_DEVICES,
        _ => 0,
    }
}

fn devices_of(class: &str) -> String {
    format!("{class}{DEVICES}")
}

impl Evaluator for ResourceClaims<'_> {
    fn handles(&self, write: &Attributes<'_>, _: &Value) -> bool {
        write.subresource.is_empty() && matches!(write.operation, Operation::Create | Operation::Update)
    }

    fn measures(&self, resource: &str) -> bool {
        let is_extended = || {
            let extended = resource.strip_prefix(REQUESTS).filter(|_| is_extended_for_quota(resource));
            extended.is_some_and(|extended| self.has_class(extended))
        };
        resource == COUNT || resource.ends_with(DEVICES) || is_extended()
    }

    fn usage(&self, claim: &Value) -> Amounts {
        let mut usage = Amounts::default();
        for request in items(claim, "/spec/devices/requests") {
            let mut most = Amounts::default();
            for alternative in items(request, "/firstAvailable").iter().chain(request.get("exactly")) {
                let mut own = Amounts::default();
                own.set(devices_of(text(alternative, "/deviceClassName")), Quantity::count(devices(alternative)));
                most.raise(&own);
            }
            usage.add(&most);
        }
        let counted = self.usage_of_pod(claim).unwrap_or_default();
        let mut extended = Amounts::default();
        for (class, explicit) in &self.classes {
            let Some(number) = usage.get(&devices_of(class)) else { continue };
            let implicit = format!("{EXTENDED_OF_CLASS}{class}");
            for resource in Some(&implicit).into_iter().chain(explicit) {
                extended.set(format!("{REQUESTS}{resource}"), number.clone());
            }
        }
        usage.add(&extended.more_than(&counted));
        usage.set(COUNT, Quantity::count(1));
        usage
    }
}
