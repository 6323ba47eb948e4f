//! Selectors of devices, which are expressions in CEL, and configurations of drivers.
//!
//! Follows `pkg/apis/resource/validation/validation.go` (v1.37.1) and `cel/compile.go` of `k8s.io/dynamic-resource-allocation`
//! (v0.37.1).

use super::names::{covered_driver, is_bounded};
use crate::deadline::Deadline;
use crate::error::{Errors, FieldError};
use crate::registry::cel::ENVIRONMENT;
use crate::registry::cursor::At;
use kubernetes_cel::{Declarations, Sizes, Stage, Type};
use std::sync::LazyLock;
use tree::Value;

const MAX_SELECTORS: usize = 32;
/// `CELSelectorExpressionMaxLength`, in bytes, and `CELSelectorExpressionMaxCost`.
const MAX_EXPRESSION: usize = 10 * 1024;
const MAX_COST: u64 = 1_000_000;
/// `OpaqueParametersMaxLength`, in bytes.
const MAX_PARAMETERS: usize = 10 * 1024;
/// The most attributes and capacities of a device, the longest domain and identifier, and the longest attribute.
const MAX_ATTRIBUTES: u64 = 32;
const MAX_DOMAIN: u64 = 63;
const MAX_ID: u64 = 32;
const MAX_VALUE: u64 = 64;

/// The variable `device`. What attributes are is known only when an expression is evaluated.
static DEVICE: LazyLock<Declarations> = LazyLock::new(|| {
    let by_domain = |value: Type| Type::map(Type::String, Type::map(Type::String, value));
    let fields = [
        ("driver", Type::String),
        ("allowMultipleAllocations", Type::Bool),
        ("attributes", by_domain(Type::Dyn)),
        ("capacity", by_domain(Type::object("kubernetes.Quantity"))),
    ];
    Declarations::new()
        .bindings()
        .object("kubernetes.DRADevice", fields)
        .variable("device", Type::object("kubernetes.DRADevice"))
});

/// The sizes of the parts of a device (`sizeEstimator`).
struct DeviceSizes;

impl Sizes for DeviceSizes {
    fn max_size(&self, path: &[String]) -> Option<u64> {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        match path[..] {
            ["device"] => Some(0),
            ["device", "driver"] => Some(MAX_DOMAIN),
            ["device", "allowMultipleAllocations"] => Some(1),
            ["device", "attributes" | "capacity"] => Some(MAX_ATTRIBUTES),
            ["device", "attributes" | "capacity", "@keys"] => Some(MAX_DOMAIN),
            ["device", "attributes" | "capacity", "@values"] => Some(MAX_ATTRIBUTES),
            ["device", "attributes" | "capacity", "@values", "@keys"] => Some(MAX_ID),
            ["device", "capacity", "@values", "@values"] => Some(0),
            ["device", "attributes", "@values", _] => Some(MAX_VALUE),
            _ => None,
        }
    }
}

/// `validateSelectorSlice`; `stored` selectors are not compiled again.
pub(super) fn selectors(list: At<'_, '_>, stored: bool, deadline: &Deadline, errors: &mut Errors) {
    if !is_bounded(list, MAX_SELECTORS, errors) {
        return;
    }
    for selector in list.items() {
        let cel = selector.field("cel");
        match cel.is_set() {
            false => cel.required("", errors),
            true if stored || deadline.check().is_err() => {}
            true => expression(cel.field("expression"), errors),
        }
    }
}

/// `validateCELExpression`.
fn expression(at: At<'_, '_>, errors: &mut Errors) {
    if at.text().len() > MAX_EXPRESSION {
        return errors.push(FieldError::too_long(at.path(), MAX_EXPRESSION));
    }
    let compiled = match ENVIRONMENT.compile(at.text(), &DEVICE, Stage::New) {
        Ok(compiled) => compiled,
        Err(error) => return at.invalid_value(at.text(), format!("compilation failed: {error}"), errors),
    };
    let found = compiled.result_type();
    if !matches!(found, Type::Bool | Type::Dyn) {
        let detail = format!("must evaluate to bool or the unknown type, not {}", shown(found));
        return at.invalid_value(at.text(), detail, errors);
    }
    if let Err(error) = compiled.program() {
        errors.push(FieldError::internal(at.path(), format!("program instantiation failed: {error}")));
    } else if compiled.cost_estimate(&DeviceSizes).max > MAX_COST {
        at.forbidden("too complex, exceeds cost limit", errors);
    }
}

/// The name of a type, in which Go has a type of its own for attributes.
fn shown(t: &Type) -> String {
    t.full_name().replace("map(string, dyn)", "map(string, google.protobuf.Any)")
}

/// `validateDeviceConfiguration`; what is `stored` may be too long.
pub(super) fn configuration(config: At<'_, '_>, stored: bool, errors: &mut Errors) {
    let opaque = config.field("opaque");
    if !opaque.is_set() {
        return opaque.required("", errors);
    }
    covered_driver(opaque.field("driver"), errors);
    let most = if stored { usize::MAX } else { MAX_PARAMETERS };
    raw_object(opaque.field("parameters"), most, errors);
}

/// `validateRawExtension`: an object of at most so many bytes.
pub(super) fn raw_object(at: At<'_, '_>, most: usize, errors: &mut Errors) {
    match at.value() {
        Value::Null => at.required("", errors),
        value if value.to_string().len() > most => errors.push(FieldError::too_long(at.path(), most)),
        Value::Object(_) => {}
        _ => at.invalid_value("<value omitted>", "must be a valid JSON object", errors),
    }
}
