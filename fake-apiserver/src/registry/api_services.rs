//! API services.
//!
//! Follows `pkg/registry/apiservice/strategy.go` and `pkg/registry/apiservice/etcd/etcd.go` of `k8s.io/kube-aggregator`
//! (v0.37.1), and `SetDefaults_ServiceReference` of its `pkg/apis/apiregistration/v1/defaults.go`.

use super::context::Context;
use super::defaults::Fill::Number;
use super::defaults::fill;
use super::rules::{NameRule, Rules, Strategy};
use super::{items, text};
use crate::clock::format_seconds;
use crate::object::name;
use crate::schema::quote;
use tree::{Value, json};

pub(super) const RULES: Rules = Rules {
    name_rule: NameRule::Of(named_by_version),
    qualified_finalizers: false,
    status_keeps_metadata: true,
    cells: &[
        ("Service", |service, _| match service["spec"].get("service") {
            None => "Local".into(),
            Some(service) => format!("{}/{}", text(service, "/namespace"), text(service, "/name")).into(),
        }),
        ("Available", |service, _| available(service).into()),
    ],
    strategy: Strategy {
        prepare,
        default: |service| fill(service, &[("spec/service", &[("port", Number(443))])]),
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

/// The status of the condition `Available`, with the reason where it is not met.
fn available(service: &Value) -> String {
    let mut conditions = items(service, "/status/conditions").iter();
    let condition = conditions.find(|condition| text(condition, "/type") == "Available");
    let Some(condition) = condition else { return "Unknown".into() };
    match (text(condition, "/status"), text(condition, "/reason")) {
        (status @ "True", _) | (status, "") => status.into(),
        (status, reason) => format!("{status} ({reason})"),
    }
}

/// A service of this server itself is available from the start.
fn prepare(context: &Context<'_>, service: &mut Value, old: Option<&Value>) {
    if old.is_none() && service["spec"].get("service").is_none() {
        service["status"] = json!({"conditions": [{
            "type": "Available",
            "status": "True",
            "lastTransitionTime": format_seconds(context.now),
            "reason": "Local",
            "message": "Local APIServices are always available",
        }]});
    }
}

/// The name is made of the version and the group.
fn named_by_version(service: &Value, own: &str) -> Vec<String> {
    let objections = name::path_segment(own);
    if !objections.is_empty() {
        return objections;
    }
    let required = format!("{}.{}", text(service, "/spec/version"), text(service, "/spec/group"));
    if own == required {
        Vec::new()
    } else {
        vec![format!("must be `spec.version+\".\"+spec.group`: {}", quote(&required))]
    }
}
