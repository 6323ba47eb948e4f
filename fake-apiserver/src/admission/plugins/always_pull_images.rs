//! The plugin `AlwaysPullImages`: images are always pulled, so that only pods with the right to an image run it.
//!
//! Follows `plugin/pkg/admission/alwayspullimages/admission.go` (v1.37.1).

use crate::admission::{Attributes, Immediate, Operation};
use crate::error::{ApiError, ApiResult, FieldError, Path, aggregate};
use crate::registry::{items, text};
use std::collections::HashSet;
use tree::Value;

const ALWAYS: &str = "Always";
/// The lists of containers, in the order of findings.
const CONTAINERS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// The plugin `AlwaysPullImages`.
pub(super) struct AlwaysPullImages;

impl Immediate for AlwaysPullImages {
    fn admit(&self, write: &Attributes<'_>, pod: &mut Value) -> ApiResult<()> {
        if !has_new_images(write, pod) {
            return Ok(());
        }
        let spec = &mut pod["spec"];
        for list in CONTAINERS {
            let containers = spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
            containers.for_each(|container| container["imagePullPolicy"] = ALWAYS.into());
        }
        let volumes = spec.get_mut("volumes").and_then(Value::as_array_mut).into_iter().flatten();
        let images = volumes.filter_map(|volume| volume.get_mut("image"));
        images.for_each(|image| image["pullPolicy"] = ALWAYS.into());
        Ok(())
    }

    fn check(&self, write: &Attributes<'_>, pod: &Value) -> ApiResult<()> {
        if !has_new_images(write, pod) {
            return Ok(());
        }
        let at = Path::new("spec");
        let mut findings = Vec::new();
        let mut require = |path: String, policy: &str| {
            if policy != ALWAYS {
                findings.push(FieldError::unsupported(path, &policy.into(), &[ALWAYS]));
            }
        };
        for list in CONTAINERS {
            for (index, container) in items(&pod["spec"], &format!("/{list}")).iter().enumerate() {
                let path = at.item(list, index).child("imagePullPolicy").to_string();
                require(path, text(container, "/imagePullPolicy"));
            }
        }
        for (index, volume) in items(pod, "/spec/volumes").iter().enumerate() {
            if let Some(image) = volume.get("image") {
                let path = at.item("volumes", index).child("image").child("pullPolicy").to_string();
                require(path, text(image, "/pullPolicy"));
            }
        }
        if findings.is_empty() {
            return Ok(());
        }
        // Upstream's server takes an aggregate of refusals for an error of its own.
        Err(ApiError::untyped(aggregate(findings.iter().map(|finding| write.forbidden(pod, finding).to_string()))))
    }
}

/// Whether a pod is written that has images which it did not have before.
fn has_new_images(write: &Attributes<'_>, pod: &Value) -> bool {
    fn images(pod: &Value) -> HashSet<&str> {
        let lists = CONTAINERS.iter().filter_map(|list| pod["spec"].get(*list)?.as_array());
        lists.flatten().map(|container| text(container, "/image")).collect()
    }
    write.is_about("pods", "")
        && match write.operation {
            Operation::Create => true,
            Operation::Update => write.old.is_none_or(|old| !images(pod).is_subset(&images(old))),
            _ => false,
        }
}
