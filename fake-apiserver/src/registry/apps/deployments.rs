//! Deployments.
//!
//! Follows `pkg/registry/apps/deployment/strategy.go`, `ValidateDeployment` of `pkg/apis/apps/validation/validation.go` and
//! `SetDefaults_Deployment` of `pkg/apis/apps/v1/defaults.go` (v1.37.1). Not ported: `rollbackTo`, which `apps/v1` lacks.

use super::{
    CONTAINERS, IMAGES, SPEC, WORKLOAD, default_replicas, immutable_selector, number_or_zero, selector_and_template,
    selector_text, status_counts,
};
use crate::error::{Errors, FieldError, Path};
use crate::object::meta;
use crate::registry::rules::{Cell, Rules, Strategy};
use crate::registry::types::default_pod_template_spec;
use crate::registry::{carry_over, child, default_to, number, text};
use tree::Value;

const STRATEGY: Strategy = Strategy {
    default,
    validate: |deployment| Errors::of(|errors| spec(&deployment["spec"], errors)),
    validate_update: |new, old| {
        Errors::of(|errors| {
            spec(&new["spec"], errors);
            immutable_selector(new, old, errors);
        })
    },
    ..WORKLOAD
};

pub(in crate::registry) const RULES: Rules = Rules {
    subresources: &[
        ("scale", STRATEGY),
        (
            "status",
            Strategy {
                default,
                prepare_update: |new, old| {
                    carry_over(new, old, "spec");
                    meta::carry_over(new, old, "labels");
                },
                validate_update: status,
                ..Strategy::NONE
            },
        ),
    ],
    owns_generation: true,
    annotations_count: true,
    cells: CELLS,
    strategy: STRATEGY,
    ..Rules::ORDINARY
};

/// `SetDefaults_Deployment`.
fn default(deployment: &mut Value) {
    default_replicas(deployment);
    let spec = child(deployment, "spec");
    default_pod_template_spec(child(spec, "template"));
    let strategy = child(spec, "strategy");
    default_to(strategy, "type", "RollingUpdate");
    if text(strategy, "/type") == "RollingUpdate" {
        let update = child(strategy, "rollingUpdate");
        default_to(update, "maxUnavailable", "25%");
        default_to(update, "maxSurge", "25%");
    }
    default_to(spec, "revisionHistoryLimit", 10);
    default_to(spec, "progressDeadlineSeconds", 600);
}

/// `ValidateDeploymentSpec`.
fn spec(spec: &Value, errors: &mut Errors) {
    errors.not_negative(SPEC.child("replicas"), number(spec, "/replicas"));
    selector_and_template(spec, errors);
    strategy(SPEC.child("strategy"), &spec["strategy"], errors);
    for field in ["minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"] {
        errors.not_negative(SPEC.child(field), spec[field].as_i64());
    }
    let deadline = number(spec, "/progressDeadlineSeconds");
    if let Some(deadline) = deadline.filter(|deadline| *deadline <= number_or_zero(spec, "/minReadySeconds")) {
        errors.invalid(SPEC.child("progressDeadlineSeconds"), deadline, "must be greater than minReadySeconds");
    }
}

/// `ValidateDeploymentStrategy`.
fn strategy(at: Path<'_>, strategy: &Value, errors: &mut Errors) {
    match text(strategy, "/type") {
        "Recreate" => {
            if strategy.get("rollingUpdate").is_some() {
                let detail = "may not be specified when strategy `type` is 'Recreate'";
                errors.forbidden(at.child("rollingUpdate"), detail);
            }
        }
        "RollingUpdate" => rolling_update(at.child("rollingUpdate"), &strategy["rollingUpdate"], errors),
        other => {
            let value = Value::from(other);
            let finding = FieldError::unsupported(at, &value, &["Recreate", "RollingUpdate"]);
            errors.push(finding.printed_as(printed(strategy)));
        }
    }
}

/// A strategy as messages show it: the internal type, which prints its Go names.
fn printed(strategy: &Value) -> String {
    let update = match strategy.get("rollingUpdate") {
        None => "null".into(),
        Some(update) => {
            let amount = |field: &str| update.get(field).map_or_else(|| "0".into(), Value::to_string);
            format!("{{\"MaxUnavailable\":{},\"MaxSurge\":{}}}", amount("maxUnavailable"), amount("maxSurge"))
        }
    };
    format!("{{\"Type\":{},\"RollingUpdate\":{update}}}", strategy["type"])
}

/// `ValidateRollingUpdateDeployment`.
fn rolling_update(at: Path<'_>, update: &Value, errors: &mut Errors) {
    let (unavailable, surge) = (&update["maxUnavailable"], &update["maxSurge"]);
    positive_or_percent(at.child("maxUnavailable"), unavailable, errors);
    positive_or_percent(at.child("maxSurge"), surge, errors);
    if amount(unavailable) == 0 && amount(surge) == 0 {
        let detail = "may not be 0 when `maxSurge` is 0";
        errors.invalid(at.child("maxUnavailable"), unavailable.clone(), detail);
    }
    if percent(unavailable).is_some_and(|percent| percent > 100) {
        errors.invalid(at.child("maxUnavailable"), unavailable.clone(), "must not be greater than 100%");
    }
}

/// The number before a percent sign (`getPercentValue`).
fn percent(value: &Value) -> Option<i64> {
    let digits = value.as_str()?.strip_suffix('%').filter(|digits| !digits.is_empty())?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().unwrap_or(i64::MAX))
}

/// A number, or that of a percentage (`getIntOrPercentValue`).
fn amount(value: &Value) -> i64 {
    let number = value.as_i64().or_else(|| value.as_str().and_then(|text| text.parse().ok()));
    percent(value).or(number).unwrap_or_default()
}

/// `ValidatePositiveIntOrPercent`.
fn positive_or_percent(at: Path<'_>, value: &Value, errors: &mut Errors) {
    const DETAIL: &str = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', \
        regex used for validation is '[0-9]+%')";
    match value {
        Value::String(_) if percent(value).is_none() => errors.invalid(at, value.clone(), DETAIL),
        value => errors.not_negative(at, value.as_i64()),
    }
}

/// `ValidateDeploymentStatusUpdate`.
fn status(new: &Value, old: &Value) -> Vec<FieldError> {
    const COUNTS: [&str; 8] = [
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ];
    Errors::of(|errors| {
        status_counts(&new["status"], &COUNTS, &["updatedReplicas", "readyReplicas", "availableReplicas"], errors);
        let collisions = |deployment: &Value| number(deployment, "/status/collisionCount");
        if collisions(old).is_some_and(|before| collisions(new).is_none_or(|now| now < before)) {
            let now = collisions(new).unwrap_or_default();
            errors.invalid(Path::new("status.collisionCount"), now, "cannot be decremented");
        }
    })
}

const CELLS: &[(&str, Cell)] = &[
    ("Ready", |deployment, _| {
        let (ready, wanted) = ("/status/readyReplicas", "/spec/replicas");
        format!("{}/{}", number_or_zero(deployment, ready), number_or_zero(deployment, wanted)).into()
    }),
    ("Up-to-date", |deployment, _| number_or_zero(deployment, "/status/updatedReplicas").into()),
    ("Available", |deployment, _| number_or_zero(deployment, "/status/availableReplicas").into()),
    CONTAINERS,
    IMAGES,
    ("Selector", |deployment, _| selector_text(deployment).unwrap_or_else(|| "<invalid>".into()).into()),
];
