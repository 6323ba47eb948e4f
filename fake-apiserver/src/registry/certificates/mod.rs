//! Certificate signing requests, pod certificate requests and trust bundles.
//!
//! Follows `pkg/registry/certificates/*/strategy.go`, `pkg/apis/certificates/v1/zz_generated.defaults.go` and
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

mod durations;
mod pod_requests;
mod signing_requests;
mod trust_bundles;

pub(crate) use durations::FAMILIES;
pub(super) use pod_requests::{lifetimes, user_annotations};
pub(crate) use signing_requests::{request_der, requested_subject};
pub(super) use trust_bundles::bundle_name;

use super::columns::{human_duration, or, text_map};
use super::context::Context;
use super::defaults::visit;
use super::rules::{Cell, NameRule, Rules, Strategy};
use super::{carry_over, child, default_to, items, number, text};
use crate::clock::format_seconds;
use crate::user::User;
use tree::Value;

pub(super) const CERTIFICATE_SIGNING_REQUEST: Rules = Rules {
    name_rule: NameRule::PathSegment,
    subresources: &[
        ("approval", Strategy { prepare: prepare_approval, validate: signing_requests::validate, ..Strategy::NONE }),
        ("status", Strategy { prepare: prepare_status, validate: signing_requests::validate, ..Strategy::NONE }),
    ],
    resets: &[
        ("", &[&["spec"], &["status"]]),
        ("approval", &[&["spec"], &["status", "certificate"]]),
        ("status", &[&["spec"], &["status", "conditions"]]),
    ],
    counts: Some(durations::count),
    cells: &[
        SIGNER_OR_NONE,
        ("Requestor", |request, _| text(request, "/spec/username").into()),
        ("RequestedDuration", |request, _| match number(request, "/spec/expirationSeconds") {
            None => "<none>".into(),
            Some(seconds) => human_duration(seconds).into(),
        }),
        ("Condition", |request, _| condition(request).into()),
    ],
    strategy: Strategy { prepare: prepare_signing_request, validate: signing_requests::validate, ..Strategy::NONE },
    ..Rules::ORDINARY
};

/// Signs the request with the name of its user. An update changes neither spec nor status.
fn prepare_signing_request(context: &Context<'_>, request: &mut Value, old: Option<&Value>) {
    if let Some(old) = old {
        return carry_over(request, old, "spec");
    }
    let spec = child(request, "spec");
    let info = context.user.map(User::info).unwrap_or_default();
    for field in ["username", "uid", "groups", "extra"] {
        spec[field] = info[field].clone().into();
    }
}

pub(super) const CLUSTER_TRUST_BUNDLE: Rules = Rules {
    name_rule: NameRule::Of(|bundle, own| trust_bundles::bundle_name(text(bundle, "/spec/signerName"), own)),
    cells: &[SIGNER_OR_NONE],
    strategy: Strategy { validate: trust_bundles::validate, ..Strategy::NONE },
    ..Rules::ORDINARY
};

pub(super) const POD_CERTIFICATE_REQUEST: Rules = Rules {
    status_keeps_metadata: true,
    cells: &[
        ("PodName", |request, _| text(request, "/spec/podName").into()),
        ("ServiceAccountName", |request, _| text(request, "/spec/serviceAccountName").into()),
        ("NodeName", |request, _| text(request, "/spec/nodeName").into()),
        ("SignerName", |request, _| text(request, "/spec/signerName").into()),
        ("State", |request, _| state(request).into()),
        ("UnverifiedUserAnnotations", |request, _| text_map(&request["spec"]["unverifiedUserAnnotations"]).into()),
    ],
    strategy: Strategy {
        default: |request| default_to(child(request, "spec"), "maxExpirationSeconds", 86400),
        validate: pod_requests::validate,
        ..Strategy::NONE
    },
    subresources: &[("status", Strategy { validate: pod_requests::signed_status, ..Strategy::STATUS })],
    ..Rules::ORDINARY
};

/// Only the conditions change; they are dated.
fn prepare_approval(context: &Context<'_>, request: &mut Value, old: Option<&Value>) {
    let Some(old) = old else { return };
    date_conditions(context, request, old);
    let conditions = request["status"].get("conditions").cloned();
    carry_over(request, old, "status");
    let status = child(request, "status");
    match (conditions, status.as_object_mut()) {
        (Some(conditions), Some(fields)) => drop(fields.insert("conditions".into(), conditions)),
        (None, Some(fields)) => drop(fields.remove("conditions")),
        _ => {}
    }
}

/// The decisions stay as they are, if there are as many; the conditions are dated.
fn prepare_status(context: &Context<'_>, request: &mut Value, old: Option<&Value>) {
    let Some(old) = old else { return };
    for decision in ["Approved", "Denied"] {
        let is_meant = |condition: &&Value| text(condition, "/type") == decision;
        let before: Vec<&Value> = items(old, "/status/conditions").iter().filter(is_meant).collect();
        if items(request, "/status/conditions").iter().filter(is_meant).count() == before.len() {
            let mut before = before.into_iter();
            visit(request, "status/conditions/*", &mut |condition| {
                if is_meant(&&*condition) {
                    before.next().into_iter().for_each(|before| *condition = before.clone());
                }
            });
        }
    }
    date_conditions(context, request, old);
}

/// `populateConditionTimestamps`.
fn date_conditions(context: &Context<'_>, request: &mut Value, old: &Value) {
    let now = format_seconds(context.now);
    visit(request, "status/conditions/*", &mut |condition| {
        default_to(condition, "lastUpdateTime", now.as_str());
        let same = items(old, "/status/conditions").iter().find(|old| {
            old["type"] == condition["type"]
                && old["status"] == condition["status"]
                && old["lastTransitionTime"].as_str().is_some_and(|time| !time.is_empty())
        });
        let since = same.map_or(now.as_str(), |same| text(same, "/lastTransitionTime"));
        default_to(condition, "lastTransitionTime", since);
    });
}

const SIGNER_OR_NONE: (&str, Cell) = ("SignerName", |object, _| or(text(object, "/spec/signerName"), "<none>").into());

fn has_condition(request: &Value, wanted: &str) -> bool {
    items(request, "/status/conditions").iter().any(|condition| text(condition, "/type") == wanted)
}

/// `extractCSRStatus`.
fn condition(request: &Value) -> String {
    let decision = match () {
        () if has_condition(request, "Denied") => "Denied",
        () if has_condition(request, "Approved") => "Approved",
        () => "Pending",
    };
    let failed = if has_condition(request, "Failed") { ",Failed" } else { "" };
    let issued = if text(request, "/status/certificate").is_empty() { "" } else { ",Issued" };
    format!("{decision}{failed}{issued}")
}

/// The last condition that ends a pod's request.
fn state(request: &Value) -> &str {
    let types = items(request, "/status/conditions").iter().rev().map(|condition| text(condition, "/type"));
    types.into_iter().find(|ty| matches!(*ty, "Issued" | "Denied" | "Failed")).unwrap_or("Pending")
}
