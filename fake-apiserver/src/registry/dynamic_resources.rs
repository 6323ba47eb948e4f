//! Dynamic resource allocation: device classes, taint rules, claims, templates of claims, and slices.
//!
//! Follows `pkg/registry/resource/*/strategy.go`, `pkg/apis/resource/v1/defaults.go` and
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

use super::columns::since;
use super::context::Context;
use super::cursor::At;
use super::defaults::Fill::Text;
use super::defaults::{Default, Disabled, drop_disabled, fill, fill_unless_zero, visit};
use super::ids;
use super::rules::{NameRule, Rules, Strategy};
use super::{child, default_to, items, text};
use crate::clock::format_seconds;
use crate::error::{Errors, FieldError, Path};
use crate::object::meta;
use crate::schema::quote;
use crate::store::{Entry, Key};
use jiff::Timestamp;
use std::sync::Arc;
use tree::Value;

pub(super) const DEVICE_CLASS: Rules = Rules {
    // Declarative validation looks at names.
    name_rule: NameRule::PathSegment,
    owns_generation: true,
    delete_returns_object: true,
    ..Rules::ORDINARY
};

pub(super) const DEVICE_TAINT_RULE: Rules = Rules {
    owns_generation: true,
    status_keeps_metadata: true,
    plain_status: true,
    cells: &[
        ("Key", |rule, _| text(rule, "/spec/taint/key").into()),
        ("Value", |rule, _| text(rule, "/spec/taint/value").into()),
        ("Effect", |rule, _| text(rule, "/spec/taint/effect").into()),
        ("TimeAdded", |rule, now| match text(rule, "/spec/taint/timeAdded") {
            "" => "".into(),
            added => since(added, now).into(),
        }),
    ],
    strategy: Strategy {
        default_times: |rule, now| date_taint(child(child(rule, "spec"), "taint"), now),
        prepare: prepare_taint_rule,
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

pub(super) const RESOURCE_CLAIM: Rules = Rules {
    delete_returns_object: true,
    status_keeps_metadata: true,
    plain_status: true,
    subresources: &[(
        "status",
        Strategy { prepare: prepare_claim_status, validate: authorize_status_for_admin, ..Strategy::NONE },
    )],
    cells: &[("State", |claim, _| state(claim).into())],
    strategy: Strategy {
        default: |claim| {
            visit(claim, "spec", &mut default_claim_spec);
            fill(claim, &[("status/allocation/devices/results/*/tolerations/*", TOLERATION)]);
        },
        prepare: |_, claim, _| visit(claim, "spec", &mut |spec| drop_disabled(spec, CLAIM_DISABLED)),
        validate: |context, claim, old, errors| {
            let at = At::object(claim, "resource.k8s.io/v1", "ResourceClaim");
            authorize_for_admin(context, claim, at.field("spec.devices.requests"), old, errors);
        },
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

pub(super) const RESOURCE_CLAIM_TEMPLATE: Rules = Rules {
    delete_returns_object: true,
    strategy: Strategy {
        default: |template| visit(template, "spec/spec", &mut default_claim_spec),
        validate: |context, template, old, errors| {
            let at = At::object(template, "resource.k8s.io/v1", "ResourceClaimTemplate");
            // Upstream names the path that they have in a claim.
            let requests = at.field("spec.spec.devices.requests").shown_at(Path::new("spec.devices.requests"));
            authorize_for_admin(context, template, requests, old, errors);
        },
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

pub(super) const RESOURCE_SLICE: Rules = Rules {
    owns_generation: true,
    delete_returns_object: true,
    cells: &[
        ("Node", |slice, _| text(slice, "/spec/nodeName").into()),
        ("Driver", |slice, _| text(slice, "/spec/driver").into()),
        ("Pool", |slice, _| text(slice, "/spec/pool/name").into()),
    ],
    strategy: Strategy {
        default_times: |slice, now| visit(slice, "spec/devices/*/taints/*", &mut |taint| date_taint(taint, now)),
        prepare: |_, slice, _| visit(slice, "spec", &mut |spec| drop_disabled(spec, SLICE_DISABLED)),
        warnings: |_, slice, _| {
            let driver = text(slice, "/spec/driver");
            let advice = || {
                let driver = quote(driver);
                format!("spec.driver: driver names should be lowercase; {driver} contains uppercase characters")
            };
            if driver == driver.to_lowercase() { Vec::new() } else { vec![advice()] }
        },
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

const TOLERATION: &[(&str, super::defaults::Fill)] = &[("operator", Text("Equal"))];

const REQUEST: &[Default] = &[("", &[("allocationMode", Text("ExactCount"))]), ("tolerations/*", TOLERATION)];

/// The defaults of the requests of a claim (`SetDefaults_ExactDeviceRequest`, `SetDefaults_DeviceSubRequest`).
fn default_claim_spec(spec: &mut Value) {
    let mut request = |request: &mut Value| {
        fill(request, REQUEST);
        if text(request, "/allocationMode") == "ExactCount" {
            fill_unless_zero(request, "count", 1.into());
        }
    };
    visit(spec, "devices/requests/*/exactly", &mut request);
    visit(spec, "devices/requests/*/firstAvailable/*", &mut request);
}

/// The fields of claims that only disabled features know.
const CLAIM_DISABLED: &[Disabled] = &[
    ("devices/requests/*/exactly", &["derivedAttributes"]),
    ("devices/requests/*/firstAvailable/*", &["derivedAttributes"]),
];

/// The fields of slices that only disabled features know.
const SLICE_DISABLED: &[Disabled] = &[
    ("", &["partitionTypeAttribute", "skipNodeOperations"]),
    ("devices/*", &["nodeAllocatableResources"]),
    ("devices/*/attributes/*", &["ints", "bools", "strings", "versions"]),
    ("devices/*/consumesCounters/*", &["compatibilityGroups"]),
];

/// The label of namespaces whose claims may ask for access to devices that are in use (`DRAAdminNamespaceLabelKey`).
const ADMIN_LABEL: &str = "resource.kubernetes.io/admin-access";

/// Admin access is for labelled namespaces; requests do not change later (`AuthorizedForAdmin`).
fn authorize_for_admin(
    context: &Context<'_>,
    object: &Value,
    requests: At<'_, '_>,
    old: Option<&Value>,
    errors: &mut Errors,
) {
    let asks = |request: &At<'_, '_>| request.field("exactly.adminAccess").flag();
    if old.is_none()
        && let Some(request) = requests.items().find(asks)
    {
        check_admin_label(context, object, request.path().child("adminAccess"), errors);
    }
}

/// The same for devices that were allocated with admin access (`AuthorizedForAdminStatus`).
fn authorize_status_for_admin(context: &Context<'_>, claim: &Value, old: Option<&Value>, errors: &mut Errors) {
    let has_access = |result: &Value| result["adminAccess"] == true;
    let results = |claim| items(claim, "/status/allocation/devices/results");
    if old.is_some_and(|old| results(old).iter().any(has_access)) {
        return;
    }
    if let Some(index) = results(claim).iter().position(has_access) {
        let path = Path::new("status.allocation.devices.results");
        check_admin_label(context, claim, path.index(index).child("adminAccess"), errors);
    }
}

fn check_admin_label(context: &Context<'_>, object: &Value, path: Path<'_>, errors: &mut Errors) {
    let namespace = meta::namespace(object);
    let label = |entry: &Arc<Entry>| entry.meta.label(ADMIN_LABEL) == Some("true");
    match context.store.get(&Key::new(ids::NAMESPACES, "", namespace)) {
        Some(found) if label(&found) => {}
        Some(_) => errors.forbidden(
            path,
            format!("admin access to devices requires the `{ADMIN_LABEL}: true` label on the containing namespace"),
        ),
        None => {
            let why = format!("namespaces {} not found", quote(namespace));
            errors.push(FieldError::internal(
                path,
                format!("could not retrieve namespace to verify admin access: {why}"),
            ));
        }
    }
}

/// `SetDefaults_DeviceTaint`.
fn date_taint(taint: &mut Value, now: Timestamp) {
    default_to(taint, "timeAdded", format_seconds(now));
}

/// Another effect begins now, unless another time is sent.
fn prepare_taint_rule(context: &Context<'_>, rule: &mut Value, old: Option<&Value>) {
    let Some(old) = old else { return };
    let (new, old) = (&mut rule["spec"]["taint"], &old["spec"]["taint"]);
    if new["effect"] != old["effect"] && new["timeAdded"] == old["timeAdded"] {
        new["timeAdded"] = format_seconds(context.now).into();
    }
}

/// The status of devices goes with their allocation (`dropDeallocatedStatusDevices`).
fn prepare_claim_status(_: &Context<'_>, claim: &mut Value, old: Option<&Value>) {
    let Some(old) = old else { return };
    meta::keep_all_but_managers(claim, old);
    visit(claim, "status/allocation/devices/results/*", &mut |result| {
        drop_disabled(result, &[("", &["skipNodeOperations"])])
    });
    let device = |value: &Value| ["driver", "pool", "device", "shareID"].map(|field| value.get(field).cloned());
    let allocated =
        |claim: &Value| -> Vec<_> { items(claim, "/status/allocation/devices/results").iter().map(device).collect() };
    let now = allocated(claim);
    let gone: Vec<_> = allocated(old).into_iter().filter(|device| !now.contains(device)).collect();
    let Some(status) = claim.get_mut("status").and_then(Value::as_object_mut) else { return };
    let Some(Value::Array(devices)) = status.get_mut("devices") else { return };
    devices.retain(|status| !gone.contains(&device(status)));
    if devices.is_empty() {
        status.remove("devices");
    }
}

/// `resourceClaimState`.
fn state(claim: &Value) -> String {
    let is_deleted = meta::deletion_timestamp(claim).is_some();
    let is_allocated = claim["status"].get("allocation").is_some();
    let states = [
        ("deleted", is_deleted),
        ("pending", !is_allocated && !is_deleted),
        ("allocated", is_allocated),
        ("reserved", is_allocated && !items(claim, "/status/reservedFor").is_empty()),
    ];
    let states: Vec<&str> = states.into_iter().filter(|(_, is)| *is).map(|(state, _)| state).collect();
    states.join(",")
}
