//! Defaults of a `PodSpec`, as a table of places and values.
//!
//! Follows `SetDefaults_PodSpec` and what belongs to it in `pkg/apis/core/v1/defaults.go` and
//! `zz_generated.defaults.go` (v1.37.1).

use super::{image, resource_list::round_resources};
use crate::registry::default_to;
use crate::registry::defaults::Fill::{Bool, Nonzero, Number, Object, Text};
use crate::registry::defaults::{Plan, visit};
use tree::{Map, Value};

static SPEC: Plan = Plan::of(&[(
    "",
    &[
        ("dnsPolicy", Text("ClusterFirst")),
        ("restartPolicy", Text("Always")),
        ("securityContext", Object),
        ("terminationGracePeriodSeconds", Number(30)),
        ("schedulerName", Text("default-scheduler")),
    ],
)]);

const PROBES: &str = "livenessProbe|readinessProbe|startupProbe";
const HTTP_GETS: &str = "livenessProbe|readinessProbe|startupProbe/httpGet";
const HOOK_HTTP_GETS: &str = "lifecycle/postStart|preStop/httpGet";

static CONTAINER: Plan = Plan::of(&[
    ("", &[("terminationMessagePath", Text("/dev/termination-log")), ("terminationMessagePolicy", Text("File"))]),
    ("ports/*", &[("protocol", Text("TCP"))]),
    ("env/*/valueFrom/fieldRef", &[("apiVersion", Text("v1"))]),
    ("env/*/valueFrom/fileKeyRef", &[("optional", Bool(false))]),
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
]);

static VOLUME: Plan = Plan::of(&[
    ("secret|configMap|downwardAPI|projected", &[("defaultMode", Number(0o644))]),
    ("downwardAPI/items/*/fieldRef", &[("apiVersion", Text("v1"))]),
    ("projected/sources/*/downwardAPI/items/*/fieldRef", &[("apiVersion", Text("v1"))]),
    ("projected/sources/*/serviceAccountToken", &[("expirationSeconds", Number(3600))]),
    ("ephemeral/volumeClaimTemplate/spec", &[("volumeMode", Text("Filesystem"))]),
]);

/// Defaults of the sources that pods and persistent volumes have in common.
static SOURCE: Plan = Plan::of(&[
    ("hostPath", &[("type", Text(""))]),
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
]);

/// Fills in the source of a persistent volume.
pub(in crate::registry) fn default_volume_source(source: &mut Value) {
    SOURCE.fill(source);
}

/// Fills in a pod's spec, in a pod or in a template of one.
pub(in crate::registry) fn default_pod_spec(spec: &mut Value) {
    sync_service_account(spec);
    SPEC.fill(spec);
    visit(spec, "overhead", &mut round_resources);
    visit(spec, "resources/limits|requests", &mut round_resources);
    visit(spec, "containers|initContainers|ephemeralContainers/*", &mut |container| {
        CONTAINER.fill(container);
        default_pull_policy(container, "image", "imagePullPolicy");
        visit(container, "resources/limits|requests", &mut round_resources);
    });
    visit(spec, "volumes/*", &mut |volume| {
        if let Some(fields) = volume.as_object_mut().filter(|fields| !fields.keys().any(|key| key != "name")) {
            fields.insert("emptyDir".into(), Value::Object(Map::new()));
        }
        VOLUME.fill(volume);
        default_volume_source(volume);
        visit(volume, "ephemeral/volumeClaimTemplate/spec/resources/limits|requests", &mut round_resources);
        visit(volume, "image", &mut |image| default_pull_policy(image, "reference", "pullPolicy"));
    });
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

/// Sets the pull policy: `Always` for the tag `latest`, also if implied.
fn default_pull_policy(at: &mut Value, image: &str, policy: &str) {
    let latest = image::tag(at.get(image).and_then(Value::as_str).unwrap_or_default()) == Some("latest");
    default_to(at, policy, if latest { "Always" } else { "IfNotPresent" });
}
