//! Storage classes.
//!
//! Follows `pkg/registry/storage/storageclass/strategy.go`, `ValidateStorageClass` and `ValidateStorageClassUpdate` of
//! `pkg/apis/storage/validation/validation.go`, `ValidateTopologySelectorTerm` of `pkg/apis/core/validation/validation.go`,
//! `SetDefaults_StorageClass` of `pkg/apis/storage/v1/defaults.go` and `GetWarningsForStorageClass` of `pkg/api/storage/util.go`
//! (v1.37.1).

use crate::error::{Errors, FieldError};
use crate::object::name;
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::defaults::Fill::OptionalText;
use crate::registry::defaults::fill;
use crate::registry::rules::{Rules, Strategy};
use crate::registry::types::deprecation;
use crate::registry::{flag, items, text};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use tree::Value;

/// `maxProvisionerParameterLen`: the number of parameters.
const MAX_PARAMETERS: usize = 512;
/// `maxProvisionerParameterSize`: bytes of all keys and values.
const MAX_PARAMETER_BYTES: usize = 256 * 1024;
/// Fields that stay. Declarative validation looks at them, too.
const IMMUTABLE: [&str; 4] = ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"];

pub(in crate::registry) const RULES: Rules = Rules {
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
        validate,
        warnings,
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

fn at(class: &Value) -> At<'static, '_> {
    At::object(class, "storage.k8s.io/v1", "StorageClass")
}

fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let class = at(new);
    driver(class.field("provisioner"), errors);
    parameters(class.field("parameters"), errors);
    let policy = class.field("reclaimPolicy");
    if !policy.is_empty() {
        policy.supported(&["Delete", "Retain"], errors);
    }
    class.field("volumeBindingMode").supported(&["Immediate", "WaitForFirstConsumer"], errors);
    topologies(class.field("allowedTopologies"), errors);
    if let Some(old) = old.map(at) {
        errors.covered("immutable", |errors| {
            for field in IMMUTABLE {
                class.field(field).immutable(&old.field(field), errors);
            }
        });
    }
}

/// Rules for the driver of a class, which is shown in lower case (`validateProvisioner`).
pub(super) fn driver(driver: At<'_, '_>, errors: &mut Errors) {
    let text = driver.text().to_lowercase();
    match text.as_str() {
        "" => errors.covered("", |errors| driver.required("", errors)),
        text => errors.invalid_each(driver.path(), text, name::label_key(text)),
    }
}

/// `validateParameters`.
pub(super) fn parameters(parameters: At<'_, '_>, errors: &mut Errors) {
    if parameters.len() > MAX_PARAMETERS {
        return errors.push(FieldError::too_long(parameters.path(), MAX_PARAMETERS));
    }
    if parameters.texts().any(|(key, _)| key.is_empty()) {
        parameters.invalid_value("", "field can not be empty.", errors);
    }
    let bytes: usize = parameters.texts().map(|(key, value)| key.len() + value.len()).sum();
    if bytes > MAX_PARAMETER_BYTES {
        errors.push(FieldError::too_long(parameters.path(), MAX_PARAMETER_BYTES));
    }
}

/// `validateAllowedTopologies`: no term occurs twice.
fn topologies(topologies: At<'_, '_>, errors: &mut Errors) {
    // Upstream begins with an empty term for each of the terms, so that one without expressions is always found again.
    let mut earlier = HashSet::from([BTreeMap::new()]);
    for term in topologies.items() {
        let expressions = term.field("matchLabelExpressions");
        let mut values = BTreeMap::new();
        for expression in expressions.items() {
            let own = distinct_values(expression, errors);
            let key = expression.field("key");
            key.follows(name::label_key, errors);
            if values.insert(key.text(), own).is_some() {
                key.duplicate(errors);
            }
        }
        if !earlier.insert(values) {
            errors.duplicate(expressions.path(), "");
        }
    }
}

/// `validateTopologySelectorLabelRequirement`.
fn distinct_values<'v>(expression: At<'_, 'v>, errors: &mut Errors) -> BTreeSet<&'v str> {
    let values = expression.field("values");
    values.set(errors);
    let mut distinct = BTreeSet::new();
    for value in values.items() {
        if !distinct.insert(value.text()) {
            value.duplicate(errors);
        }
    }
    distinct
}

/// `GetWarningsForStorageClass`.
fn warnings(_: &Context<'_>, class: &Value, _: Option<&Value>) -> Vec<String> {
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
