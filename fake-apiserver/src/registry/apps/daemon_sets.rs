//! Daemon sets.
//!
//! Follows `pkg/registry/apps/daemonset/strategy.go`, `SetDefaults_DaemonSet` of `pkg/apis/apps/v1/defaults.go`,
//! `Convert_apps_DaemonSet_To_v1_DaemonSet` of `pkg/apis/apps/v1/conversion.go` and `printDaemonSet` of
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

use super::{CONTAINERS, IMAGES, SELECTOR, SPEC, always_running, collisions_grow, immutable_selector, number_or_zero};
use crate::error::Errors;
use crate::object::meta;
use crate::object::selector::{LabelSelector, validate_structured_update};
use crate::registry::columns::text_map;
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::rules::{Rules, Strategy};
use crate::registry::types::{
    at_most_all, default_pod_template_spec, drop_disabled_template_fields, int_or_percent, pod_template_spec,
    pod_warnings, positive_or_percent,
};
use crate::registry::{child, default_to, text};
use tree::Value;

pub(in crate::registry) const RULES: Rules = Rules {
    owns_generation: true,
    subresources: &[(
        "status",
        Strategy { default, prepare: keep_template_generation, validate: status, ..Strategy::NONE },
    )],
    cells: &[
        ("Desired", |set, _| number_or_zero(set, "/status/desiredNumberScheduled").into()),
        ("Current", |set, _| number_or_zero(set, "/status/currentNumberScheduled").into()),
        ("Ready", |set, _| number_or_zero(set, "/status/numberReady").into()),
        ("Up-to-date", |set, _| number_or_zero(set, "/status/updatedNumberScheduled").into()),
        ("Available", |set, _| number_or_zero(set, "/status/numberAvailable").into()),
        ("Node Selector", |set, _| text_map(&set["spec"]["template"]["spec"]["nodeSelector"]).into()),
        CONTAINERS,
        IMAGES,
        SELECTOR,
    ],
    strategy: STRATEGY,
    ..Rules::ORDINARY
};

/// The annotation that stands for `templateGeneration`, a field that `apps/v1` does not have (`DeprecatedTemplateGeneration`).
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

fn at(set: &Value) -> At<'static, '_> {
    At::object(set, "apps/v1", "DaemonSet")
}

const STRATEGY: Strategy = Strategy {
    default,
    validate: |_, new, old, errors| {
        immutable_selector(at(new), old.map(at), errors);
        spec(at(new).field("spec"), old, errors);
    },
    prepare: |_, new, old| {
        drop_disabled_template_fields(new, "spec/template/spec");
        let generation = match old {
            None => template_generation(new).max(1),
            Some(old) => {
                let same = at(new).field("spec.template").equals(&at(old).field("spec.template"));
                template_generation(old).wrapping_add(i64::from(!same))
            }
        };
        set_template_generation(new, generation);
    },
    warnings: |_, new, old| match old {
        Some(old) if template_generation(old) == template_generation(new) => Vec::new(),
        _ => pod_warnings(SPEC.child("template"), &new["spec"]["template"]),
    },
    ..Strategy::NONE
};

/// `ValidateDaemonSetSpec`.
fn spec(spec: At<'_, '_>, old: Option<&Value>, errors: &mut Errors) {
    let (selector, template) = (spec.field("selector"), spec.field("template"));
    if selector.is_set() {
        let old = old.map(|old| &old["spec"]["selector"]);
        validate_structured_update(selector.path(), selector.value(), old, errors);
    }
    let labels = template.field("metadata.labels");
    let matches = match selector.is_set().then(|| LabelSelector::structured(selector.value())) {
        None => false,
        Some(None) => true,
        Some(Some(selector)) => selector.matches(labels.texts()),
    };
    if !matches {
        labels.invalid("`selector` does not match template `labels`", errors);
    }
    let is_empty = selector.field("matchLabels").is_empty() && selector.field("matchExpressions").is_empty();
    if selector.is_set() && is_empty {
        selector.invalid("empty selector is invalid for daemonset", errors);
    }
    pod_template_spec(template, errors);
    always_running(template, "DaemonSet", errors);
    spec.field("minReadySeconds").not_negative(errors);
    let strategy = spec.field("updateStrategy");
    match strategy.field("type").text() {
        "OnDelete" => {}
        "RollingUpdate" => rolling_update(strategy.field("rollingUpdate"), errors),
        _ => strategy.unsupported(&["RollingUpdate", "OnDelete"], errors),
    }
    spec.field("revisionHistoryLimit").not_negative(errors);
}

/// `ValidateRollingUpdateDaemonSet`.
fn rolling_update(update: At<'_, '_>, errors: &mut Errors) {
    let (unavailable, surge) = (update.field("maxUnavailable"), update.field("maxSurge"));
    [unavailable, surge].into_iter().for_each(|at| positive_or_percent(at, errors));
    [unavailable, surge].into_iter().for_each(|at| at_most_all(at, errors));
    match (int_or_percent(unavailable.value()), int_or_percent(surge.value())) {
        (0, 0) => unavailable.required("cannot be 0 when maxSurge is 0", errors),
        (0, _) | (_, 0) => {}
        _ => surge.invalid("may not be set when maxUnavailable is non-zero", errors),
    }
}

/// `ValidateDaemonSetStatusUpdate`.
fn status(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    const COUNTS: [&str; 9] = [
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "observedGeneration",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
        "collisionCount",
    ];
    let set = at(new);
    let status = set.field("status");
    COUNTS.iter().for_each(|field| status.field(field).not_negative(errors));
    collisions_grow(set, old.map(at), errors);
}

/// `SetDefaults_DaemonSet`, and the annotation that the conversion to `apps/v1` always writes.
fn default(set: &mut Value) {
    let spec = child(set, "spec");
    default_pod_template_spec(child(spec, "template"));
    let strategy = child(spec, "updateStrategy");
    default_to(strategy, "type", "RollingUpdate");
    if text(strategy, "/type") == "RollingUpdate" {
        let update = child(strategy, "rollingUpdate");
        default_to(update, "maxUnavailable", 1);
        default_to(update, "maxSurge", 0);
    }
    default_to(spec, "revisionHistoryLimit", 10);
    let generation = template_generation(set);
    set_template_generation(set, generation);
}

/// A write of the status leaves the spec, to which the annotation belongs.
fn keep_template_generation(_: &Context<'_>, new: &mut Value, old: Option<&Value>) {
    if let Some(old) = old {
        set_template_generation(new, template_generation(old));
    }
}

/// The number of changes of the template.
fn template_generation(set: &Value) -> i64 {
    meta::annotations(set).get(TEMPLATE_GENERATION).and_then(|text| text.parse().ok()).unwrap_or_default()
}

fn set_template_generation(set: &mut Value, generation: i64) {
    let annotations = child(child(set, "metadata"), "annotations");
    annotations[TEMPLATE_GENERATION] = generation.to_string().into();
}
