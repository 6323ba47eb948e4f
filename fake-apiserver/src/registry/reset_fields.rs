//! The fields that a write through an endpoint resets, so that it cannot own them (`GetResetFields` of the strategies in `pkg/registry` of Kubernetes v1.37.1, and of `pkg/registry/customresource` of k8s.io/apiextensions-apiserver).

use super::resource::Resource;
use crate::managed::Set;
use std::sync::LazyLock;

static STATUS: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["status"]]));
static SPEC: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["spec"]]));
static SPEC_AND_METADATA: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["spec"], &["metadata"]]));

impl Resource {
    /// The fields that a write through the resource, or a subresource of it, resets.
    pub(crate) fn reset(&self, api_version: &str, subresource: &str) -> Option<&Set> {
        let version = self.versions.iter().find(|version| *version.api_version == *api_version)?;
        if let Some((_, own)) = self.resets.iter().find(|(endpoint, _)| *endpoint == subresource) {
            return Some(own);
        }
        match subresource {
            "status" if self.rules.status_keeps_metadata => Some(&SPEC_AND_METADATA),
            "status" => Some(&SPEC),
            "finalize" => Some(&STATUS),
            "" if version.has_status() => Some(&STATUS),
            _ => None,
        }
    }
}
