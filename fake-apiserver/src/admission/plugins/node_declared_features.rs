//! The plugin `NodeDeclaredFeatureValidator`: an update of a pod may need a feature of its node, which must have declared it.
//!
//! Follows `plugin/pkg/admission/nodedeclaredfeatures/admission.go` (v1.37.1) and `k8s.io/component-helpers/nodedeclaredfeatures`
//! (v0.37.1). Left out is what needs gates that are off: slices with resources of nodes, and volumes in memory that are resized.

use crate::admission::{Attributes, Immediate, Operation};
use crate::error::ApiResult;
use crate::object::generation::equal;
use crate::object::meta;
use crate::registry::{ids, items, text};
use crate::schema::quote;
use tree::Value;

/// Whether the update of a pod needs a feature, from the new pod and the old one.
type Needs = fn(&Value, &Value) -> bool;

/// The features that an update may need, by name, and when it does.
const FEATURES: [(&str, Needs); 2] = [
    ("InPlacePodLevelResourcesVerticalScaling", |new, old| {
        !equal(new["spec"].get("resources"), old["spec"].get("resources"))
    }),
    ("InPlacePodVerticalScalingInitContainers", |new, old| {
        let pairs = items(new, "/spec/initContainers").iter().zip(items(old, "/spec/initContainers"));
        let mut once = pairs.filter(|(_, old)| text(old, "/restartPolicy") != "Always");
        once.any(|(new, old)| !equal(new.get("resources"), old.get("resources")))
    }),
];

/// The plugin `NodeDeclaredFeatureValidator`.
pub(super) struct NodeDeclaredFeatures;

impl Immediate for NodeDeclaredFeatures {
    fn check(&self, write: &Attributes<'_>, pod: &Value) -> ApiResult<()> {
        let Some((old, name)) = changed_on_node(write, pod, &["", "resize"]) else { return Ok(()) };
        let mut needed = FEATURES.iter().filter(|(_, is_needed)| is_needed(pod, old)).map(|(name, _)| *name).peekable();
        if needed.peek().is_none() {
            return Ok(());
        }
        let Some(node) = write.seen_cluster_wide(ids::NODES, name) else {
            return Err(write.forbidden(pod, format!("node {} not found", quote(name))));
        };
        let declared = items(&node, "/status/declaredFeatures");
        let missing: Vec<&str> = needed.filter(|name| !declared.iter().any(|own| own == name)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let (missing, name) = (missing.join(", "), quote(name));
        let why = format!("pod update requires features {missing} which are not available on node {name}");
        Err(write.forbidden(pod, why))
    }
}

/// The old pod and its node, if the spec of a pod that runs on one is changed through one of these subresources.
pub(super) fn changed_on_node<'p>(
    write: &Attributes<'p>,
    pod: &'p Value,
    subresources: &[&str],
) -> Option<(&'p Value, &'p str)> {
    let node = text(pod, "/spec/nodeName");
    let is_meant = write.operation == Operation::Update
        && subresources.iter().any(|subresource| write.is_about("pods", subresource))
        && !node.is_empty();
    let old = write.old.filter(|_| is_meant)?;
    (meta::generation(old) != meta::generation(pod)).then_some((old, node))
}
