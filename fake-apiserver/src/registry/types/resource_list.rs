//! `ResourceList`: amounts by the names of resources.
//!
//! Follows `SetDefaults_ResourceList` of `pkg/apis/core/v1/defaults.go` (v1.37.1).

use crate::registry::quantity::{MILLI, amount};
use tree::Value;

/// Rounds all amounts up to thousandths.
pub(in crate::registry) fn round_resources(list: &mut Value) {
    for (_, amount) in list.as_object_mut().into_iter().flatten() {
        let rounded = self::amount(amount.as_str().unwrap_or_default()).rounded_up(MILLI);
        if amount.as_str() != Some(&rounded.exact_text()) {
            *amount = rounded.exact_text().as_ref().into();
        }
    }
}
