//! API services.
//!
//! Follows `pkg/registry/apiservice/strategy.go` and `pkg/registry/apiservice/etcd/etcd.go` of `k8s.io/kube-aggregator`
//! (v0.37.1), and of its `pkg/apis/apiregistration` `validation/validation.go` and `SetDefaults_ServiceReference` of
//! `v1/defaults.go`.

use super::context::Context;
use super::cursor::At;
use super::defaults::Fill::Number;
use super::defaults::fill;
use super::rules::{NameRule, Rules, Strategy};
use super::{flag, items, number, text};
use crate::clock::format_seconds;
use crate::error::{Errors, Path};
use crate::object::{meta, name};
use crate::schema::quote;
use crate::store::{Digest, Entry};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::sync::Arc;
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
    digest: Some(digest),
    subresources: &[("status", Strategy { validate: validate_status, ..Strategy::STATUS })],
    strategy: Strategy {
        prepare,
        validate,
        default: |service| fill(service, &[("spec/service", &[("port", Number(443))])]),
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

/// An API service that is behind a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteService {
    /// Its name.
    pub name: Box<str>,
    /// The group that it serves.
    pub group: Box<str>,
    /// The version of the group.
    pub version: Box<str>,
    /// The namespace of the service.
    pub namespace: Box<str>,
    /// The name of the service.
    pub service: Box<str>,
    /// The port of the service.
    pub port: u16,
    /// The certificates that vouch for it, as PEM; if empty, those of the system do.
    pub bundle: Box<[u8]>,
    /// Whether any certificate will do.
    pub is_insecure: bool,
    /// Whether it is available.
    pub is_available: bool,
}

impl RemoteService {
    /// The service that an API service is behind; `None`, if this server is.
    pub fn of(api_service: &Value) -> Option<RemoteService> {
        let spec = &api_service["spec"];
        let service = spec.get("service").filter(|service| !service.is_null())?;
        Some(RemoteService {
            name: meta::name(api_service).into(),
            group: text(spec, "/group").into(),
            version: text(spec, "/version").into(),
            namespace: text(service, "/namespace").into(),
            service: text(service, "/name").into(),
            port: number(service, "/port").and_then(|port| u16::try_from(port).ok()).unwrap_or_default(),
            bundle: STANDARD.decode(text(spec, "/caBundle")).unwrap_or_default().into(),
            is_insecure: flag(spec, "/insecureSkipTLSVerify"),
            is_available: available(api_service) == "True",
        })
    }

    /// The service that a stored API service is behind. Those without a digest are of this server, which starts with them.
    pub fn stored(entry: &Entry) -> Option<Arc<RemoteService>> {
        entry.digest()
    }
}

/// The digest of an API service; of one of this server there is not much to know.
fn digest(api_service: &Value) -> Digest {
    match RemoteService::of(api_service) {
        Some(remote) => {
            let bytes = size_of::<RemoteService>() + remote.bundle.len();
            Digest::new(remote, bytes)
        }
        None => Digest::new((), 0),
    }
}

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

fn at(service: &Value) -> At<'static, '_> {
    At::object(service, "apiregistration.k8s.io/v1", "APIService")
}

/// `ValidateAPIService`, without the metadata.
fn validate(_: &Context<'_>, service: &Value, old: Option<&Value>, errors: &mut Errors) {
    if old.is_some() {
        let own = meta::name(service);
        errors.invalid_each(Path::new("metadata.name"), own, named_by_version(service, own));
    }
    let object = at(service);
    let spec = object.field("spec");
    let (group, version) = (spec.field("group"), spec.field("version"));
    if group.is_empty() && version.text() != "v1" {
        group.required("only v1 may have an empty group and it better be legacy kube", errors);
    }
    group.optional(name::dns_subdomain, errors);
    version.follows(name::dns1035_label, errors);
    for (field, most) in [("groupPriorityMinimum", 20000), ("versionPriority", 1000)] {
        let priority = spec.field(field);
        if !(1..=most).contains(&priority.number().unwrap_or_default()) {
            let number = priority.number().unwrap_or_default();
            priority.invalid_value(number, format!("must be positive and less than {most}"), errors);
        }
    }
    let (service, bundle, insecure) =
        (spec.field("service"), spec.field("caBundle"), spec.field("insecureSkipTLSVerify"));
    if !service.is_set() {
        if !bundle.is_empty() {
            let length = STANDARD.decode(bundle.text()).unwrap_or_default().len();
            bundle.invalid_value(format!("{length} bytes"), "local APIServices may not have a caBundle", errors);
        }
        if insecure.flag() {
            insecure.invalid("local APIServices may not have insecureSkipTLSVerify", errors);
        }
        return;
    }
    service.field("namespace").set(errors);
    service.field("name").set(errors);
    let port = service.field("port");
    if !(1..=65535).contains(&port.number().unwrap_or_default()) {
        port.invalid("port is not valid: must be between 1 and 65535, inclusive", errors);
    }
    if insecure.flag() && !bundle.is_empty() {
        insecure.invalid("may not be true if caBundle is present", errors);
    }
}

/// `ValidateAPIServiceStatus`.
fn validate_status(_: &Context<'_>, service: &Value, _: Option<&Value>, errors: &mut Errors) {
    for condition in at(service).field("status.conditions").items() {
        condition.field("status").supported(&["True", "False", "Unknown"], errors);
    }
}
