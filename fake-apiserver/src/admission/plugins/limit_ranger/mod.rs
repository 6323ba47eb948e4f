//! The plugin `LimitRanger`: pods get the default requests and limits of their namespace's limit ranges, and pods and claims that ask for too
//! much or too little are refused.
//!
//! Follows `plugin/pkg/admission/limitranger/admission.go` (v1.37.1). Upstream takes several ranges of a namespace in any order; here they are
//! taken by name, and amounts by the names of resources.

mod constraints;

use super::names::{Named, Names, entries};
use crate::admission::{Attributes, Immediate, Operation};
use crate::error::{ApiResult, aggregate};
use crate::index::Place;
use crate::object::meta;
use crate::registry::{Amounts, child, ids, items, of_containers, text};
use crate::store::ResourceId;
use constraints::{Limit, findings};
use tree::{Value, json};

/// `limitRangerAnnotation`: says which defaults a pod got.
const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// The plugin `LimitRanger`.
pub(super) struct LimitRanger;

/// Limit ranges.
#[derive(Default)]
struct Ranges;

impl Named for Ranges {
    const RESOURCE: ResourceId = ids::LIMIT_RANGES;
    const PLACE: Place = Place::LimitRanges;
}

/// The kinds that have limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limited {
    Pod,
    Claim,
}

impl LimitRanger {
    /// The limit ranges that apply to a write.
    fn ranges(&self, write: &Attributes<'_>) -> Vec<Value> {
        let is_deleted = || write.old.is_some_and(|old| meta::deletion_timestamp(old).is_some());
        let keys = Names::<Ranges>::in_namespace(write.server.store, write.namespace);
        if keys.is_empty() || is_deleted() {
            return Vec::new();
        }
        entries(write.server.store, &keys).iter().map(|entry| entry.object()).collect()
    }
}

impl Immediate for LimitRanger {
    fn admit(&self, write: &Attributes<'_>, object: &mut Value) -> ApiResult<()> {
        if limited(write) == Some(Limited::Pod) {
            self.ranges(write).iter().for_each(|range| set_defaults(range, object));
        }
        Ok(())
    }

    fn check(&self, write: &Attributes<'_>, object: &Value) -> ApiResult<()> {
        let Some(limited) = limited(write) else { return Ok(()) };
        for range in self.ranges(write) {
            let mut all: Vec<String> = Vec::new();
            for limit in items(&range, "/spec/limits").iter().map(Limit::read) {
                match limited {
                    Limited::Pod => of_pod(&limit, object, &mut all),
                    Limited::Claim => of_claim(&limit, object, &mut all),
                }
            }
            if !all.is_empty() {
                return Err(write.forbidden(object, aggregate(all)));
            }
        }
        Ok(())
    }
}

/// The kind of the object, if the write is one that has limits (`SupportsAttributes`): the containers of a pod change only by a resize.
fn limited(write: &Attributes<'_>) -> Option<Limited> {
    match write.operation {
        Operation::Create if write.is_about("pods", "") => Some(Limited::Pod),
        Operation::Update if write.is_about("pods", "resize") => Some(Limited::Pod),
        Operation::Create | Operation::Update if write.is_about("persistentvolumeclaims", "") => Some(Limited::Claim),
        _ => None,
    }
}

/// Sets the requests and limits that a range has as defaults and a pod's containers lack, and says so in an annotation
/// (`PodMutateLimitFunc`).
fn set_defaults(range: &Value, pod: &mut Value) {
    let [mut requests, mut limits] = [Amounts::default(), Amounts::default()];
    for limit in items(range, "/spec/limits").iter().filter(|limit| text(limit, "/type") == "Container") {
        for (defaults, list) in [(&mut requests, "defaultRequest"), (&mut limits, "default")] {
            Amounts::read(&limit[list]).iter().for_each(|(name, amount)| defaults.set(name.clone(), amount.clone()));
        }
    }
    let mut set = Vec::new();
    for (field, kind) in [("containers", "container"), ("initContainers", "init container")] {
        for container in pod["spec"][field].as_array_mut().into_iter().flatten() {
            for (defaults, list, word) in [(&requests, "requests", "request"), (&limits, "limits", "limit")] {
                let missing = defaults.only(|name, _| container["resources"][list].get(name).is_none());
                for (name, amount) in missing.iter() {
                    child(child(container, "resources"), list)[name.as_str()] = (&*amount.text()).into();
                }
                if !missing.is_empty() {
                    let names: Vec<&str> = missing.names().map(|name| name.as_str()).collect();
                    set.push(format!("{} {word} for {kind} {}", names.join(", "), text(container, "/name")));
                }
            }
        }
    }
    if !set.is_empty() {
        let metadata = child(pod, "metadata");
        child(metadata, "annotations")[ANNOTATION] = json!(format!("LimitRanger plugin set: {}", set.join("; ")));
    }
}

/// `PodValidateLimitFunc`.
fn of_pod(limit: &Limit<'_>, pod: &Value, all: &mut Vec<String>) {
    match limit.kind {
        "Container" => {
            for container in ["/spec/containers", "/spec/initContainers"].iter().flat_map(|list| items(pod, list)) {
                let [requests, limits] =
                    ["requests", "limits"].map(|list| Amounts::read(&container["resources"][list]));
                all.extend(findings(limit, &requests, Some(&limits)));
            }
        }
        "Pod" => {
            let [requests, limits] = ["requests", "limits"].map(|list| of_whole_pod(pod, list));
            all.extend(findings(limit, &requests, Some(&limits)));
        }
        _ => {}
    }
}

/// The requests or limits of a whole pod (`podRequests` and `podLimits`, which know nothing of an overhead).
fn of_whole_pod(pod: &Value, list: &'static str) -> Amounts {
    let mut total = of_containers(&pod["spec"], |container| &container["resources"][list]);
    let own = Amounts::read(&pod["spec"]["resources"][list]);
    for (name, amount) in own.iter().filter(|(name, _)| ["cpu", "memory"].contains(&name.as_str())) {
        total.set(name.clone(), amount.clone());
    }
    total
}

/// `PersistentVolumeClaimValidateLimitFunc`.
fn of_claim(limit: &Limit<'_>, claim: &Value, all: &mut Vec<String>) {
    if limit.kind == "PersistentVolumeClaim" {
        let requests = Amounts::read(&claim["spec"]["resources"]["requests"]);
        all.extend(findings(limit, &requests, None));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_named_in_an_annotation() {
        let range = json!({"spec": {"limits": [
            {"type": "Pod", "max": {"cpu": "1"}},
            {"type": "Container", "default": {"cpu": "2", "memory": "1Gi"}, "defaultRequest": {"cpu": "1", "memory": "1Gi"}},
        ]}});
        let resources = json!({"requests": {"cpu": "3"}});
        let containers = json!([{"name": "a"}, {"name": "b", "resources": resources}]);
        let mut pod = json!({"spec": {"containers": containers, "initContainers": [{"name": "c"}]}});
        set_defaults(&range, &mut pod);
        let expected = "LimitRanger plugin set: cpu, memory request for container a; cpu, memory limit for container a; \
                        memory request for container b; cpu, memory limit for container b; \
                        cpu, memory request for init container c; cpu, memory limit for init container c";
        assert_eq!(meta::annotations(&pod).get(ANNOTATION), Some(expected));
        assert_eq!(text(&pod, "/spec/containers/1/resources/requests/cpu"), "3");
        let once = pod.clone();
        set_defaults(&range, &mut pod);
        assert_eq!(pod, once);
    }
}
