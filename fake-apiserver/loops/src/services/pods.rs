//! Pods behind services.
//!
//! Follows `util/controller_utils.go` and `utils.go` of `k8s.io/endpointslice` (v0.37.1).

use super::SERVICES;
use crate::objects::{Change, Objects};
use crate::plan::Keys;
use crate::resource::Key;
use crate::workloads::facts::{pods, read};
use machinery::object::meta;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;
use tree::Value;

/// Adds the services that a change of a pod concerns.
pub(super) fn concerned(change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
    let namespace = &change.key.namespace;
    let of = |pod: &Value| -> BTreeSet<Key> {
        let services = objects.within(&SERVICES, namespace);
        services.filter(|(_, service)| selects(service, pod)).map(|(key, _)| key.clone()).collect()
    };
    match (change.old, change.new) {
        (Some(old), Some(new)) => {
            let relabelled = meta::labels(old).iter().ne(meta::labels(new).iter());
            let changed = is_another_endpoint(old, new);
            let (before, after) = (of(old), of(new));
            let wanted: Vec<Key> = match (relabelled, changed) {
                (false, false) => Vec::new(),
                (false, true) => after.into_iter().collect(),
                (true, true) => before.union(&after).cloned().collect(),
                (true, false) => before.symmetric_difference(&after).cloned().collect(),
            };
            wanted.into_iter().for_each(|key| keys.add(key));
        }
        (one, other) => one.or(other).into_iter().flat_map(of).for_each(|key| keys.add(key)),
    }
}

/// Whether a change of a pod may change its endpoints (`podEndpointsChanged`).
fn is_another_endpoint(old: &Value, new: &Value) -> bool {
    let parts = |pod: &Value| {
        let text = |at: &str| read::text(pod, at).to_owned();
        let ips: Vec<String> = ips(pod).map(|ip| ip.to_string()).collect();
        let state = (pods::is_going(pod), pods::is_ready(pod), pods::is_terminal(pod));
        (state, ips, text("/spec/nodeName"), text("/spec/hostname"), text("/spec/subdomain"), meta::uid(pod).to_owned())
    };
    parts(old) != parts(new)
}

/// The pods that a service selects; `None` if it selects none on purpose.
pub(super) fn of_service<'o>(service: &'o Value, objects: &'o Objects) -> Option<Vec<&'o Arc<Value>>> {
    service.pointer("/spec/selector")?;
    if read::text(service, "/spec/type") == "ExternalName" {
        return None;
    }
    let all = objects.within(&pods::PODS, meta::namespace(service));
    Some(all.map(|(_, pod)| pod).filter(|pod| selects(service, pod)).collect())
}

fn selects(service: &Value, pod: &Value) -> bool {
    let Some(selector) = service.pointer("/spec/selector").and_then(Value::as_object) else { return false };
    let labels = meta::labels(pod);
    !selector.is_empty() && selector.iter().all(|(key, value)| labels.get(key) == value.as_str())
}

/// The addresses of a pod.
pub(super) fn ips(pod: &Value) -> impl Iterator<Item = IpAddr> {
    read::list(pod, "/status/podIPs").iter().filter_map(|ip| read::text(ip, "/ip").parse().ok())
}

/// Whether a pod has endpoints (`ShouldPodBeInEndpoints`).
pub(super) fn is_endpoint(pod: &Value, also_terminating: bool) -> bool {
    let has_ip = !read::text(pod, "/status/podIP").is_empty() || !read::list(pod, "/status/podIPs").is_empty();
    !pods::is_terminal(pod) && has_ip && (also_terminating || !pods::is_going(pod))
}

/// The name that a pod has within a service, if it has one.
pub(super) fn hostname<'p>(pod: &'p Value, service: &Value) -> Option<&'p str> {
    let hostname = read::text(pod, "/spec/hostname");
    let is_of_service = read::text(pod, "/spec/subdomain") == meta::name(service);
    Some(hostname).filter(|name| !name.is_empty() && is_of_service)
}

/// The number of a service's port in a pod (`FindPort`).
pub(super) fn port(pod: &Value, port: &Value) -> Option<i64> {
    let name = match port.get("targetPort")? {
        number if number.is_number() => return number.as_i64(),
        name => name.as_str()?,
    };
    let protocol = read::text(port, "/protocol");
    let init = read::list(pod, "/spec/initContainers");
    let sidecars = init.iter().filter(|container| read::text(container, "/restartPolicy") == "Always");
    let ports = read::list(pod, "/spec/containers")
        .iter()
        .chain(sidecars)
        .flat_map(|container| read::list(container, "/ports"));
    let mut named = ports.filter(|one| read::text(one, "/name") == name && read::text(one, "/protocol") == protocol);
    read::number(named.next()?, "/containerPort")
}

/// Whether a service has no address of its own.
pub(super) fn is_headless(service: &Value) -> bool {
    matches!(read::text(service, "/spec/clusterIP"), "None" | "")
}
