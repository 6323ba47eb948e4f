//! What pods are filled in with, as a table of places and values.
//!
//! Follows `pkg/apis/core/v1/defaults.go` and `zz_generated.defaults.go` (v1.37.1). Not ported: pod-level resources.

use crate::registry::{child, default_to, sync_first};
use serde_json::{Map, Value, json};

/// What to fill in.
#[derive(Clone, Copy)]
enum Fill {
    Text(&'static str),
    Number(i64),
    /// A number for which 0 counts as unset.
    Nonzero(i64),
    Bool(bool),
    Object,
}
use Fill::{Bool, Nonzero, Number, Object, Text};

/// A place below some base (`*` stands for every item, `|` for either), a field there, and its value when unset.
type Default = (&'static str, &'static str, Fill);

const SPEC: &[Default] = &[
    ("", "dnsPolicy", Text("ClusterFirst")),
    ("", "restartPolicy", Text("Always")),
    ("", "securityContext", Object),
    ("", "terminationGracePeriodSeconds", Number(30)),
    ("", "schedulerName", Text("default-scheduler")),
    ("", "enableServiceLinks", Bool(true)),
];

const PROBES: &str = "livenessProbe|readinessProbe|startupProbe";
const HTTP_GETS: &str = "livenessProbe|readinessProbe|startupProbe/httpGet";
const HOOK_HTTP_GETS: &str = "lifecycle/postStart|preStop/httpGet";

const CONTAINER: &[Default] = &[
    ("", "terminationMessagePath", Text("/dev/termination-log")),
    ("", "terminationMessagePolicy", Text("File")),
    ("ports/*", "protocol", Text("TCP")),
    ("env/*/valueFrom/fieldRef", "apiVersion", Text("v1")),
    (PROBES, "timeoutSeconds", Nonzero(1)),
    (PROBES, "periodSeconds", Nonzero(10)),
    (PROBES, "successThreshold", Nonzero(1)),
    (PROBES, "failureThreshold", Nonzero(3)),
    ("livenessProbe|readinessProbe|startupProbe/grpc", "service", Text("")),
    (HTTP_GETS, "path", Text("/")),
    (HTTP_GETS, "scheme", Text("HTTP")),
    (HOOK_HTTP_GETS, "path", Text("/")),
    (HOOK_HTTP_GETS, "scheme", Text("HTTP")),
];

const VOLUME: &[Default] = &[
    ("secret|configMap|downwardAPI|projected", "defaultMode", Number(0o644)),
    ("downwardAPI/items/*/fieldRef", "apiVersion", Text("v1")),
    ("projected/sources/*/downwardAPI/items/*/fieldRef", "apiVersion", Text("v1")),
    ("projected/sources/*/serviceAccountToken", "expirationSeconds", Number(3600)),
    ("hostPath", "type", Text("")),
    ("ephemeral/volumeClaimTemplate/spec", "volumeMode", Text("Filesystem")),
    ("iscsi", "iscsiInterface", Text("default")),
    ("rbd", "pool", Text("rbd")),
    ("rbd", "user", Text("admin")),
    ("rbd", "keyring", Text("/etc/ceph/keyring")),
    ("azureDisk", "cachingMode", Text("ReadWrite")),
    ("azureDisk", "fsType", Text("ext4")),
    ("azureDisk", "readOnly", Bool(false)),
    ("azureDisk", "kind", Text("Shared")),
    ("scaleIO", "storageMode", Text("ThinProvisioned")),
    ("scaleIO", "fsType", Text("xfs")),
];

/// Fills in a pod.
pub(super) fn default(pod: &mut Value) {
    let spec = child(pod, "spec");
    if spec.get("terminationGracePeriodSeconds").and_then(Value::as_i64).is_some_and(|seconds| seconds < 0) {
        *child(spec, "terminationGracePeriodSeconds") = 1.into();
    }
    sync_service_account(spec);
    fill(spec, SPEC);
    if spec.get("hostNetwork") == Some(&Value::Bool(true)) {
        visit(spec, "containers|initContainers/*/ports/*", &mut |port| {
            if let Some(number) = port.get("containerPort").cloned() {
                fill_unless_zero(port, "hostPort", number);
            }
        });
    }
    visit(spec, "containers|initContainers/*", &mut requests_from_limits);
    visit(spec, "containers|initContainers|ephemeralContainers/*", &mut |container| {
        fill(container, CONTAINER);
        default_pull_policy(container, "image", "imagePullPolicy");
    });
    visit(spec, "volumes/*", &mut |volume| {
        if let Some(fields) = volume.as_object_mut().filter(|fields| !fields.keys().any(|key| key != "name")) {
            fields.insert("emptyDir".into(), Value::Object(Map::new()));
        }
        fill(volume, VOLUME);
        visit(volume, "image", &mut |image| default_pull_policy(image, "reference", "pullPolicy"));
    });
    visit(pod, "status", &mut sync_pod_ips);
}

fn fill(base: &mut Value, defaults: &[Default]) {
    for (place, field, value) in defaults {
        visit(base, place, &mut |at| match *value {
            Text(text) => default_to(at, field, text),
            Number(number) => default_to(at, field, number),
            Bool(flag) => default_to(at, field, flag),
            Object => default_to(at, field, Map::new()),
            Nonzero(number) => fill_unless_zero(at, field, number.into()),
        });
    }
}

fn fill_unless_zero(at: &mut Value, field: &str, number: Value) {
    if at.get(field).is_none_or(|value| value.as_i64() == Some(0))
        && let Some(fields) = at.as_object_mut()
    {
        fields.insert(field.into(), number);
    }
}

/// Calls `change` on everything at a place that is there.
fn visit(base: &mut Value, place: &str, change: &mut dyn FnMut(&mut Value)) {
    let (first, rest) = place.split_once('/').unwrap_or((place, ""));
    match first {
        "" => change(base),
        "*" => base.as_array_mut().into_iter().flatten().for_each(|item| visit(item, rest, change)),
        _ => {
            for field in first.split('|') {
                if let Some(value) = base.get_mut(field) {
                    visit(value, rest, change);
                }
            }
        }
    }
}

/// `serviceAccount` is an alias of `serviceAccountName`, which wins.
fn sync_service_account(spec: &mut Value) {
    let name = ["serviceAccountName", "serviceAccount"]
        .iter()
        .find_map(|field| spec.get(*field).filter(|value| value.as_str().is_some_and(|name| !name.is_empty())))
        .cloned();
    if let (Some(name), Some(fields)) = (name, spec.as_object_mut()) {
        fields.insert("serviceAccount".into(), name.clone());
        fields.insert("serviceAccountName".into(), name);
    }
}

/// A limit without a request is one.
fn requests_from_limits(container: &mut Value) {
    let Some(limits) = container.pointer("/resources/limits").and_then(Value::as_object).cloned() else { return };
    let requests = child(child(container, "resources"), "requests");
    for (resource, limit) in limits {
        default_to(requests, &resource, limit);
    }
}

/// `latest`, also by omission, is pulled always.
fn default_pull_policy(at: &mut Value, image: &str, policy: &str) {
    let reference = at.get(image).and_then(Value::as_str).unwrap_or_default();
    let name = reference.rsplit_once('/').map_or(reference, |(_, name)| name);
    let latest = !reference.is_empty()
        && !reference.contains('@')
        && name.rsplit_once(':').is_none_or(|(_, tag)| tag == "latest");
    default_to(at, policy, if latest { "Always" } else { "IfNotPresent" });
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
