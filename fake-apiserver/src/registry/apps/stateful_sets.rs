//! Stateful sets.
//!
//! Follows `pkg/registry/apps/statefulset/strategy.go`, `SetDefaults_StatefulSet` of `pkg/apis/apps/v1/defaults.go`,
//! `Convert_apps_StatefulSetSpec_To_v1_StatefulSetSpec` of `pkg/apis/apps/v1/conversion.go` and `printStatefulSet` of
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

use super::{CONTAINERS, IMAGES, SPEC, WORKLOAD, always_running, collisions_grow, default_replicas, number_or_zero};
use crate::error::Errors;
use crate::object::meta;
use crate::object::name;
use crate::object::selector::{LabelSelector, validate_structured};
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::rules::{NameRule, Rules, Strategy};
use crate::registry::types::{
    at_most_all, default_persistent_volume_claim, default_pod_template_spec, int_or_percent,
    persistent_volume_claim_spec, persistent_volume_claim_spec_warnings, pod_template_spec, pod_warnings,
    positive_or_percent, visit,
};
use crate::registry::{child, default_to, items, number, text};
use std::collections::HashSet;
use tree::{Value, json};

fn at(set: &Value) -> At<'static, '_> {
    At::object(set, "apps/v1", "StatefulSet")
}

const STRATEGY: Strategy = Strategy { default, validate, warnings, ..WORKLOAD };

/// Warnings about the template whenever that may have changed, and always about the history.
fn warnings(_: &Context<'_>, set: &Value, old: Option<&Value>) -> Vec<String> {
    let mut warnings = match old {
        Some(old) if meta::generation(old) == meta::generation(set) => Vec::new(),
        _ => pod_warnings(SPEC.child("template"), &set["spec"]["template"]),
    };
    let claims = SPEC.child("volumeClaimTemplates");
    for (index, claim) in items(set, "/spec/volumeClaimTemplates").iter().enumerate() {
        let at = claims.index(index);
        // Upstream writes the field with a capital letter when it is changed.
        let at = if old.is_some() { at.child("Spec") } else { at };
        warnings.extend(persistent_volume_claim_spec_warnings(at, &claim["spec"]));
    }
    if number(set, "/spec/revisionHistoryLimit").is_some_and(|limit| limit < 0) {
        warnings.push(
            "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
                .into(),
        );
    }
    warnings
}

pub(in crate::registry) const RULES: Rules = Rules {
    name_rule: NameRule::Label,
    owns_generation: true,
    subresources: &[("scale", STRATEGY), ("status", Strategy { default, validate: status, ..Strategy::NONE })],
    cells: &[
        ("Ready", |set, _| {
            let (ready, wanted) = ("/status/readyReplicas", "/spec/replicas");
            format!("{}/{}", number_or_zero(set, ready), number_or_zero(set, wanted)).into()
        }),
        CONTAINERS,
        IMAGES,
    ],
    strategy: STRATEGY,
    ..Rules::ORDINARY
};

/// `ValidateStatefulSet` and `ValidateStatefulSetUpdate`.
fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let is_lenient = old.is_some_and(|old| !Errors::of(|errors| spec(old, true, false, errors)).is_empty());
    spec(new, old.is_some(), is_lenient, errors);
    let Some(old) = old else { return };
    let (new, old) = (at(new), at(old));
    for field in ["spec.selector", "spec.volumeClaimTemplates", "spec.serviceName", "spec.podManagementPolicy"] {
        new.field(field).immutable(&old.field(field), errors);
    }
}

/// `ValidateStatefulSetSpec`. An update leaves the name of the service and the claims alone and, if the old set is wrong, the template.
fn spec(set: &Value, is_update: bool, is_lenient: bool, errors: &mut Errors) {
    let set_at = at(set);
    let spec = set_at.field("spec");
    let policy = spec.field("podManagementPolicy");
    match policy.text() {
        "" => policy.required("", errors),
        "OrderedReady" | "Parallel" => {}
        _ => policy.invalid("must be 'OrderedReady' or 'Parallel'", errors),
    }
    update_strategy(spec.field("updateStrategy"), errors);
    for field in ["whenDeleted", "whenScaled"] {
        spec.field("persistentVolumeClaimRetentionPolicy").field(field).supported(&["Retain", "Delete"], errors);
    }
    if !is_update {
        let claims = spec.field("volumeClaimTemplates");
        claims.items().for_each(|claim| persistent_volume_claim_spec(claim.field("spec"), None, errors));
    }
    for field in ["replicas", "minReadySeconds", "ordinals.start"] {
        spec.field(field).not_negative(errors);
    }
    if !is_update {
        spec.field("serviceName").optional(name::dns_label, errors);
    }
    let selector = spec.field("selector");
    if !selector.is_set() {
        selector.required("", errors);
    } else {
        validate_structured(selector.path(), selector.value(), errors);
        if selector.field("matchLabels").is_empty() && selector.field("matchExpressions").is_empty() {
            selector.invalid("empty selector is invalid for statefulset", errors);
        }
    }
    let labels = spec.field("template.metadata.labels");
    match selector.is_set().then(|| LabelSelector::structured(selector.value())) {
        Some(None) => selector.invalid("", errors),
        found => {
            let matches = found.flatten().is_some_and(|selector| selector.matches(labels.texts()));
            if !matches {
                labels.invalid("`selector` does not match template `labels`", errors);
            }
            if !is_lenient {
                let set = with_claims(set);
                pod_template_spec(at(&set).field("spec.template"), errors);
            }
        }
    }
    always_running(spec.field("template"), "StatefulSet", errors);
}

/// The set as its template is judged: with a volume for each claim, and without names of the host, which pods get from the set.
fn with_claims(set: &Value) -> Value {
    let mut set = set.clone();
    let mut claims: Vec<Value> = items(&set, "/spec/volumeClaimTemplates").iter().map(claim_volume).collect();
    let mut names = HashSet::new();
    claims.retain(|claim| names.insert(claim["name"].clone()));
    let pod = child(child(child(&mut set, "spec"), "template"), "spec");
    for field in ["subdomain", "hostname"] {
        pod.as_object_mut().map(|pod| pod.remove(field));
    }
    if !claims.is_empty() {
        let own = items(pod, "/volumes").iter().filter(|own| claims.iter().all(|claim| claim["name"] != own["name"]));
        let volumes = claims.iter().chain(own).cloned().collect();
        pod["volumes"] = Value::Array(volumes);
    }
    set
}

/// The volume of a claim (`volumesToAddForTemplates`).
fn claim_volume(claim: &Value) -> Value {
    let name = meta::name(claim);
    json!({"name": name, "persistentVolumeClaim": {"claimName": name}})
}

fn update_strategy(strategy: At<'_, '_>, errors: &mut Errors) {
    let update = strategy.field("rollingUpdate");
    match strategy.field("type").text() {
        "" => strategy.required("", errors),
        "OnDelete" if update.is_set() => update.invalid("only allowed for updateStrategy 'RollingUpdate'", errors),
        "OnDelete" => {}
        "RollingUpdate" if update.is_set() => {
            update.field("partition").not_negative(errors);
            let unavailable = update.field("maxUnavailable");
            if unavailable.is_set() {
                positive_or_percent(unavailable, errors);
                if int_or_percent(unavailable.value()) == 0 {
                    unavailable.invalid("cannot be 0", errors);
                }
                at_most_all(unavailable, errors);
            }
        }
        "RollingUpdate" => {}
        _ => strategy.invalid("must be 'RollingUpdate' or 'OnDelete'", errors),
    }
}

/// `ValidateStatefulSetStatusUpdate`.
fn status(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let set = at(new);
    let status = set.field("status");
    let count = |field: &str| status.field(field).number().unwrap_or_default();
    let replicas = ["replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
    for field in replicas.iter().chain(&["observedGeneration", "collisionCount"]) {
        status.field(field).not_negative(errors);
    }
    for field in replicas[1..].iter().filter(|field| count(field) > count("replicas")) {
        status.field(field).invalid("cannot be greater than status.replicas", errors);
    }
    if count("availableReplicas") > count("readyReplicas") {
        status.field("availableReplicas").invalid("cannot be greater than status.readyReplicas", errors);
    }
    collisions_grow(set, old.map(at), errors);
}

/// `SetDefaults_StatefulSet`, and the kind of claims that the conversion to `apps/v1` always writes.
fn default(set: &mut Value) {
    default_replicas(set);
    let spec = child(set, "spec");
    default_pod_template_spec(child(spec, "template"));
    default_to(spec, "podManagementPolicy", "OrderedReady");
    let strategy = child(spec, "updateStrategy");
    if text(strategy, "/type").is_empty() {
        default_to(strategy, "type", "RollingUpdate");
        child(strategy, "rollingUpdate");
    }
    if text(strategy, "/type") == "RollingUpdate" {
        visit(strategy, "rollingUpdate", &mut |update| {
            default_to(update, "partition", 0);
            default_to(update, "maxUnavailable", 1);
        });
    }
    let retention = child(spec, "persistentVolumeClaimRetentionPolicy");
    default_to(retention, "whenDeleted", "Retain");
    default_to(retention, "whenScaled", "Retain");
    default_to(spec, "revisionHistoryLimit", 10);
    visit(spec, "volumeClaimTemplates/*", &mut |claim| {
        claim["apiVersion"] = "v1".into();
        claim["kind"] = "PersistentVolumeClaim".into();
        default_persistent_volume_claim(claim);
    });
}
