//! ConfigMaps: well-formed keys, a size limit, and immutability on request.
//!
//! Follows `ValidateConfigMap` and `ValidateConfigMapUpdate` of `pkg/apis/core/validation` (v1.37.1).

use super::context::Context;
use super::rules::{Rules, Strategy};
use super::secrets::{MAX_DATA_SIZE, decoded_length, immutable, key_errors, map_differs};
use crate::error::{Errors, FieldError};
use crate::object::generation::equal;
use tree::{Map, Text, Value};

pub(super) const RULES: Rules = Rules {
    cells: &[("Data", |config_map, _| {
        let count = |field| entries(config_map, field).count();
        (count("data") + count("binaryData")).into()
    })],
    strategy: Strategy { validate, ..Strategy::NONE },
    ..Rules::ORDINARY
};

fn entries<'a>(config_map: &'a Value, field: &str) -> impl Iterator<Item = (&'a Text, &'a Value)> {
    config_map.get(field).and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

fn validate(_: &Context<'_>, config_map: &Value, old: Option<&Value>, errors: &mut Errors) {
    if let Some(old) = old {
        // Only of `data` none is an empty map, by default.
        let data = !equal(config_map.get("data"), old.get("data"));
        let binary = map_differs(config_map, old, "binaryData");
        errors.extend(immutable(config_map, old, &[("data", data), ("binaryData", binary)]));
    }
    let mut size = 0;
    for (key, value) in entries(config_map, "data") {
        errors.extend(key_errors("data", key));
        if config_map["binaryData"].get(key).is_some() {
            let detail = "duplicate of key present in binaryData";
            errors.push(FieldError::invalid(format!("data[{key}]"), &key.as_str().into(), detail));
        }
        size += value.as_str().map_or(0, str::len);
    }
    for (key, value) in entries(config_map, "binaryData") {
        errors.extend(key_errors("binaryData", key));
        size += decoded_length(value);
    }
    if size > MAX_DATA_SIZE {
        // The whole object is meant.
        errors.push(FieldError::too_long("[]", MAX_DATA_SIZE));
    }
}
