//! The parts of a pod to which a check objects, and how messages call them.

use crate::registry::{at, items, text};
use std::fmt::Display;
use tree::Value;

/// The containers of a pod, in the order of messages.
pub(super) fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    ["/spec/initContainers", "/spec/containers", "/spec/ephemeralContainers"]
        .into_iter()
        .flat_map(|list| items(pod, list))
}

/// A value in the security context of a pod's spec, or of a container.
pub(super) fn security<'v>(holder: &'v Value, pointer: &str) -> Option<&'v Value> {
    at(holder, "/securityContext").and_then(|context| at(context, pointer))
}

/// The parts of a pod to which a check objects.
#[derive(Debug, Default)]
pub(super) struct Culprits<'p> {
    /// Whether the pod itself is among them.
    pub(super) pod: bool,
    /// The names of containers.
    pub(super) containers: Vec<&'p str>,
}

impl<'p> Culprits<'p> {
    /// The containers of which that is true.
    pub(super) fn among_containers(pod: &'p Value, is_bad: impl FnMut(&&'p Value) -> bool) -> Self {
        let names = containers(pod).filter(is_bad).map(|container| text(container, "/name"));
        Culprits { pod: false, containers: names.collect() }
    }

    /// The pod and the containers whose security context has a bad value in a field.
    pub(super) fn with(pod: &'p Value, field: &str, mut is_bad: impl FnMut(&'p Value) -> bool) -> Self {
        let of_pod = security(&pod["spec"], field).is_some_and(&mut is_bad);
        let others = Culprits::among_containers(pod, |container| security(container, field).is_some_and(&mut is_bad));
        Culprits { pod: of_pod, ..others }
    }

    /// The words for them: `pod and containers "a", "b"`; `None` without any.
    pub(super) fn words(&self) -> Option<String> {
        let containers = (!self.containers.is_empty()).then(|| named("container", &self.containers));
        match (self.pod, containers) {
            (true, None) => Some("pod".into()),
            (true, Some(containers)) => Some(format!("pod and {containers}")),
            (false, containers) => containers,
        }
    }
}

/// A noun in the number of the names, and the names: `volumes "a", "b"`.
pub(super) fn named(noun: &str, names: &[impl Display]) -> String {
    format!("{} {}", counted(noun, names.len()), quoted(names))
}

/// A noun, in the plural unless there is one thing.
pub(super) fn counted(noun: &str, count: usize) -> String {
    if count == 1 { noun.into() } else { format!("{noun}s") }
}

/// Names in quotes, separated by commas (`joinQuote`).
pub(super) fn quoted(names: impl IntoIterator<Item = impl Display>) -> String {
    names.into_iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}
