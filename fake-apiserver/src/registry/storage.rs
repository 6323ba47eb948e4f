//! Storage classes, CSI drivers and the other resources of `storage.k8s.io`.
//!
//! Follows `pkg/registry/storage/*/strategy.go`, `pkg/api/storage/util.go`, `pkg/apis/storage/v1/defaults.go` and
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

use super::context::Context;
use super::defaults::Fill::{Bool, OptionalText};
use super::defaults::{Default, fill, visit};
use super::rules::{Cell, Rules, Strategy};
use super::types::{default_volume_source, deprecation};
use super::{at, child, flag, items, number, text};
use tree::{Value, json};

pub(super) const CSI_DRIVER: Rules = Rules {
    owns_generation: true,
    keeps_generation: true,
    delete_returns_object: true,
    cells: DRIVER_CELLS,
    strategy: Strategy { default: default_driver, warnings: driver_warnings, ..Strategy::NONE },
    ..Rules::ORDINARY
};

pub(super) const CSI_NODE: Rules = Rules {
    delete_returns_object: true,
    status_keeps_metadata: true,
    cells: &[("Drivers", |node, _| items(node, "/spec/drivers").len().into())],
    ..Rules::ORDINARY
};

pub(super) const CSI_STORAGE_CAPACITY: Rules =
    Rules { strategy: Strategy { warnings: capacity_warnings, ..Strategy::NONE }, ..Rules::ORDINARY };

/// Nodes are selected by labels that are not deprecated (`GetWarningsForNodeSelector`).
fn capacity_warnings(_: &Context<'_>, capacity: &Value, _: Option<&Value>) -> Vec<String> {
    let expressions = items(capacity, "/nodeTopology/matchExpressions").iter().enumerate();
    let expressions = expressions.filter_map(|(index, expression)| {
        let key = text(expression, "/key");
        Some(format!("nodeTopology.matchExpressions[{index}].key: {key} is {}", deprecation(key)?))
    });
    let labels = capacity["nodeTopology"]["matchLabels"].as_object().into_iter().flatten();
    let labels = labels.filter_map(|(key, _)| Some(format!("nodeTopology.matchLabels.{key}: {}", deprecation(key)?)));
    expressions.chain(labels).collect()
}

/// `GetWarningsForStorageClass`.
fn class_warnings(_: &Context<'_>, class: &Value, _: Option<&Value>) -> Vec<String> {
    let terms = items(class, "/allowedTopologies").iter().enumerate();
    let keys = terms.flat_map(|(term, topology)| {
        let expressions = items(topology, "/matchLabelExpressions").iter().enumerate();
        expressions.map(move |(index, expression)| (term, index, text(expression, "/key")))
    });
    let warning = |(term, index, key)| {
        Some(format!("allowedTopologies[{term}].matchLabelExpressions[{index}].key: {}", deprecation(key)?))
    };
    keys.filter_map(warning).collect()
}

pub(super) const STORAGE_CLASS: Rules = Rules {
    delete_returns_object: true,
    cells: &[
        ("Provisioner", |class, _| text(class, "/provisioner").into()),
        ("ReclaimPolicy", |class, _| text(class, "/reclaimPolicy").into()),
        ("VolumeBindingMode", |class, _| text(class, "/volumeBindingMode").into()),
        ("AllowVolumeExpansion", |class, _| flag(class, "/allowVolumeExpansion").into()),
    ],
    strategy: Strategy {
        default: |class| {
            let defaults =
                &[("reclaimPolicy", OptionalText("Delete")), ("volumeBindingMode", OptionalText("Immediate"))];
            fill(class, &[("", defaults)]);
        },
        warnings: class_warnings,
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

pub(super) const VOLUME_ATTACHMENT: Rules = Rules {
    delete_returns_object: true,
    status_keeps_metadata: true,
    cells: &[
        ("Attacher", |attachment, _| text(attachment, "/spec/attacher").into()),
        ("PV", |attachment, _| text(attachment, "/spec/source/persistentVolumeName").into()),
        ("Node", |attachment, _| text(attachment, "/spec/nodeName").into()),
        ("Attached", |attachment, _| flag(attachment, "/status/attached").into()),
    ],
    strategy: Strategy {
        default: |attachment| visit(attachment, "spec/source/inlineVolumeSpec", &mut default_volume_source),
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

pub(super) const VOLUME_ATTRIBUTES_CLASS: Rules = Rules {
    delete_returns_object: true,
    cells: &[("DriverName", |class, _| text(class, "/driverName").into())],
    ..Rules::ORDINARY
};

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
