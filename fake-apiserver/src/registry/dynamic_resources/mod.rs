//! Dynamic resource allocation: device classes, taint rules, claims, templates of claims, and slices.
//!
//! Follows `pkg/registry/resource/*/strategy.go`, `pkg/apis/resource/validation/validation.go`, `pkg/apis/resource/v1/defaults.go` and
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

mod capacity;
mod claim_defaults;
mod claim_status;
mod names;
mod permissions;
mod requests;
mod selectors;
mod slices;
mod v1beta1;
mod v1beta2;

use self::claim_defaults::{default_claim_spec, default_request, default_status};
use super::columns::since;
use super::context::Context;
use super::cursor::At;
use super::defaults::{Disabled, drop_disabled, visit};
use super::ids;
use super::rules::{NameRule, Rules, Strategy};
use super::types::{conditions, template_metadata};
use super::{child, default_to, items, text};
use crate::clock::format_seconds;
use crate::error::{Errors, FieldError, Path};
use crate::object::{meta, name};
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
    strategy: Strategy { validate: validate_class, ..Strategy::NONE },
    optional: &[v1beta2::VERSION, v1beta1::DEVICE_CLASS],
    ..Rules::ORDINARY
};

/// `validateDeviceClassSpec`. What has not changed may be longer than allowed, and need not compile.
fn validate_class(context: &Context<'_>, class: &Value, old: Option<&Value>, errors: &mut Errors) {
    let at = |class| At::object(class, API_VERSION, "DeviceClass");
    let (class, old) = (at(class), old.map(at));
    let is_stored = |field| old.is_some_and(|old| old.field(field).equals(&class.field(field)));
    selectors::selectors(class.field("spec.selectors"), is_stored("spec.selectors"), context.deadline, errors);
    let configs = class.field("spec.config");
    if names::is_bounded(configs, MAX_CLASS_CONFIGS, errors) {
        for config in configs.items() {
            selectors::configuration(config, is_stored("spec.config"), errors);
        }
    }
}

const API_VERSION: &str = "resource.k8s.io/v1";
const MAX_CLASS_CONFIGS: usize = 32;

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
        validate: validate_taint_rule,
        ..Strategy::NONE
    },
    subresources: &[("status", Strategy { validate: validate_taint_rule_status, ..Strategy::STATUS })],
    optional: &[v1beta2::DEVICE_TAINT_RULE],
    ..Rules::ORDINARY
};

pub(super) const RESOURCE_CLAIM: Rules = Rules {
    delete_returns_object: true,
    status_keeps_metadata: true,
    plain_status: true,
    subresources: &[(
        "status",
        Strategy {
            prepare: prepare_claim_status,
            validate: |context, claim, old, errors| {
                authorize_status_for_admin(context, claim, old, errors);
                if let Some(old) = old {
                    let at = |claim| At::object(claim, API_VERSION, "ResourceClaim");
                    permissions::check(context, at(claim), at(old), errors);
                    claim_status::update(at(claim), at(old), errors);
                }
            },
            ..Strategy::NONE
        },
    )],
    cells: &[("State", |claim, _| state(claim).into())],
    optional: &[v1beta2::VERSION, v1beta1::RESOURCE_CLAIM],
    strategy: Strategy {
        default: |claim| {
            visit(claim, "spec", &mut |spec| default_claim_spec(spec, default_request));
            default_status(claim);
        },
        prepare: |_, claim, _| visit(claim, "spec", &mut |spec| drop_disabled(spec, CLAIM_DISABLED)),
        validate: |context, claim, old, errors| {
            let at = At::object(claim, API_VERSION, "ResourceClaim");
            authorize_for_admin(context, claim, at.field("spec.devices.requests"), old, errors);
            let spec = at.field("spec");
            match old.map(|old| At::object(old, API_VERSION, "ResourceClaim")) {
                Some(old) => errors.covered("immutable", |errors| spec.immutable(&old.field("spec"), errors)),
                None => requests::claim_spec(spec, context.deadline, errors),
            }
        },
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

pub(super) const RESOURCE_CLAIM_TEMPLATE: Rules = Rules {
    delete_returns_object: true,
    optional: &[v1beta2::VERSION, v1beta1::RESOURCE_CLAIM_TEMPLATE],
    strategy: Strategy {
        default: |template| visit(template, "spec/spec", &mut |spec| default_claim_spec(spec, default_request)),
        validate: |context, template, old, errors| {
            let at = At::object(template, API_VERSION, "ResourceClaimTemplate");
            // Upstream names the path that they have in a claim.
            let requests = at.field("spec.spec.devices.requests").shown_at(Path::new("spec.devices.requests"));
            authorize_for_admin(context, template, requests, old, errors);
            let spec = at.field("spec");
            template_metadata(spec.field("metadata"), errors);
            requests::claim_spec(spec.field("spec"), context.deadline, errors);
            if let Some(old) = old.map(|old| At::object(old, API_VERSION, "ResourceClaimTemplate")) {
                spec.immutable(&old.field("spec"), errors);
            }
        },
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

pub(super) const RESOURCE_SLICE: Rules = Rules {
    owns_generation: true,
    optional: &[v1beta2::VERSION, v1beta1::RESOURCE_SLICE],
    unknown_label: |version, label| format!("field label not supported for {version}, Kind=ResourceSlice: {label}"),
    delete_returns_object: true,
    cells: &[
        ("Node", |slice, _| text(slice, "/spec/nodeName").into()),
        ("Driver", |slice, _| text(slice, "/spec/driver").into()),
        ("Pool", |slice, _| text(slice, "/spec/pool/name").into()),
    ],
    strategy: Strategy {
        default_times: |slice, now| visit(slice, "spec/devices/*/taints/*", &mut |taint| date_taint(taint, now)),
        prepare: |_, slice, _| visit(slice, "spec", &mut |spec| drop_disabled(spec, SLICE_DISABLED)),
        validate: |_, slice, old, errors| {
            let at = |slice| At::object(slice, API_VERSION, "ResourceSlice");
            let (slice, old) = (at(slice), old.map(at));
            slices::spec(slice.field("spec"), old.as_ref().map(|old| old.field("spec")), errors);
        },
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

/// `validateDeviceTaintRuleSpec`.
fn validate_taint_rule(_: &Context<'_>, rule: &Value, old: Option<&Value>, errors: &mut Errors) {
    let rule = At::object(rule, API_VERSION, "DeviceTaintRule");
    let selector = rule.field("spec.deviceSelector");
    for (field, check) in [("driver", names::driver as fn(At<'_, '_>, &mut Errors)), ("pool", names::pool)] {
        if selector.field(field).is_set() {
            check(selector.field(field), errors);
        }
    }
    if selector.field("device").is_set() {
        selector.field("device").follows(name::dns_label, errors);
    }
    requests::taint(rule.field("spec.taint"), old.map(|old| text(old, "/spec/taint/effect")), errors);
}

/// `ValidateDeviceTaintRuleStatusUpdate`.
fn validate_taint_rule_status(_: &Context<'_>, rule: &Value, _: Option<&Value>, errors: &mut Errors) {
    const MAX_CONDITIONS: usize = 8;
    let rule = At::object(rule, API_VERSION, "DeviceTaintRule");
    let list = rule.field("status.conditions");
    conditions(list, errors);
    if list.len() > MAX_CONDITIONS {
        errors.push(FieldError::too_many(list.path(), list.len(), MAX_CONDITIONS));
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
