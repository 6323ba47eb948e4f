//! Ingresses.
//!
//! Follows `pkg/registry/networking/ingress/strategy.go`, `ValidateIngressCreate`, `ValidateIngressUpdate` and
//! `ValidateIngressStatusUpdate` of `pkg/apis/networking/validation/validation.go` and `printIngress` of
//! `pkg/printers/internalversion/printers.go` (v1.37.1).

use crate::error::{Errors, Path};
use crate::object::{ip, meta, name};
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::rules::{Cell, Rules, Strategy};
use crate::registry::types::{
    load_balancer_address, load_balancer_hostname, load_balancer_warnings, port_name, port_number,
};
use crate::registry::{items, text};
use std::collections::BTreeSet;
use tree::Value;

/// `annotationIngressClass`.
const CLASS: &str = "kubernetes.io/ingress.class";

pub(in crate::registry) const RULES: Rules = Rules {
    owns_generation: true,
    cells: INGRESS_CELLS,
    subresources: &[(
        "status",
        Strategy { validate: status, warnings: |_, new, _| load_balancer_warnings(new), ..Strategy::NONE },
    )],
    strategy: Strategy { validate, warnings, ..Strategy::NONE },
    ..Rules::ORDINARY
};

/// A new ingress ought to name its class in a field.
fn warnings(_: &Context<'_>, ingress: &Value, old: Option<&Value>) -> Vec<String> {
    let annotated = meta::annotations(ingress).get(CLASS).is_some();
    match old.is_none() && annotated && ingress["spec"].get("ingressClassName").is_none() {
        true => vec![format!("annotation {CLASS:?} is deprecated, please use 'spec.ingressClassName' instead")],
        false => Vec::new(),
    }
}

fn at(ingress: &Value) -> At<'static, '_> {
    At::object(ingress, "networking.k8s.io/v1", "Ingress")
}

fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let ingress = at(new);
    let spec = ingress.field("spec");
    let (backend, rules) = (spec.field("defaultBackend"), spec.field("rules"));
    if rules.is_empty() && !backend.is_set() {
        rules.shown_at(spec.path()).invalid("either `defaultBackend` or `rules` must be specified", errors);
    }
    if backend.is_set() {
        self::backend(backend, name::dns_label, errors);
    }
    let old_spec = old.map(at);
    let old_spec = old_spec.as_ref().map(|old| old.field("spec"));
    let any_wildcard = old_spec.is_some_and(has_invalid_wildcard);
    for rule in rules.items() {
        let is_wildcard = host(rule.field("host"), errors);
        if !(is_wildcard && any_wildcard) {
            paths(rule, name::dns_label, errors);
        }
    }
    let any_secret = old_spec.is_some_and(has_invalid_secret);
    for tls in spec.field("tls").items() {
        for host in tls.field("hosts").items() {
            host.follows(
                if host.text().contains('*') { name::wildcard_dns_subdomain } else { name::dns_subdomain },
                errors,
            );
        }
        if !any_secret {
            tls.field("secretName").optional(name::dns_subdomain, errors);
        }
    }
    let class = spec.field("ingressClassName");
    if class.is_set() {
        class.follows(name::dns_subdomain, errors);
    }
    let annotated = meta::annotations(new).get(CLASS).filter(|_| old.is_none() && class.is_set());
    if let Some(annotated) = annotated.filter(|annotated| *annotated != class.text()) {
        let annotations = Path::new("annotations");
        errors.invalid(annotations.child(CLASS), annotated, "must match `ingressClassName` when both are specified");
    }
}

/// Rules for the host of a rule; true if it is a wildcard.
fn host(host: At<'_, '_>, errors: &mut Errors) -> bool {
    if ip::parse(host.text()).is_some() {
        host.invalid("must be a DNS name, not an IP address", errors);
    }
    let is_wildcard = host.text().contains('*');
    host.optional(if is_wildcard { name::wildcard_dns_subdomain } else { name::dns_subdomain }, errors);
    is_wildcard
}

/// `validateHTTPIngressRuleValue`; `service` is the rule for names of services.
fn paths(rule: At<'_, '_>, service: fn(&str) -> Vec<String>, errors: &mut Errors) {
    let (http, paths) = (rule.field("http"), rule.field("http.paths"));
    if http.is_set() {
        paths.set(errors);
    }
    for path in paths.items() {
        self::path(path, service, errors);
    }
}

fn path(at: At<'_, '_>, service: fn(&str) -> Vec<String>, errors: &mut Errors) {
    const SEQUENCES: [&str; 5] = ["//", "/./", "/../", "%2f", "%2F"];
    const SUFFIXES: [&str; 2] = ["/..", "/."];
    let (path, type_) = (at.field("path"), at.field("pathType"));
    if !type_.is_set() {
        return type_.required("pathType must be specified", errors);
    }
    let text = path.text();
    let is_exact = match type_.text() {
        "Exact" | "Prefix" => true,
        "ImplementationSpecific" => false,
        _ => {
            type_.unsupported(&["Exact", "ImplementationSpecific", "Prefix"], errors);
            return backend(at.field("backend"), service, errors);
        }
    };
    if !text.starts_with('/') && (is_exact || !text.is_empty()) {
        path.invalid("must be an absolute path", errors);
    }
    if is_exact {
        for sequence in SEQUENCES.iter().filter(|sequence| text.contains(**sequence)) {
            path.invalid(format!("must not contain '{sequence}'"), errors);
        }
        for suffix in SUFFIXES.iter().filter(|suffix| text.ends_with(**suffix)) {
            path.invalid(format!("cannot end with '{suffix}'"), errors);
        }
    }
    backend(at.field("backend"), service, errors);
}

/// `validateIngressBackend`.
fn backend(backend: At<'_, '_>, service: fn(&str) -> Vec<String>, errors: &mut Errors) {
    let (resource, own) = (backend.field("resource"), backend.field("service"));
    match (resource.is_set(), own.is_set()) {
        (true, true) => backend.invalid_value("", "cannot set both resource and service backends", errors),
        (true, false) => reference(resource, errors),
        (false, true) => {
            own.field("name").required_by(service, errors);
            let (name, number) = (own.field("port.name"), own.field("port.number"));
            match (name.text(), number.number().unwrap_or_default()) {
                ("", 0) => backend.required("port name or number is required", errors),
                ("", given) => port_number(number.path(), given, errors),
                (_, 0) => name.follows(port_name, errors),
                _ => backend.invalid_value("", "cannot set both port name & port number", errors),
            }
        }
        (false, false) => backend.invalid_value("", "resource or service backend is required", errors),
    }
}

/// `validateIngressTypedLocalObjectReference`.
fn reference(reference: At<'_, '_>, errors: &mut Errors) {
    let group = reference.field("apiGroup");
    if group.is_set() {
        group.follows(name::dns_subdomain, errors);
    }
    reference.field("kind").required_by(name::path_segment, errors);
    reference.field("name").required_by(name::path_segment, errors);
}

/// Whether a rule for a wildcard broke another rule before, also one for the names of services that is gone
/// (`allowInvalidWildcardHostRule`).
fn has_invalid_wildcard(spec: At<'_, '_>) -> bool {
    let is_invalid = |rule| !Errors::of(|errors| paths(rule, name::dns1035_label, errors)).is_empty();
    spec.field("rules").items().any(|rule| rule.field("host").text().contains('*') && is_invalid(rule))
}

/// `allowInvalidSecretName`.
fn has_invalid_secret(spec: At<'_, '_>) -> bool {
    let is_invalid = |name: &str| !name.is_empty() && !name::dns_subdomain(name).is_empty();
    spec.field("tls").items().any(|tls| is_invalid(tls.field("secretName").text()))
}

/// `ValidateIngressLoadBalancerStatus`.
fn status(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let ingress = at(new);
    for point in ingress.field("status.loadBalancer.ingress").items() {
        load_balancer_address(point.path(), point.value(), old, errors);
        load_balancer_hostname(point.path(), point.value(), errors);
    }
}

const INGRESS_CELLS: &[(&str, Cell)] = &[
    ("Class", |ingress, _| ingress["spec"]["ingressClassName"].as_str().unwrap_or("<none>").into()),
    ("Hosts", |ingress, _| hosts(items(ingress, "/spec/rules")).into()),
    ("Address", |ingress, _| {
        let points = items(ingress, "/status/loadBalancer/ingress").iter();
        let addresses = points.map(|point| match text(point, "/ip") {
            "" => text(point, "/hostname"),
            ip => ip,
        });
        let addresses: BTreeSet<&str> = addresses.filter(|address| !address.is_empty()).collect();
        addresses.into_iter().collect::<Vec<_>>().join(",").into()
    }),
    ("Ports", |ingress, _| if items(ingress, "/spec/tls").is_empty() { "80".into() } else { "80, 443".into() }),
];

/// `formatHosts`: the first three hosts, and how many rules there are beyond three.
fn hosts(rules: &[Value]) -> String {
    const SHOWN: usize = 3;
    let mut hosts = Vec::new();
    let mut more = false;
    for rule in rules {
        more |= hosts.len() == SHOWN;
        match text(rule, "/host") {
            "" => {}
            host if !more => hosts.push(host),
            _ => {}
        }
    }
    match hosts.join(",") {
        none if none.is_empty() => "*".into(),
        shown if more => format!("{shown} + {} more...", rules.len() - SHOWN),
        shown => shown,
    }
}
