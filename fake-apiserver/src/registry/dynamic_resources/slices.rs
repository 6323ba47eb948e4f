//! Slices: the devices that a driver offers.
//!
//! Follows `pkg/apis/resource/validation/validation.go` (v1.37.1). Without what only features mean that are off by default.

use super::capacity::policy;
use super::claim_status::binding_conditions;
use super::names::{driver, is_bounded, pool, qualified_name, unique};
use super::requests::taint;
use crate::error::{Errors, FieldError};
use crate::object::name;
use crate::registry::cursor::At;
use crate::registry::types::node_selector;
use std::collections::HashSet;
use tree::Value;

const MAX_DEVICES: usize = 128;
/// The same, if some have taints or consume counters.
const MAX_ADVANCED_DEVICES: usize = 64;
const MAX_ATTRIBUTES: usize = 32;
const MAX_VALUE: usize = 64;
const MAX_TAINTS: usize = 16;
const MAX_COUNTER_SETS: usize = 8;
const MAX_COUNTERS: usize = 32;
const MAX_CONSUMPTIONS: usize = 2;
const MAX_KEY: usize = 63 + 1 + 32;

/// `validateResourceSliceSpec`.
pub(super) fn spec(spec: At<'_, '_>, old: Option<At<'_, '_>>, errors: &mut Errors) {
    driver(spec.field("driver"), errors);
    let own = spec.field("pool");
    pool(own.field("name"), errors);
    let (count, generation) = (own.field("resourceSliceCount"), own.field("generation"));
    if count.number().unwrap_or_default() <= 0 {
        count.invalid_value(count.number().unwrap_or_default(), "must be greater than zero", errors);
    }
    if generation.number().is_some_and(|number| number < 0) {
        generation.invalid("must be greater than or equal to zero", errors);
    }
    if let Some(old) = old {
        for field in ["pool.name", "driver", "nodeName"] {
            spec.field(field).immutable(&old.field(field), errors);
        }
    }
    nodes(spec, errors);
    let (devices, counters) = (spec.field("devices"), spec.field("sharedCounters"));
    if devices.is_set() && counters.is_set() {
        spec.invalid_value("", "only one of `sharedCounters` or `devices` is allowed", errors);
    }
    self::devices(devices, old, spec.field("perDeviceNodeSelection").flag(), errors);
    if is_bounded(counters, MAX_COUNTER_SETS, errors) {
        for set in counters.items() {
            label(set.field("name"), errors);
            counter_map(set.field("counters"), errors);
        }
        unique(counters, |set| set.field("name").text(), errors);
    }
}

/// Findings about fields of which exactly one must be set: their names.
fn exactly_one(at: At<'_, '_>, set: &[&str], missing: &str, many: &str, errors: &mut Errors) {
    match set {
        [] => at.required(missing, errors),
        [_] => {}
        set => {
            let set: Vec<String> = set.iter().map(|field| format!("`{field}`")).collect();
            at.invalid_value(format!("{{{}}}", set.join(", ")), many, errors);
        }
    }
}

/// Whether a flag that may only be set to true is set.
fn is_true(at: At<'_, '_>, errors: &mut Errors) -> bool {
    if at.is_set() && !at.flag() {
        at.invalid("must be either unset or set to true", errors);
    }
    at.flag()
}

/// The nodes that have access to the devices.
fn nodes(spec: At<'_, '_>, errors: &mut Errors) {
    let mut set = Vec::new();
    let (node, selector) = (spec.field("nodeName"), spec.field("nodeSelector"));
    if !node.is_empty() {
        set.push("nodeName");
        node.follows(name::dns_subdomain, errors);
    } else if node.is_set() {
        node.invalid("must be either unset or set to a non-empty string", errors);
    }
    if selector.is_set() {
        set.push("nodeSelector");
        node_selector(selector, true, errors);
        let terms = selector.field("nodeSelectorTerms");
        let detail = "must have exactly one node selector term";
        match terms.len() {
            0 => terms.invalid_value(Value::Array(Vec::new()), detail, errors),
            1 => {}
            _ => terms.invalid(detail, errors),
        }
    }
    set.extend(["allNodes", "perDeviceNodeSelection"].into_iter().filter(|field| is_true(spec.field(field), errors)));
    let missing = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
    exactly_one(spec, &set, missing, &format!("{missing}, but multiple fields are set"), errors);
}

fn devices(devices: At<'_, '_>, old: Option<At<'_, '_>>, each_selects: bool, errors: &mut Errors) {
    let is_advanced =
        |device: At<'_, '_>| !device.field("taints").is_empty() || !device.field("consumesCounters").is_empty();
    let most = if devices.items().any(is_advanced) { MAX_ADVANCED_DEVICES } else { MAX_DEVICES };
    if devices.len() > most {
        return errors.push(FieldError::too_many(devices.path(), devices.len(), most));
    }
    let before = old.as_ref().map(|old| old.field("devices"));
    for device in devices.items() {
        let of_name = |old: &At<'_, '_>| old.field("name").text() == device.field("name").text();
        let old = before.as_ref().and_then(|before| before.items().find(of_name));
        self::device(device, old, each_selects, errors);
    }
    let mut names = HashSet::new();
    for device in devices.items().filter(|device| !names.insert(device.field("name").text())) {
        device.field("name").shown_at(device.path()).duplicate(errors);
    }
}

/// `validateDevice`.
fn device(device: At<'_, '_>, old: Option<At<'_, '_>>, selects: bool, errors: &mut Errors) {
    let has_changed = |field| old.is_none_or(|old| !old.field(field).equals(&device.field(field)));
    device.field("name").follows(name::dns_label, errors);
    let (attributes, capacity) = (device.field("attributes"), device.field("capacity"));
    let total = attributes.len() + capacity.len();
    if total > MAX_ATTRIBUTES {
        let detail = format!("the total number of attributes and capacities must not exceed {MAX_ATTRIBUTES}");
        device.invalid_value(total, detail, errors);
    }
    for (key, attribute) in attributes.entries() {
        qualified_name(attributes, key, errors);
        self::attribute(attribute.shown_at(attributes.path().key(&truncated(key, MAX_KEY))), errors);
    }
    if has_changed("capacity") {
        let may_share = device.field("allowMultipleAllocations").flag();
        for (key, value) in capacity.entries() {
            qualified_name(capacity, key, errors);
            let shown = truncated(key, MAX_KEY);
            let place = capacity.path();
            let value = value.shown_at(place.key(&shown));
            match value.field("requestPolicy") {
                policy if !policy.is_set() => {}
                policy if may_share => self::policy(policy, value.field("value").text(), errors),
                policy => policy.forbidden("allowMultipleAllocations must be true", errors),
            }
        }
    }
    let taints = device.field("taints");
    if has_changed("taints") {
        match taints.len() > MAX_TAINTS {
            true => errors.push(FieldError::too_many(taints.path(), taints.len(), MAX_TAINTS)),
            false => taints.items().for_each(|one| taint(one, None, errors)),
        }
    }
    let consumptions = device.field("consumesCounters");
    if is_bounded(consumptions, MAX_CONSUMPTIONS, errors) {
        for consumption in consumptions.items() {
            label(consumption.field("counterSet"), errors);
            counter_map(consumption.field("counters"), errors);
        }
        unique(consumptions, |consumption| consumption.field("counterSet").text(), errors);
    }
    device_nodes(device, selects, errors);
    binding_conditions(device, errors);
}

/// The nodes that have access to a device, if each says so itself.
fn device_nodes(device: At<'_, '_>, selects: bool, errors: &mut Errors) {
    let (node, selector) = (device.field("nodeName"), device.field("nodeSelector"));
    if !selects {
        if ["nodeName", "nodeSelector", "allNodes"].iter().any(|field| device.field(field).is_set()) {
            let detail = "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true \
                in the ResourceSlice spec";
            device.invalid_value(Value::Null, detail, errors);
        }
        return;
    }
    let mut set = Vec::new();
    if !node.is_empty() {
        set.push("nodeName");
        node.follows(name::dns_subdomain, errors);
    } else if node.is_set() {
        node.invalid("must not be empty", errors);
    }
    if selector.is_set() {
        set.push("nodeSelector");
        node_selector(selector, true, errors);
    }
    if is_true(device.field("allNodes"), errors) {
        set.push("allNodes");
    }
    let detail = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to \
        true in the ResourceSlice spec";
    exactly_one(device, &set, detail, detail, errors);
}

/// `validateDeviceAttribute`. Declarative validation looks for exactly one value, too.
fn attribute(attribute: At<'_, '_>, errors: &mut Errors) {
    let too_long = |at: At<'_, '_>, errors: &mut Errors| {
        if at.text().len() > MAX_VALUE {
            errors.push(FieldError::too_long(at.path(), MAX_VALUE));
        }
    };
    too_long(attribute.field("string"), errors);
    let version = attribute.field("version");
    if version.is_set() && !is_semantic_version(version.text()) {
        version.invalid("must be a string compatible with semver.org spec 2.0.0", errors);
    }
    too_long(version, errors);
    let set = ["bool", "int", "string", "version"].iter().filter(|field| attribute.field(field).is_set()).count();
    let detail = "exactly one value must be specified";
    match set {
        0 => errors.covered("union", |errors| attribute.invalid_value("", detail, errors)),
        1 => {}
        _ => errors.covered("union", |errors| attribute.invalid(detail, errors)),
    }
}

/// A version as semver.org has it: three numbers, a pre-release and a build.
fn is_semantic_version(text: &str) -> bool {
    let is_number = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) && (part == "0" || !part.starts_with('0'))
    };
    let is_word =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let is_numeric = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let (rest, build) = text.split_once('+').map_or((text, None), |(rest, build)| (rest, Some(build)));
    let (core, release) = rest.split_once('-').map_or((rest, None), |(core, release)| (core, Some(release)));
    core.split('.').count() == 3
        && core.split('.').all(is_number)
        && release.is_none_or(|all| all.split('.').all(|part| is_word(part) && (!is_numeric(part) || is_number(part))))
        && build.is_none_or(|all| all.split('.').all(is_word))
}

/// A name for which declarative validation looks, too.
fn label(at: At<'_, '_>, errors: &mut Errors) {
    let origin = if at.is_empty() { "" } else { "format=k8s-short-name" };
    errors.covered(origin, |errors| at.required_by(name::dns_label, errors));
}

fn counter_map(counters: At<'_, '_>, errors: &mut Errors) {
    if counters.is_empty() {
        return errors.covered("", |errors| counters.required("", errors));
    }
    if counters.len() > MAX_COUNTERS {
        return errors.push(FieldError::too_many(counters.path(), counters.len(), MAX_COUNTERS));
    }
    for (key, _) in counters.entries() {
        errors.covered("format=k8s-short-name", |errors| {
            errors.invalid_each(counters.path(), key, name::dns_label(key));
        });
    }
}

/// `truncateIfTooLong`: the middle of a long text is left out.
fn truncated(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let remaining = most - 3;
    let (start, end) = (remaining.div_ceil(2), text.len() - remaining / 2);
    format!("{}...{}", text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default())
}
