//! Classes of attributes of volumes.
//!
//! Follows `pkg/registry/storage/volumeattributesclass/strategy.go`, and `ValidateVolumeAttributesClass` and
//! `ValidateVolumeAttributesClassUpdate` of `pkg/apis/storage/validation/validation.go` (v1.37.1).

use super::classes::{driver, parameters};
use crate::error::Errors;
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::rules::{Rules, Strategy};
use crate::registry::text;
use tree::Value;

pub(in crate::registry) const RULES: Rules = Rules {
    delete_returns_object: true,
    cells: &[("DriverName", |class, _| text(class, "/driverName").into())],
    strategy: Strategy { validate, ..Strategy::NONE },
    ..Rules::ORDINARY
};

fn at(class: &Value) -> At<'static, '_> {
    At::object(class, "storage.k8s.io/v1", "VolumeAttributesClass")
}

fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let class = at(new);
    if let Some(old) = old.map(at) {
        for field in ["driverName", "parameters"] {
            if !class.field(field).equals(&old.field(field)) {
                class.field(field).forbidden(format!("updates to {field} are forbidden."), errors);
            }
        }
    }
    driver(class.field("driverName"), errors);
    let all = class.field("parameters");
    parameters(all, errors);
    if all.is_empty() {
        all.required("must contain at least one key/value pair", errors);
    }
}
