//! Storage capacities that CSI drivers report.
//!
//! Follows `pkg/registry/storage/csistoragecapacity/strategy.go`, `ValidateCSIStorageCapacity` and
//! `ValidateCSIStorageCapacityUpdate` of `pkg/apis/storage/validation/validation.go`, and `GetWarningsForCSIStorageCapacity` of
//! `pkg/api/storage/util.go` (v1.37.1).

use crate::error::Errors;
use crate::object::name;
use crate::object::selector::validate_structured_update;
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::quantity::amount;
use crate::registry::rules::{Rules, Strategy};
use crate::registry::types::deprecation;
use crate::registry::{items, text};
use tree::Value;

pub(in crate::registry) const RULES: Rules =
    Rules { strategy: Strategy { validate, warnings, ..Strategy::NONE }, ..Rules::ORDINARY };

fn at(capacity: &Value) -> At<'static, '_> {
    At::object(capacity, "storage.k8s.io/v1", "CSIStorageCapacity")
}

fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let capacity = at(new);
    let (topology, class) = (capacity.field("nodeTopology"), capacity.field("storageClassName"));
    validate_structured_update(topology.path(), topology.value(), old.map(|old| &old["nodeTopology"]), errors);
    class.follows(name::dns_subdomain, errors);
    let own = capacity.field("capacity");
    if amount(own.text()).sign().is_lt() {
        own.invalid("must be greater than or equal to 0", errors);
    }
    if let Some(old) = old.map(at) {
        topology.immutable(&old.field("nodeTopology"), errors);
        class.immutable(&old.field("storageClassName"), errors);
    }
}

/// Nodes are selected by labels that are not deprecated (`GetWarningsForNodeSelector`).
fn warnings(_: &Context<'_>, capacity: &Value, _: Option<&Value>) -> Vec<String> {
    let expressions = items(capacity, "/nodeTopology/matchExpressions").iter().enumerate();
    let expressions = expressions.filter_map(|(index, expression)| {
        let key = text(expression, "/key");
        Some(format!("nodeTopology.matchExpressions[{index}].key: {key} is {}", deprecation(key)?))
    });
    let labels = capacity["nodeTopology"]["matchLabels"].as_object().into_iter().flatten();
    let labels = labels.filter_map(|(key, _)| Some(format!("nodeTopology.matchLabels.{key}: {}", deprecation(key)?)));
    expressions.chain(labels).collect()
}
