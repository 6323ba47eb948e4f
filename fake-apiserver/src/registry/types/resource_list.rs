//! `ResourceList`: amounts by the names of resources.
//!
//! Follows `SetDefaults_ResourceList` of `pkg/apis/core/v1/defaults.go` (v1.37.1).

use crate::schema;
use tree::Value;

/// Rounds all amounts up to thousandths.
pub(in crate::registry) fn round_resources(list: &mut Value) {
    for (_, amount) in list.as_object_mut().into_iter().flatten() {
        if let Some(rounded) = amount.as_str().and_then(schema::rounded_quantity) {
            *amount = rounded.into();
        }
    }
}
