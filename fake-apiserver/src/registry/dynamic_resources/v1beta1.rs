//! The same objects in `resource.k8s.io/v1beta1`: a request for devices has the fields of `exactly` itself, and a device those that it has
//! behind its name in `basic`.
//!
//! Follows `pkg/apis/resource/v1beta1/{conversion,defaults}.go`, and `ResourceNormalizationRules` of
//! `pkg/apis/resource/validation/validation.go` (v1.37.1).

use super::claim_defaults::{default_claim_spec, default_request, default_status};
use crate::registry::defaults::visit;
use crate::registry::rules::{Functions, VersionRules};
use crate::registry::text;
use tree::{Map, Text, Value};

pub(super) const DEVICE_CLASS: VersionRules = VersionRules {
    deprecated: Some(("1.35", "1.38")),
    path_in_storage,
    ..VersionRules::same("resource.k8s.io", "v1beta1")
};

pub(super) const RESOURCE_CLAIM: VersionRules = VersionRules {
    conversion: Functions {
        to_storage: |claim| visit(claim, "spec/devices/requests/*", &mut request_to_storage),
        from_storage: |claim| visit(claim, "spec/devices/requests/*", &mut request_from_storage),
    },
    default: Some(|claim| {
        visit(claim, "spec", &mut |spec| default_claim_spec(spec, default_exactly));
        default_status(claim);
    }),
    ..DEVICE_CLASS
};

pub(super) const RESOURCE_CLAIM_TEMPLATE: VersionRules = VersionRules {
    conversion: Functions {
        to_storage: |template| visit(template, "spec/spec/devices/requests/*", &mut request_to_storage),
        from_storage: |template| visit(template, "spec/spec/devices/requests/*", &mut request_from_storage),
    },
    default: Some(|template| visit(template, "spec/spec", &mut |spec| default_claim_spec(spec, default_exactly))),
    ..DEVICE_CLASS
};

pub(super) const RESOURCE_SLICE: VersionRules = VersionRules {
    conversion: Functions { to_storage: slice_to_storage, from_storage: slice_from_storage },
    ..DEVICE_CLASS
};

/// The fields of a request that are in `exactly` in the storage version.
const EXACTLY: [&str; 8] = [
    "deviceClassName",
    "selectors",
    "allocationMode",
    "count",
    "adminAccess",
    "tolerations",
    "capacity",
    "derivedAttributes",
];
/// The field of a device for those that it has itself in the storage version.
const BASIC: &str = "basic";

/// `Convert_v1beta1_DeviceRequest_To_resource_DeviceRequest`.
fn request_to_storage(request: &mut Value) {
    let Some(fields) = request.as_object_mut() else { return };
    let own = EXACTLY.iter().filter_map(|field| Some((Text::from(*field), fields.remove(*field)?)));
    let exactly: Map = own.filter(|(_, value)| !is_zero(value)).collect();
    if !exactly.is_empty() {
        fields.insert("exactly".into(), Value::Object(exactly));
    }
}

/// `Convert_resource_DeviceRequest_To_v1beta1_DeviceRequest`.
fn request_from_storage(request: &mut Value) {
    let Some(fields) = request.as_object_mut() else { return };
    if let Some(Value::Object(exactly)) = fields.remove("exactly") {
        fields.extend(exactly);
    }
}

/// `Convert_v1beta1_ResourceSliceSpec_To_resource_ResourceSliceSpec`, in which some fields are pointers.
fn slice_to_storage(slice: &mut Value) {
    visit(slice, "spec", &mut |spec| {
        let Some(fields) = spec.as_object_mut() else { return };
        for field in ["nodeName", "allNodes"] {
            if fields.get(field).is_some_and(|value| is_zero(value) || *value == false) {
                fields.remove(field);
            }
        }
    });
    visit(slice, "spec/devices/*", &mut |device| {
        let Some(fields) = device.as_object_mut() else { return };
        if let Some(Value::Object(basic)) = fields.remove(BASIC) {
            fields.extend(basic);
        }
    });
}

/// `Convert_resource_Device_To_v1beta1_Device`.
fn slice_from_storage(slice: &mut Value) {
    visit(slice, "spec/devices/*", &mut |device| {
        let Some(fields) = device.as_object_mut() else { return };
        let name = fields.remove("name");
        let basic = std::mem::take(fields);
        fields.extend(name.map(|name| (Text::from("name"), name)));
        fields.insert(BASIC.into(), Value::Object(basic));
    });
}

/// Whether it is nothing, or the zero of a text or a number, which are no pointers.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_i64() == Some(0),
        _ => false,
    }
}

/// `SetDefaults_DeviceRequest`: a request without a class has alternatives.
fn default_exactly(exactly: &mut Value) {
    if !text(exactly, "/deviceClassName").is_empty() {
        default_request(exactly);
    }
}

fn path_in_storage(path: &str) -> Option<String> {
    if let Some((request, field)) = of_item(path, "spec.devices.requests[") {
        // Upstream's list lacks one of the fields.
        let is_moved = EXACTLY.iter().any(|own| *own != "capacity" && field.starts_with(own));
        return is_moved.then(|| format!("{request}.exactly.{field}"));
    }
    let (device, field) = of_item(path, "spec.devices[")?;
    Some(format!("{device}.{}", field.strip_prefix("basic.")?))
}

/// The path of an item of a list, whose path ends with `list`, and that of a field within it.
fn of_item<'p>(path: &'p str, list: &str) -> Option<(&'p str, &'p str)> {
    let start = path.find(list)? + list.len();
    let (index, field) = path[start..].split_once("].")?;
    Some((&path[..=start + index.len()], field))
}
