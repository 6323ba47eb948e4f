//! Component statuses, which are not stored: `api/special/component_statuses.rs` answers.
//!
//! Cells follow `printComponentStatus` of `pkg/printers/internalversion/printers.go` (v1.37.1).

use super::rules::{Cell, Rules};
use super::subresources::Handler;
use super::{items, text};
use tree::Value;

pub(super) const RULES: Rules = Rules {
    handler: Handler::ComponentStatuses,
    deprecation: Some("v1 ComponentStatus is deprecated in v1.19+"),
    cells: CELLS,
    ..Rules::ORDINARY
};

const CELLS: &[(&str, Cell)] = &[
    ("Status", |status, _| {
        let state = match text(healthy(status), "/status") {
            "True" => "Healthy",
            "False" => "Unhealthy",
            _ => "Unknown",
        };
        state.into()
    }),
    ("Message", |status, _| text(healthy(status), "/message").into()),
    ("Error", |status, _| text(healthy(status), "/error").into()),
];

/// The condition `Healthy`.
fn healthy(status: &Value) -> &Value {
    let conditions = items(status, "/conditions");
    conditions.iter().find(|condition| text(condition, "/type") == "Healthy").unwrap_or(&Value::Null)
}
