//! The CSI drivers of nodes.
//!
//! Follows `pkg/registry/storage/csinode/strategy.go`, and `ValidateCSINode` and `ValidateCSINodeUpdate` of
//! `pkg/apis/storage/validation/validation.go` (v1.37.1). The health of storage in the status needs a feature that is off.

use crate::error::Errors;
use crate::object::meta;
use crate::object::name;
use crate::object::validate::IMMUTABLE;
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::defaults::drop_disabled;
use crate::registry::items;
use crate::registry::rules::{Rules, Strategy};
use crate::registry::types::csi_driver_name;
use std::collections::HashSet;
use tree::Value;

/// `csiNodeIDMaxLength`, in bytes.
const MAX_NODE_ID: usize = 256;

pub(in crate::registry) const RULES: Rules = Rules {
    delete_returns_object: true,
    status_keeps_metadata: true,
    cells: &[("Drivers", |node, _| items(node, "/spec/drivers").len().into())],
    subresources: &[("status", Strategy { prepare: prepare_status, ..Strategy::NONE })],
    strategy: Strategy { validate, ..Strategy::NONE },
    ..Rules::ORDINARY
};

fn prepare_status(_: &Context<'_>, new: &mut Value, old: Option<&Value>) {
    old.into_iter().for_each(|old| meta::keep_all_but_managers(new, old));
    drop_disabled(new, &[("status", &["storageHealth"])]);
}

fn at(node: &Value) -> At<'static, '_> {
    At::object(node, "storage.k8s.io/v1", "CSINode")
}

fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let node = at(new);
    let drivers = node.field("spec.drivers");
    let mut names = HashSet::new();
    for driver in drivers.items() {
        self::driver(driver, &mut names, errors);
    }
    let Some(old) = old.map(at) else { return };
    for before in old.field("spec.drivers").items() {
        for driver in drivers.items().filter(|driver| driver.value()["name"] == before.value()["name"]) {
            same_driver(driver, before, drivers, errors);
        }
    }
}

fn driver<'v>(driver: At<'_, 'v>, names: &mut HashSet<&'v str>, errors: &mut Errors) {
    let (name, node) = (driver.field("name"), driver.field("nodeID"));
    csi_driver_name(name, errors);
    node.set(errors);
    if node.text().len() > MAX_NODE_ID {
        node.invalid(format!("must be {MAX_NODE_ID} characters or less"), errors);
    }
    driver.field("allocatable.count").not_negative(errors);
    if !names.insert(name.text()) {
        name.duplicate(errors);
    }
    let mut seen = HashSet::new();
    for key in driver.field("topologyKeys").items() {
        let key = key.shown_at(driver.path());
        key.set(errors);
        if !seen.insert(key.text()) {
            key.duplicate(errors);
        }
        key.follows(name::label_key, errors);
    }
}

/// A driver stays, but for the number of volumes that can be attached.
fn same_driver(driver: At<'_, '_>, before: At<'_, '_>, all: At<'_, '_>, errors: &mut Errors) {
    let without_count = |driver: At<'_, '_>| {
        let mut driver = driver.value().clone();
        driver.as_object_mut().map(|fields| fields.remove("allocatable"));
        driver
    };
    let (same, before) = (without_count(driver), without_count(before));
    let Some(ty) = driver.ty() else { return };
    let same = At::new(&same, ty);
    if !same.equals(&At::new(&before, ty)) {
        same.shown_at(all.path()).invalid(IMMUTABLE, errors);
    }
}
