//! Nodes: new ones are tainted until they are ready; addresses and pod networks can hardly be changed.
//!
//! Follows `pkg/registry/core/node/strategy.go`, `ValidateNode` and `ValidateNodeUpdate` of
//! `pkg/apis/core/validation`, and the admission plugin TaintNodesByCondition (v1.37.1).

use super::columns::or;
use super::context::Context;
use super::cursor::At;
use super::rules::{Cell, Rules, Strategy};
use super::types::{round_resources, visit};
use super::{amount, default_to, is_whole, items, sync_first, text};
use crate::error::{Errors, Path};
use crate::object::{meta, name};
use crate::registry::avoid_pods::avoid_pods;
use crate::schema::quote;
use std::collections::HashSet;
use std::net::IpAddr;
use tree::Value;

pub(super) const RULES: Rules = Rules {
    subresources: &[
        ("proxy", Strategy::NONE),
        (
            "status",
            Strategy {
                default,
                validate: |_, new, old, errors| old.into_iter().for_each(|old| changes(new, old, errors)),
                ..Strategy::NONE
            },
        ),
    ],
    keeps_status: true,
    fields: &[("spec.unschedulable", |node| unschedulable(node).to_string().into())],
    cells: CELLS,
    strategy: Strategy {
        default,
        prepare: |_, node, _| drop_config(node),
        validate: |_, new, old, errors| {
            validate(new, errors);
            old.into_iter().for_each(|old| changes(new, old, errors));
        },
        warnings,
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

fn unschedulable(node: &Value) -> bool {
    node.pointer("/spec/unschedulable").and_then(Value::as_bool).unwrap_or_default()
}

/// `SetDefaults_NodeStatus`, and the deprecated name of the first pod network.
fn default(node: &mut Value) {
    if let Some(spec) = node.get_mut("spec") {
        sync_first(spec, "podCIDR", "podCIDRs", |cidr| cidr, Value::clone);
    }
    if let Some(status) = node.get_mut("status")
        && let Some(capacity) = status.get("capacity").cloned()
    {
        default_to(status, "allocatable", capacity);
    }
    visit(node, "status/capacity|allocatable", &mut round_resources);
}

/// Drops the fields of the removed dynamic configuration.
fn drop_config(node: &mut Value) {
    if let Some(spec) = node.get_mut("spec").and_then(Value::as_object_mut) {
        spec.remove("configSource");
    }
}

fn cursor(node: &Value) -> At<'static, '_> {
    At::object(node, "v1", "Node")
}

fn validate(node: &Value, errors: &mut Errors) {
    avoid_pods(node, errors);
    taints(cursor(node).field("spec.taints").shown_at(Path::new("metadata.taints")), errors);
    resources(node, errors);
    let capacity = cursor(node);
    let capacity = capacity.field("status.nodeInfo.swap.capacity");
    if capacity.number().is_some_and(|capacity| capacity <= 0) {
        capacity.shown_at(Path::new("metadata.nodeSwapStatus.capacity")).invalid("must be greater than zero", errors);
    }
    declared_features(node, errors);
    pod_cidrs(node, errors);
}

/// `validateNodeTaints`, which reports them below `metadata`.
fn taints(taints: At<'_, '_>, errors: &mut Errors) {
    let mut seen = HashSet::new();
    for taint in taints.items() {
        let (key, value, effect) = (taint.field("key"), taint.field("value"), taint.field("effect"));
        key.follows(name::label_key, errors);
        let bad_value = name::label_value(value.text());
        if !bad_value.is_empty() {
            value.invalid(bad_value.join(";"), errors);
        }
        effect.one_of(&["NoSchedule", "PreferNoSchedule", "NoExecute"], errors);
        if !seen.insert((key.text(), effect.text())) {
            taint.duplicate_because("taints must be unique by key and effect pair", errors);
        }
    }
}

/// `ValidateNodeResources`.
fn resources(node: &Value, errors: &mut Errors) {
    let status = Path::new("status");
    for list in ["capacity", "allocatable"] {
        for (resource, value) in node["status"][list].as_object().into_iter().flatten() {
            let at = status.child(list);
            let at = at.child(resource);
            let amount = amount(value.as_str().unwrap_or_default());
            if amount.sign().is_lt() {
                errors.invalid(at, &*amount.text(), "must be greater than or equal to 0");
            }
            if resource == "pods" && !is_whole(&amount) {
                errors.invalid(at, &*amount.text(), "must be an integer");
            }
        }
    }
}

/// `validateNodeDeclaredFeatures`.
fn declared_features(node: &Value, errors: &mut Errors) {
    const MOST: usize = 253;
    const FORM: &str = "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or \
                        MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";
    let (node, mut before) = (cursor(node), None);
    for feature in node.field("status.declaredFeatures").items() {
        let name = feature.text();
        match before {
            Some(before) if before == name => feature.duplicate(errors),
            Some(before) if before > name => feature.invalid("list must be sorted alphabetically", errors),
            _ => {}
        }
        let is_segment = |segment: &str| {
            segment.starts_with(|first: char| first.is_ascii_alphabetic())
                && segment.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        let is_good = name.starts_with(|first: char| first.is_ascii_uppercase()) && name.split('/').all(is_segment);
        if name.len() > MOST {
            let detail = format!("invalid feature name {}: must be no more than {MOST} characters", quote(name));
            feature.invalid(detail, errors);
        } else if !is_good {
            feature.invalid(format!("invalid feature name {}: {FORM}", quote(name)), errors);
        }
        before = Some(name);
    }
}

fn is_cidr(text: &str) -> Option<IpAddr> {
    let (address, length) = text.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    length.parse::<u8>().ok().filter(|length| *length <= most).map(|_| address)
}

fn pod_cidrs(node: &Value, errors: &mut Errors) {
    let at = Path::new("spec.podCIDRs");
    let all = items(node, "/spec/podCIDRs");
    let families: Vec<Option<bool>> =
        all.iter().map(|cidr| is_cidr(cidr.as_str().unwrap_or_default()).map(|address| address.is_ipv4())).collect();
    for (index, cidr) in all.iter().enumerate().filter(|(index, _)| families[*index].is_none()) {
        let detail = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
        errors.invalid(at.index(index), cidr.clone(), detail);
    }
    let pair = families.len() == 2 && families[0] != families[1];
    if all.len() > 1 && !pair {
        errors.invalid(at, all, "may specify no more than one CIDR for each IP family");
    }
}

/// `ValidateNodeUpdate`, without the findings of [`validate`].
fn changes(new: &Value, old: &Value, errors: &mut Errors) {
    resources(new, errors);
    declared_features(new, errors);
    let (at, old) = (cursor(new), cursor(old));
    let mut seen = HashSet::new();
    for address in at.field("status.addresses").items() {
        if !seen.insert(address.value()) {
            address.duplicate(errors);
        }
    }
    let (cidrs, before) = (at.field("spec.podCIDRs"), old.field("spec.podCIDRs"));
    if !before.is_empty() && !cidrs.equals(&before) {
        cidrs.forbidden("node updates may not change podCIDR except from \"\" to valid", errors);
    }
    let provider = at.field("spec.providerID");
    let detail = match (old.field("spec.providerID").text(), provider.text()) {
        ("", _) => None,
        (_, "") => Some("field cannot be cleared once set"),
        (before, after) => (before != after).then_some("field cannot be modified once set"),
    };
    if let Some(detail) = detail {
        provider.invalid_value(Value::Null, detail, errors);
    }
    taints(at.field("spec.taints").shown_at(Path::new("metadata.taints")), errors);
    let external = at.field("spec.externalID");
    if !external.equals(&old.field("spec.externalID")) {
        external.forbidden("may not be updated", errors);
    }
}

fn warnings(_: &Context<'_>, node: &Value, _: Option<&Value>) -> Vec<String> {
    match text(node, "/spec/externalID") {
        "" => Vec::new(),
        _ => vec!["spec.externalID: this field is deprecated, and is unused by Kubernetes".into()],
    }
}

const CELLS: &[(&str, Cell)] = &[
    ("Status", |node, _| status(node).into()),
    ("Roles", |node, _| or(&roles(node), "<none>").into()),
    ("Version", |node, _| text(node, "/status/nodeInfo/kubeletVersion").into()),
    ("Internal-IP", |node, _| address(node, "InternalIP").into()),
    ("External-IP", |node, _| address(node, "ExternalIP").into()),
    ("OS-Image", |node, _| or(text(node, "/status/nodeInfo/osImage"), "<unknown>").into()),
    ("Kernel-Version", |node, _| {
        let version = or(text(node, "/status/nodeInfo/kernelVersion"), "<unknown>");
        match text(node, "/status/nodeInfo/architecture") {
            "" => version.into(),
            architecture => format!("{version} ({architecture})").into(),
        }
    }),
    ("Container-Runtime", |node, _| or(text(node, "/status/nodeInfo/containerRuntimeVersion"), "<unknown>").into()),
];

fn status(node: &Value) -> String {
    let ready = items(node, "/status/conditions").iter().rfind(|condition| text(condition, "/type") == "Ready");
    let ready = match ready.map(|condition| text(condition, "/status")) {
        None => "Unknown",
        Some("True") => "Ready",
        Some(_) => "NotReady",
    };
    match unschedulable(node) {
        true => format!("{ready},SchedulingDisabled"),
        false => ready.into(),
    }
}

/// `findNodeRoles`.
fn roles(node: &Value) -> String {
    let role = |(key, value): (&'_ str, &'_ str)| match key.strip_prefix("node-role.kubernetes.io/") {
        Some(role) => role.to_string(),
        None if key == "kubernetes.io/role" => value.to_string(),
        None => String::new(),
    };
    let mut roles: Vec<String> = meta::labels(node).iter().map(role).filter(|role| !role.is_empty()).collect();
    roles.sort();
    roles.dedup();
    roles.join(",")
}

fn address<'a>(node: &'a Value, type_: &str) -> &'a str {
    let found = items(node, "/status/addresses").iter().find(|address| text(address, "/type") == type_);
    found.map_or("<none>", |address| text(address, "/address"))
}
