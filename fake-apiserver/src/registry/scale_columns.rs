//! The columns of scales in tables: those of custom resources are other ones than those of workloads.
//!
//! Follows `getScaleColumnsForVersion` of `k8s.io/apiextensions-apiserver/pkg/apiserver/helpers.go` (v0.37.1) and `printScale` of
//! `k8s.io/kubernetes/pkg/printers/internalversion/printers.go` (v1.37.1).

use super::added::name_and_age;
use super::parts::{CellSource, PrinterColumn};
use super::rules::Cell;
use std::sync::LazyLock;

const DESIRED: Cell = |scale, _| scale["spec"]["replicas"].as_i64().unwrap_or_default().into();
const AVAILABLE: Cell = |scale, _| scale["status"]["replicas"].as_i64().unwrap_or_default().into();

static OF_CUSTOM_RESOURCES: LazyLock<[PrinterColumn; 4]> = LazyLock::new(|| {
    let [name, age] = name_and_age();
    let desired = replicas("Desired", "Number of desired replicas", DESIRED);
    let available = replicas("Available", "Number of actual replicas", AVAILABLE);
    [name, desired, available, age]
});

static OF_WORKLOADS: LazyLock<[PrinterColumn; 4]> = LazyLock::new(|| {
    let [name, age] = name_and_age();
    let desired = "replicas is the desired number of instances for the scaled object.";
    let available = "replicas is the actual number of observed instances of the scaled object.";
    [
        PrinterColumn { format: "".into(), ..name },
        replicas("Desired", desired, DESIRED),
        replicas("Available", available, AVAILABLE),
        PrinterColumn { type_: "string".into(), ..age },
    ]
});

/// The columns of the scales of custom resources, or of workloads.
pub(crate) fn scale_columns(of_custom: bool) -> &'static [PrinterColumn] {
    if of_custom { &*OF_CUSTOM_RESOURCES } else { &*OF_WORKLOADS }
}

fn replicas(name: &'static str, description: &'static str, cell: Cell) -> PrinterColumn {
    PrinterColumn {
        name: name.into(),
        type_: "integer".into(),
        format: "".into(),
        description: description.into(),
        priority: 0,
        cell: CellSource::Rule(cell),
    }
}
