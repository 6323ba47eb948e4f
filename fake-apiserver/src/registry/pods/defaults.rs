//! Defaults of pods beyond those of every `PodSpec`.
//!
//! Follows `SetDefaults_Pod` and `SetDefaults_PodStatus` of `pkg/apis/core/v1/defaults.go` (v1.37.1). The resources of
//! pods as a whole get theirs later (`pod_level_resources.rs`).

use crate::registry::defaults::{fill_unless_zero, visit};
use crate::registry::types::default_pod_spec;
use crate::registry::{child, default_to, flag, number, sync_first};
use tree::{Value, json};

/// Fills in a pod.
pub(super) fn default(pod: &mut Value) {
    let spec = child(pod, "spec");
    if number(spec, "/terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0) {
        *child(spec, "terminationGracePeriodSeconds") = 1.into();
    }
    default_pod_spec(spec);
    visit(spec, "containers|initContainers/*", &mut requests_from_limits);
    default_to(spec, "enableServiceLinks", true);
    if flag(spec, "/hostNetwork") {
        visit(spec, "containers|initContainers/*/ports/*", &mut |port| {
            if let Some(number) = port.get("containerPort").cloned() {
                fill_unless_zero(port, "hostPort", number);
            }
        });
    }
    visit(pod, "status", &mut sync_pod_ips);
}

/// Sets requests to the limits where they are absent.
fn requests_from_limits(container: &mut Value) {
    let Some(limits) = container.pointer("/resources/limits").and_then(Value::as_object).cloned() else { return };
    let requests = child(child(container, "resources"), "requests");
    for (resource, limit) in limits {
        default_to(requests, &resource, limit);
    }
}

/// `SetDefaults_PodStatus`.
fn sync_pod_ips(status: &mut Value) {
    sync_first(status, "podIP", "podIPs", |ip| json!({ "ip": ip }), |entry| entry["ip"].clone());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the real server (v1.37.1) filled it in, `resources: {}` excepted, which is a matter of encoding.
    #[test]
    fn a_pod_is_filled_in() {
        let mut pod = json!({"spec": {
            "hostNetwork": true,
            "serviceAccount": "foo",
            "volumes": [{"name": "v"}, {"name": "s", "secret": {"secretName": "s"}},
                {"name": "p", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
                {"name": "i", "image": {"reference": "a"}}],
            "initContainers": [{"name": "i", "image": "x:latest"}],
            "containers": [{
                "name": "a", "image": "localhost:5000/b:1", "ports": [{"containerPort": 80}],
                "resources": {"limits": {"cpu": "1"}},
                "livenessProbe": {"httpGet": {"port": 80}, "timeoutSeconds": 0},
                "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
            }],
        }});
        default(&mut pod);
        let filled = json!({"spec": {
            "hostNetwork": true,
            "serviceAccount": "foo", "serviceAccountName": "foo",
            "dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "securityContext": {},
            "terminationGracePeriodSeconds": 30, "schedulerName": "default-scheduler", "enableServiceLinks": true,
            "volumes": [{"name": "v", "emptyDir": {}}, {"name": "s", "secret": {"secretName": "s", "defaultMode": 420}},
                {"name": "p", "projected": {
                    "sources": [{"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}], "defaultMode": 420}},
                {"name": "i", "image": {"reference": "a", "pullPolicy": "Always"}}],
            "initContainers": [{"name": "i", "image": "x:latest", "imagePullPolicy": "Always",
                "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}],
            "containers": [{
                "name": "a", "image": "localhost:5000/b:1", "imagePullPolicy": "IfNotPresent",
                "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
                "ports": [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}],
                "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}},
                "livenessProbe": {"httpGet": {"port": 80, "path": "/", "scheme": "HTTP"},
                    "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3},
                "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name", "apiVersion": "v1"}}}],
            }],
        }});
        assert_eq!(pod, filled);
        default(&mut pod);
        assert_eq!(pod, filled);
    }

    #[test]
    fn addresses_agree() {
        let table = [
            (json!({"podIP": "1"}), json!({"podIP": "1", "podIPs": [{"ip": "1"}]})),
            (
                json!({"podIPs": [{"ip": "1"}, {"ip": "2"}]}),
                json!({"podIP": "1", "podIPs": [{"ip": "1"}, {"ip": "2"}]}),
            ),
            (json!({"podIP": "1", "podIPs": [{"ip": "2"}]}), json!({"podIP": "1", "podIPs": [{"ip": "1"}]})),
        ];
        for (status, synced) in table {
            let mut pod = json!({ "status": status });
            default(&mut pod);
            assert_eq!(pod["status"], synced);
        }
    }
}
