//! Names, ordinals and labels of the pods of a stateful set.
//!
//! Ports `k8s.io/kubernetes/pkg/controller/statefulset/stateful_set_utils.go` (v1.37.1).

use super::super::facts::{pods, read, revisions, template};
use super::{KIND, claims};
use jiff::Timestamp;
use machinery::object::meta;
use tree::Value;

pub(super) const POD_NAME: &str = "statefulset.kubernetes.io/pod-name";
const POD_INDEX: &str = "apps.kubernetes.io/pod-index";

fn parts(pod: &Value) -> Option<(&str, i64)> {
    let (parent, ordinal) = meta::name(pod).rsplit_once('-')?;
    let is_number = ordinal.bytes().all(|byte| byte.is_ascii_digit());
    Some((parent, ordinal.parse::<i32>().ok().filter(|_| is_number)?.into()))
}

/// Whether a pod's name is one of a set's.
pub(super) fn is_member(pod: &Value, set: &Value) -> bool {
    parts(pod).is_some_and(|(parent, _)| parent == meta::name(set))
}

/// The number in a pod's name.
pub(super) fn ordinal(pod: &Value) -> Option<i64> {
    parts(pod).map(|(_, ordinal)| ordinal)
}

/// The first number of a set.
pub(super) fn start(set: &Value) -> i64 {
    read::int(set, "/spec/ordinals/start")
}

/// The revision that a pod was made of.
pub(super) fn revision(pod: &Value) -> &str {
    meta::labels(pod).get(revisions::HASH).unwrap_or_default()
}

/// Whether a pod is on the server; one that is about to be created has no phase.
pub(super) fn is_created(pod: &Value) -> bool {
    !pods::phase(pod).is_empty()
}

pub(super) fn runs_and_is_ready(pod: &Value) -> bool {
    pods::phase(pod) == "Running" && pods::is_ready(pod)
}

pub(super) fn is_unavailable(pod: &Value, set: &Value, now: Timestamp) -> bool {
    !pods::is_available(pod, read::int(set, "/spec/minReadySeconds"), now) || pods::is_going(pod)
}

/// Whether a pod has the labels that it should have.
pub(super) fn has_identity(pod: &Value) -> bool {
    meta::labels(pod).get(POD_NAME) == Some(meta::name(pod))
}

pub(super) fn give_identity(pod: &mut Value, ordinal: i64) {
    let name = meta::name(pod).to_owned();
    meta::set_label(pod, POD_NAME, &name);
    meta::set_label(pod, POD_INDEX, &ordinal.to_string());
}

/// A pod of a set with a template, a revision and a number.
pub(super) fn pod(set: &Value, template: &Value, revision: &str, ordinal: i64) -> Value {
    let mut pod = template::of(template, &KIND, set);
    let name = format!("{}-{ordinal}", meta::name(set));
    meta::set(&mut pod, "name", name.as_str());
    give_identity(&mut pod, ordinal);
    meta::set_label(&mut pod, revisions::HASH, revision);
    pod["spec"]["hostname"] = name.into();
    super::super::facts::status::text(&mut pod["spec"], "subdomain", read::text(set, "/spec/serviceName"));
    claims::mount(set, &mut pod, ordinal);
    pod
}
