//! Limit ranges.
//!
//! Follows `pkg/registry/core/limitrange/strategy.go` and `SetDefaults_LimitRangeItem` of `pkg/apis/core/v1/defaults.go`
//! (v1.37.1).

use super::rules::{Rules, Strategy};
use super::types::{round_resources, visit};
use super::{child, default_to, text};
use tree::{Map, Value};

pub(super) const RULES: Rules =
    Rules { create_on_update: true, strategy: Strategy { default, ..Strategy::NONE }, ..Rules::ORDINARY };

fn default(range: &mut Value) {
    visit(range, "spec/limits/*", &mut |item| {
        if text(item, "/type") == "Container" {
            default_item(item);
        }
    });
    visit(range, "spec/limits/*/max|min|default|defaultRequest|maxLimitRequestRatio", &mut round_resources);
}

/// `SetDefaults_LimitRangeItem`: the limit is the maximum by default, the request the limit, or else the minimum.
fn default_item(item: &mut Value) {
    for field in ["default", "defaultRequest"] {
        default_to(item, field, Map::new());
    }
    for (from, to) in [("max", "default"), ("default", "defaultRequest"), ("min", "defaultRequest")] {
        for (resource, amount) in item[from].as_object().cloned().into_iter().flatten() {
            default_to(child(item, to), &resource, amount);
        }
    }
}
