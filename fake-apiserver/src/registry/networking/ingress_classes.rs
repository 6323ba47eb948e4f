//! Classes of ingresses.
//!
//! Follows `pkg/registry/networking/ingressclass/strategy.go`, `ValidateIngressClass` and `ValidateIngressClassUpdate` of
//! `pkg/apis/networking/validation/validation.go`, `SetDefaults_IngressClass` of `pkg/apis/networking/v1/defaults.go` and
//! `printIngressClass` of `pkg/printers/internalversion/printers.go` (v1.37.1).

use crate::error::{Errors, FieldError};
use crate::object::domain_path::domain_prefixed_path;
use crate::object::{meta, name};
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::defaults::Fill::OptionalText;
use crate::registry::defaults::fill;
use crate::registry::rules::{Rules, Strategy};
use crate::registry::text;
use tree::Value;

/// `AnnotationIsDefaultIngressClass`.
const DEFAULT_CLASS: &str = "ingressclass.kubernetes.io/is-default-class";
/// `maxLenIngressClassController`, in bytes.
const LONGEST_CONTROLLER: usize = 250;

pub(in crate::registry) const RULES: Rules = Rules {
    owns_generation: true,
    cells: &[
        ("Name", |class, _| {
            let is_default = meta::annotations(class).get(DEFAULT_CLASS) == Some("true");
            format!("{}{}", meta::name(class), if is_default { " (default)" } else { "" }).into()
        }),
        ("Controller", |class, _| text(class, "/spec/controller").into()),
        ("Parameters", |class, _| parameters(class).into()),
    ],
    strategy: Strategy {
        default: |class| fill(class, &[("spec/parameters", &[("scope", OptionalText("Cluster"))])]),
        validate,
        ..Strategy::NONE
    },
    ..Rules::ORDINARY
};

fn at(class: &Value) -> At<'static, '_> {
    At::object(class, "networking.k8s.io/v1", "IngressClass")
}

fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let class = at(new);
    let controller = class.field("spec.controller");
    if let Some(old) = old.map(at) {
        controller.immutable(&old.field("spec.controller"), errors);
    }
    if controller.text().len() > LONGEST_CONTROLLER {
        errors.push(FieldError::too_long(controller.path(), LONGEST_CONTROLLER));
    }
    domain_prefixed_path(controller.path(), controller.text(), errors);
    let parameters = class.field("spec.parameters");
    if parameters.is_set() {
        reference(parameters, errors);
    }
}

/// `validateIngressClassParametersReference`; the scope has a default.
fn reference(reference: At<'_, '_>, errors: &mut Errors) {
    let group = reference.field("apiGroup");
    if group.is_set() {
        group.follows(name::dns_subdomain, errors);
    }
    for field in ["kind", "name"] {
        let field = reference.field(field);
        match field.is_empty() {
            true => errors.covered("", |errors| field.required("", errors)),
            false => field.follows(name::path_segment, errors),
        }
    }
    let (scope, namespace) = (reference.field("scope"), reference.field("namespace"));
    match (scope.text(), namespace.is_set()) {
        ("Namespace", false) => namespace.required("`parameters.scope` is set to 'Namespace'", errors),
        ("Namespace", true) => namespace.follows(name::dns_label, errors),
        ("Cluster", true) => namespace.forbidden("`parameters.scope` is set to 'Cluster'", errors),
        ("Cluster", false) => {}
        _ => scope.unsupported(&["Cluster", "Namespace"], errors),
    }
}

/// The parameters of a class: kind, group and name.
fn parameters(class: &Value) -> String {
    let Some(parameters) = class["spec"].get("parameters") else { return "<none>".into() };
    let group = parameters.get("apiGroup").and_then(Value::as_str).map(|group| format!(".{group}"));
    format!("{}{}/{}", text(parameters, "/kind"), group.unwrap_or_default(), text(parameters, "/name"))
}
