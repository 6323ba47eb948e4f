//! The fields that a write through an endpoint resets, so that it cannot own them (`GetResetFields` of the strategies in `pkg/registry` of Kubernetes v1.37.1, and of `pkg/registry/customresource` of k8s.io/apiextensions-apiserver).

use super::ids;
use super::resource::Resource;
use crate::managed::Set;
use std::sync::LazyLock;

static STATUS: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["status"]]));
static SPEC: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["spec"]]));
static SPEC_AND_LABELS: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["spec"], &["metadata", "labels"]]));
static SPEC_AND_METADATA: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["spec"], &["metadata"]]));
static SPEC_AND_OWNERS: LazyLock<Set> = LazyLock::new(|| {
    Set::of_fields(&[&["spec"], &["metadata", "deletionTimestamp"], &["metadata", "ownerReferences"]])
});

impl Resource {
    /// The fields of a set that a write through the resource, or a subresource of it, can change.
    pub(crate) fn owners_filter(&self, api_version: &str, subresource: &str, set: Set) -> Set {
        match self.reset(api_version, subresource) {
            Some(reset) => set.recursive_difference(reset),
            None => set,
        }
    }

    fn reset(&self, api_version: &str, subresource: &str) -> Option<&'static Set> {
        let version = self.versions.iter().find(|version| *version.api_version == *api_version)?;
        match (self.id, subresource) {
            (_, "status") if version.is_custom() => Some(&SPEC_AND_METADATA),
            (ids::PODS, "status") => Some(&SPEC_AND_OWNERS),
            (ids::DEPLOYMENTS, "status") => Some(&SPEC_AND_LABELS),
            (_, "status") => Some(&SPEC),
            (_, "finalize") => Some(&STATUS),
            (_, "") if version.has_status() => Some(&STATUS),
            _ => None,
        }
    }
}
