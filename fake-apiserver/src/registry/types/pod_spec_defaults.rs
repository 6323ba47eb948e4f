//! Defaults of a `PodSpec`, as a table of places and values.
//!
//! Follows `SetDefaults_PodSpec` and what belongs to it in `pkg/apis/core/v1/defaults.go` and
//! `zz_generated.defaults.go` (v1.37.1).

use crate::registry::default_to;
use tree::{Map, Value};

/// A default value.
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

/// A place below some base (`*` stands for every item, `|` for either), and fields there with their values when unset.
type Default = (&'static str, &'static [(&'static str, Fill)]);

const SPEC: &[Default] = &[(
    "",
    &[
        ("dnsPolicy", Text("ClusterFirst")),
        ("restartPolicy", Text("Always")),
        ("securityContext", Object),
        ("terminationGracePeriodSeconds", Number(30)),
        ("schedulerName", Text("default-scheduler")),
    ],
)];

const PROBES: &str = "livenessProbe|readinessProbe|startupProbe";
const HTTP_GETS: &str = "livenessProbe|readinessProbe|startupProbe/httpGet";
const HOOK_HTTP_GETS: &str = "lifecycle/postStart|preStop/httpGet";

const CONTAINER: &[Default] = &[
    ("", &[("terminationMessagePath", Text("/dev/termination-log")), ("terminationMessagePolicy", Text("File"))]),
    ("ports/*", &[("protocol", Text("TCP"))]),
    ("env/*/valueFrom/fieldRef", &[("apiVersion", Text("v1"))]),
    (
        PROBES,
        &[
            ("timeoutSeconds", Nonzero(1)),
            ("periodSeconds", Nonzero(10)),
            ("successThreshold", Nonzero(1)),
            ("failureThreshold", Nonzero(3)),
        ],
    ),
    ("livenessProbe|readinessProbe|startupProbe/grpc", &[("service", Text(""))]),
    (HTTP_GETS, &[("path", Text("/")), ("scheme", Text("HTTP"))]),
    (HOOK_HTTP_GETS, &[("path", Text("/")), ("scheme", Text("HTTP"))]),
];

const VOLUME: &[Default] = &[
    ("secret|configMap|downwardAPI|projected", &[("defaultMode", Number(0o644))]),
    ("downwardAPI/items/*/fieldRef", &[("apiVersion", Text("v1"))]),
    ("projected/sources/*/downwardAPI/items/*/fieldRef", &[("apiVersion", Text("v1"))]),
    ("projected/sources/*/serviceAccountToken", &[("expirationSeconds", Number(3600))]),
    ("hostPath", &[("type", Text(""))]),
    ("ephemeral/volumeClaimTemplate/spec", &[("volumeMode", Text("Filesystem"))]),
    ("iscsi", &[("iscsiInterface", Text("default"))]),
    ("rbd", &[("pool", Text("rbd")), ("user", Text("admin")), ("keyring", Text("/etc/ceph/keyring"))]),
    (
        "azureDisk",
        &[
            ("cachingMode", Text("ReadWrite")),
            ("fsType", Text("ext4")),
            ("readOnly", Bool(false)),
            ("kind", Text("Shared")),
        ],
    ),
    ("scaleIO", &[("storageMode", Text("ThinProvisioned")), ("fsType", Text("xfs"))]),
];

/// Fills in a pod's spec, in a pod or in a template of one.
pub(in crate::registry) fn default_pod_spec(spec: &mut Value) {
    sync_service_account(spec);
    fill(spec, SPEC);
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
}

fn fill(base: &mut Value, defaults: &[Default]) {
    for (place, fields) in defaults {
        visit(base, place, &mut |at| {
            for (field, value) in *fields {
                match *value {
                    Text(text) => default_to(at, field, text),
                    Number(number) => default_to(at, field, number),
                    Bool(flag) => default_to(at, field, flag),
                    Object => default_to(at, field, Map::new()),
                    Nonzero(number) => fill_unless_zero(at, field, number.into()),
                }
            }
        });
    }
}

/// Sets a field to a number where it is unset or 0.
pub(in crate::registry) fn fill_unless_zero(at: &mut Value, field: &str, number: Value) {
    if at.get(field).is_none_or(|value| value.as_i64() == Some(0))
        && let Some(fields) = at.as_object_mut()
    {
        fields.insert(field.into(), number);
    }
}

/// Calls `change` on everything at a place that is there.
pub(in crate::registry) fn visit(base: &mut Value, place: &str, change: &mut dyn FnMut(&mut Value)) {
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

/// Sets the pull policy: `Always` for the tag `latest`, also if implied. A text that is not a reference has no tag.
fn default_pull_policy(at: &mut Value, image: &str, policy: &str) {
    let reference = at.get(image).and_then(Value::as_str).unwrap_or_default();
    let name = reference.rsplit_once('/').map_or(reference, |(_, name)| name);
    let latest = !reference.is_empty()
        && !reference.contains(char::is_whitespace)
        && !reference.contains('@')
        && name.rsplit_once(':').is_none_or(|(_, tag)| tag == "latest");
    default_to(at, policy, if latest { "Always" } else { "IfNotPresent" });
}
