//! CSI drivers.
//!
//! Follows `pkg/registry/storage/csidriver/strategy.go`, `ValidateCSIDriver` and `ValidateCSIDriverUpdate` of
//! `pkg/apis/storage/validation/validation.go`, `SetDefaults_CSIDriver` of `pkg/apis/storage/v1/defaults.go` and `printCSIDriver` of
//! `pkg/printers/internalversion/printers.go` (v1.37.1). Fields that have defaults are not looked for.

use crate::error::{Errors, Path};
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::defaults::Fill::{Bool, OptionalText};
use crate::registry::defaults::{Default, fill};
use crate::registry::rules::{Cell, Rules, Strategy};
use crate::registry::{at, child, flag, items, number, text};
use std::collections::HashSet;
use tree::{Value, json};

/// Limits of the lifetime of a token, in seconds.
const MIN_LIFETIME: i64 = 10 * 60;
const MAX_LIFETIME: i64 = 1 << 32;
/// The shortest period between updates of what a node can have, in seconds.
const MIN_UPDATE_PERIOD: i64 = 10;

pub(in crate::registry) const RULES: Rules = Rules {
    owns_generation: true,
    keeps_generation: true,
    delete_returns_object: true,
    cells: DRIVER_CELLS,
    strategy: Strategy { default: default_driver, validate, warnings: driver_warnings, ..Strategy::NONE },
    ..Rules::ORDINARY
};

fn cursor(driver: &Value) -> At<'static, '_> {
    At::object(driver, "storage.k8s.io/v1", "CSIDriver")
}

fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let driver = cursor(new);
    let spec = driver.field("spec");
    spec.field("fsGroupPolicy").supported(&["File", "None", "ReadWriteOnceWithFSType"], errors);
    token_requests(spec.field("tokenRequests"), errors);
    let modes = spec.field("volumeLifecycleModes");
    for mode in modes.items() {
        mode.shown_at(modes.path()).supported(&["Persistent", "Ephemeral"], errors);
    }
    let period = spec.field("nodeAllocatableUpdatePeriodSeconds");
    if period.number().is_some_and(|seconds| seconds < MIN_UPDATE_PERIOD) {
        period.invalid(format!("must be greater than or equal to {MIN_UPDATE_PERIOD} seconds"), errors);
    }
    let in_secrets = spec.field("serviceAccountTokenInSecrets");
    if in_secrets.is_set() && spec.field("tokenRequests").is_empty() {
        in_secrets.invalid("serviceAccountTokenInSecrets is set but no tokenRequests are specified", errors);
    }
    let Some(old) = old.map(cursor) else { return };
    let attaches = spec.field("attachRequired").shown_at(Path::new("spec.attachedRequired"));
    attaches.immutable(&old.field("spec.attachRequired"), errors);
    errors.covered("immutable", |errors| modes.immutable(&old.field("spec.volumeLifecycleModes"), errors));
}

/// `validateTokenRequests`: each audience once.
fn token_requests(requests: At<'_, '_>, errors: &mut Errors) {
    let mut audiences = HashSet::new();
    for request in requests.items() {
        let audience = request.field("audience");
        if !audiences.insert(audience.text()) {
            audience.duplicate(errors);
            continue;
        }
        let lifetime = request.field("expirationSeconds");
        match lifetime.number() {
            Some(..MIN_LIFETIME) => lifetime.invalid("may not specify a duration less than 10 minutes", errors),
            Some(seconds) if seconds > MAX_LIFETIME => {
                lifetime.invalid("may not specify a duration larger than 2^32 seconds", errors);
            }
            _ => {}
        }
    }
}

const DRIVERS: &[Default] = &[(
    "",
    &[
        ("attachRequired", Bool(true)),
        ("podInfoOnMount", Bool(false)),
        ("storageCapacity", Bool(false)),
        ("fsGroupPolicy", OptionalText("ReadWriteOnceWithFSType")),
        ("requiresRepublish", Bool(false)),
        ("seLinuxMount", Bool(false)),
        ("preventPodSchedulingIfMissing", Bool(false)),
    ],
)];

/// `SetDefaults_CSIDriver`.
fn default_driver(driver: &mut Value) {
    let spec = child(driver, "spec");
    fill(spec, DRIVERS);
    if items(spec, "/volumeLifecycleModes").is_empty() {
        *child(spec, "volumeLifecycleModes") = json!(["Persistent"]);
    }
}

/// A driver that asks for tokens ought to get them as secrets.
fn driver_warnings(_: &Context<'_>, driver: &Value, old: Option<&Value>) -> Vec<String> {
    const UNSET: &str = "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent \
        possible logging of tokens in volume attributes";
    let requests = |driver: &Value| -> Vec<(String, Option<i64>)> {
        let requests = items(driver, "/spec/tokenRequests").iter();
        requests.map(|request| (text(request, "/audience").into(), number(request, "/expirationSeconds"))).collect()
    };
    let asked = requests(driver);
    let changed = old.is_none_or(|old| requests(old) != asked);
    let unset = at(driver, "/spec/serviceAccountTokenInSecrets").is_none();
    if !asked.is_empty() && changed && unset { vec![UNSET.into()] } else { Vec::new() }
}

const DRIVER_CELLS: &[(&str, Cell)] = &[
    ("AttachRequired", |driver, _| flag(driver, "/spec/attachRequired").into()),
    ("PodInfoOnMount", |driver, _| flag(driver, "/spec/podInfoOnMount").into()),
    ("StorageCapacity", |driver, _| flag(driver, "/spec/storageCapacity").into()),
    ("TokenRequests", |driver, _| match at(driver, "/spec/tokenRequests") {
        None => "<unset>".into(),
        Some(_) => {
            let requests = items(driver, "/spec/tokenRequests").iter();
            let audiences: Vec<&str> = requests.map(|request| text(request, "/audience")).collect();
            audiences.join(",").into()
        }
    }),
    ("RequiresRepublish", |driver, _| flag(driver, "/spec/requiresRepublish").into()),
    ("Modes", |driver, _| {
        let modes: Vec<&str> = items(driver, "/spec/volumeLifecycleModes").iter().filter_map(Value::as_str).collect();
        modes.join(",").into()
    }),
];
