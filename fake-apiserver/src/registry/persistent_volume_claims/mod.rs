//! Persistent volume claims.
//!
//! Follows `pkg/registry/core/persistentvolumeclaim/strategy.go`, `pkg/api/persistentvolumeclaim/util.go`,
//! `SetDefaults_PersistentVolumeClaim` of `pkg/apis/core/v1/defaults.go` and `printPersistentVolumeClaim` of
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

mod class;
mod validate;

pub(crate) use class::{CLASS_ANNOTATION, storage_class};

use super::defaults::{Disabled, drop_disabled};
use super::rules::{Cell, Rules, Strategy};
use super::text;
use super::types::{default_persistent_volume_claim, persistent_volume_claim_spec_warnings};
use crate::error::Path;
use crate::object::meta;
use tree::{Map, Value};

/// Path of the spec.
const SPEC: Path<'static> = Path::new("spec");

pub(super) const RULES: Rules = Rules {
    delete_returns_object: true,
    // A new claim has the defaults of its status only when it is read.
    lacks_defaults: |_, old| old.is_none(),
    subresources: &[(
        "status",
        Strategy {
            default: default_persistent_volume_claim,
            prepare: |_, new, _| drop_disabled(new, DISABLED),
            validate: validate::status,
            ..Strategy::NONE
        },
    )],
    cells: CELLS,
    strategy: Strategy {
        default: default_persistent_volume_claim,
        prepare: |_, new, old| prepare_data_source(new, old),
        validate: validate::validate,
        warnings: |_, claim, _| {
            let annotation = meta::annotations(claim).get(CLASS_ANNOTATION).map(|_| {
                let at = Path::new("metadata.annotations");
                format!(
                    "{}: deprecated since v1.8; use \"storageClassName\" attribute instead",
                    at.key(CLASS_ANNOTATION)
                )
            });
            annotation.into_iter().chain(persistent_volume_claim_spec_warnings(SPEC, &claim["spec"])).collect()
        },
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

/// The health of the volume, which needs a feature that is off (`DropDisabledFieldsFromStatus`).
const DISABLED: &[Disabled] = &[("status", &["healthStatus"])];

/// The sources of data that a new claim may have: those of other namespaces and of kinds that are not known need a feature that is
/// off (`DropDisabledFields`, `EnforceDataSourceBackwardsCompatibility`). Then each field for them fills the other
/// (`NormalizeDataSources`).
fn prepare_data_source(claim: &mut Value, old: Option<&Value>) {
    let had = |field: &str| old.is_some_and(|old| old["spec"].get(field).is_some());
    let Some(spec) = claim.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let namespace = |spec: &Map| spec.get("dataSourceRef").map(|source| !text(source, "/namespace").is_empty());
    if namespace(spec) == Some(true) && !had("dataSourceRef") {
        spec.remove("dataSourceRef");
    }
    let is_known = |source: &Value| {
        let source = (text(source, "/apiGroup"), text(source, "/kind"));
        matches!(source, ("", "PersistentVolumeClaim") | ("snapshot.storage.k8s.io", "VolumeSnapshot"))
    };
    let had_source = had("dataSource") || had("dataSourceRef");
    if !had_source && !spec.contains_key("dataSourceRef") && !spec.get("dataSource").is_some_and(is_known) {
        spec.remove("dataSource");
    }
    let copy = |spec: &mut Map, from: &str, to: &str| {
        let fields = ["apiGroup", "kind", "name"];
        let fields = fields.map(|field| (field, spec.get(from).and_then(|source| source.get(field)).cloned()));
        let fields = fields.into_iter().filter_map(|(field, value)| Some((field, value?)));
        let copied: Value = fields.collect();
        spec.insert(to.into(), copied);
    };
    match (spec.contains_key("dataSource"), namespace(spec)) {
        (true, None) => copy(spec, "dataSource", "dataSourceRef"),
        (false, Some(false)) => copy(spec, "dataSourceRef", "dataSource"),
        _ => {}
    }
}

/// Access modes in short, each once and in a fixed order (`GetAccessModesAsString`).
pub(super) fn access_modes(modes: &Value) -> String {
    const MODES: [(&str, &str); 4] =
        [("ReadWriteOnce", "RWO"), ("ReadOnlyMany", "ROX"), ("ReadWriteMany", "RWX"), ("ReadWriteOncePod", "RWOP")];
    let modes = modes.as_array().map(Vec::as_slice).unwrap_or_default();
    let has = |mode: &str| modes.iter().any(|own| own == mode);
    let short = MODES.iter().filter(|(mode, _)| has(mode)).map(|(_, short)| *short);
    short.collect::<Vec<_>>().join(",")
}

/// The phase of a claim or a volume, as tables show it.
pub(super) fn phase(object: &Value) -> &str {
    if meta::deletion_timestamp(object).is_some() { "Terminating" } else { text(object, "/status/phase") }
}

/// The text of a field of the spec that may be unset.
pub(super) fn or_unset<'o>(object: &'o Value, field: &str) -> &'o str {
    object["spec"].get(field).and_then(Value::as_str).unwrap_or("<unset>")
}

const CELLS: &[(&str, Cell)] = &[
    ("Status", |claim, _| phase(claim).into()),
    ("Volume", |claim, _| text(claim, "/spec/volumeName").into()),
    ("Capacity", |claim, _| match text(claim, "/spec/volumeName") {
        "" => "".into(),
        _ => claim["status"]["capacity"]["storage"].as_str().unwrap_or("0").into(),
    }),
    ("Access Modes", |claim, _| match text(claim, "/spec/volumeName") {
        "" => "".into(),
        _ => access_modes(&claim["status"]["accessModes"]).into(),
    }),
    ("StorageClass", |claim, _| storage_class(claim).into()),
    ("VolumeAttributesClass", |claim, _| or_unset(claim, "volumeAttributesClassName").into()),
    ("VolumeMode", |claim, _| or_unset(claim, "volumeMode").into()),
];
