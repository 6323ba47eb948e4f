//! Validation of policies.
//!
//! Follows `pkg/apis/admissionregistration/validation/validation.go`, and the types of expressions in
//! `pkg/admission/plugin/policy/{validating,mutating}` of `k8s.io/apiserver` (v1.37.1).

use super::checks::{Checks, Given};
use super::expressions::Names;
use super::rules::{
    FAILURE_POLICIES, match_conditions, match_resources, mutating_operations, set_and_supported, supported_if_set,
};
use super::webhooks::REINVOCATION_POLICIES;
use crate::custom::json_path::JsonPath;
use crate::error::Errors;
use crate::object::{meta, name};
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::types::conditions;
use crate::registry::{items, text};
use kubernetes_cel::{Type, is_reserved};
use std::collections::{HashMap, HashSet};
use tree::Value;

const MAX_ANNOTATIONS: usize = 20;
/// `maxAuditAnnotationValueExpressionLength`, in bytes.
const MAX_VALUE_EXPRESSION: usize = 5 * 1024;
const REASONS: &[&str] = &["Forbidden", "Invalid", "RequestEntityTooLarge"];
const PATCH_TYPES: &[&str] = &["ApplyConfiguration", "JSONPatch"];
/// A policy under validation.
struct Policy<'p, 'v> {
    spec: At<'p, 'v>,
    old: Option<At<'p, 'v>>,
    checks: Checks<'p>,
    params: bool,
    /// The expressions that lists had before, in fields of their items.
    stored: HashMap<(&'static str, &'static str), HashSet<&'v str>>,
}

/// `validateValidatingAdmissionPolicy`, without the metadata.
pub(super) fn validating(context: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let at = |object| At::object(object, "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy");
    let object = at(new);
    let spec = object.field("spec");
    let checks = match spec.field("variables").is_empty() {
        true => Checks::new(context.deadline),
        false => Checks::composing(context.deadline),
    };
    let mut policy = Policy::new(spec, old.map(at), checks);
    policy.common(false, errors);
    let (validations, annotations) = (spec.field("validations"), spec.field("auditAnnotations"));
    if validations.is_empty() && annotations.is_empty() {
        for list in [validations, annotations] {
            list.required("validations or auditAnnotations must contain at least one item", errors);
        }
        return;
    }
    for validation in validations.items() {
        policy.validation(validation, errors);
    }
    policy.annotations(annotations, meta::name(new), errors);
}

/// `validateMutatingAdmissionPolicy`, without the metadata.
pub(super) fn mutating(context: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let at = |object| At::object(object, "admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy");
    let object = at(new);
    let spec = object.field("spec");
    let mut policy = Policy::new(spec, old.map(at), Checks::composing(context.deadline));
    policy.common(true, errors);
    let mutations = spec.field("mutations");
    if mutations.is_empty() {
        mutations.required("mutations must contain at least one item", errors);
    }
    for mutation in mutations.items() {
        policy.mutation(mutation, errors);
    }
    let reinvocation = spec.field("reinvocationPolicy");
    reinvocation.one_of(REINVOCATION_POLICIES, errors);
}

impl<'p, 'v> Policy<'p, 'v> {
    fn new(spec: At<'p, 'v>, old: Option<At<'p, 'v>>, checks: Checks<'p>) -> Self {
        Policy { spec, old, checks, params: spec.field("paramKind").is_set(), stored: HashMap::new() }
    }

    /// The expressions that a list had before, in a field of its items.
    fn stored(&mut self, list: &'static str, field: &'static str) -> &HashSet<&'v str> {
        self.stored.entry((list, field)).or_insert_with(|| {
            let before = self.old.map(|old| items(old.value(), list)).unwrap_or_default();
            before.iter().map(|item| text(item, field)).filter(|text| !text.is_empty()).collect()
        })
    }

    /// The variables of an expression about a request.
    fn names(&self, patches: bool) -> Names {
        Names { params: self.params, authorizer: true, patches }
    }

    /// The rules of both kinds, up to the variables.
    fn common(&mut self, is_mutating: bool, errors: &mut Errors) {
        let spec = self.spec;
        set_and_supported(spec.field("failurePolicy"), FAILURE_POLICIES, errors);
        let kind = spec.field("paramKind");
        if kind.is_set() {
            param_kind(kind, errors);
        }
        let constraints = spec.field("matchConstraints");
        match constraints.is_set() {
            true => {
                match_resources(constraints, errors);
                constraints.field("resourceRules").set(errors);
                if is_mutating {
                    mutating_operations(constraints, errors);
                }
            }
            false => constraints.required("", errors),
        }
        let conditions = spec.field("matchConditions");
        if !self.are_conditions_unchanged() {
            let (mut checks, params) = (Checks::new(self.checks.deadline()), self.params);
            let stored = self.stored("/spec/matchConditions", "/expression");
            match_conditions(conditions, &mut checks, params, stored, errors);
        }
        for variable in spec.field("variables").items() {
            self.variable(variable, errors);
        }
    }

    /// Whether an update leaves conditions as they were, which are then not checked again.
    fn are_conditions_unchanged(&self) -> bool {
        self.old.is_some_and(|old| {
            let same = |field| self.spec.field(field).equals(&old.field("spec").field(field));
            ["paramKind", "matchConditions"].into_iter().all(same)
        })
    }

    /// `validateVariable`.
    fn variable(&mut self, variable: At<'_, 'v>, errors: &mut Errors) {
        let (name, expression) = (variable.field("name"), variable.field("expression"));
        match name.text() {
            text if text.trim().is_empty() => name.required("name is not specified", errors),
            text if !is_identifier(text) => name.invalid("must be a valid CEL identifier", errors),
            _ => {}
        }
        if expression.text().trim().is_empty() {
            return expression.required("expression is not specified", errors);
        }
        let is_stored = self.stored("/spec/validations", "/expression").contains(expression.text());
        let shown = expression.text();
        let given = Given { text: shown, shown, names: self.names(false), expected: &[], is_stored };
        self.checks.variable(name.text(), &expression, given, errors);
    }

    /// `validateValidation`.
    fn validation(&mut self, validation: At<'_, 'v>, errors: &mut Errors) {
        let expression = validation.field("expression");
        match expression.text() {
            blank if blank.trim().is_empty() => expression.required("expression is not specified", errors),
            text => {
                let is_stored = self.stored("/spec/validations", "/expression").contains(text);
                let names = self.names(false);
                let given = Given { text, shown: text, names, expected: &[Type::Bool], is_stored };
                self.checks.check(&expression, given, errors);
            }
        }
        let by_expression = validation.field("messageExpression");
        match by_expression.text() {
            "" => {}
            blank if blank.trim().is_empty() => by_expression.invalid("must be non-empty if specified", errors),
            text => {
                let is_stored = self.stored("/spec/validations", "/messageExpression").contains(text);
                let names = Names { params: self.params, ..Names::default() };
                let given = Given { text, shown: text, names, expected: &[Type::String], is_stored };
                self.checks.check(&by_expression, given, errors);
            }
        }
        let message = validation.field("message");
        match message.text().trim() {
            "" if !message.is_empty() => message.invalid("must be non-empty if specified", errors),
            text if text.contains(['\n', '\r']) => message.invalid("must not contain line breaks", errors),
            _ => {}
        }
        supported_if_set(validation.field("reason"), REASONS, errors);
    }

    /// The audit annotations of a policy of that name.
    fn annotations(&mut self, list: At<'_, 'v>, policy: &str, errors: &mut Errors) {
        if list.len() > MAX_ANNOTATIONS {
            list.invalid(format!("must not have more than {MAX_ANNOTATIONS} auditAnnotations"), errors);
        }
        let mut keys = HashSet::new();
        for annotation in list.items() {
            self.annotation(annotation, policy, errors);
            let key = annotation.field("key");
            if !keys.insert(key.text()) {
                key.duplicate(errors);
            }
        }
    }

    /// `validateAuditAnnotation`.
    fn annotation(&mut self, annotation: At<'_, 'v>, policy: &str, errors: &mut Errors) {
        let (key, expression) = (annotation.field("key"), annotation.field("valueExpression"));
        if policy.is_empty() {
            key.invalid("requires metadata.name be non-empty", errors);
        } else {
            let whole = format!("{policy}/{}", key.text());
            errors.invalid_each(key.path(), &whole, name::label_key(&whole));
        }
        match expression.text().trim() {
            "" => expression.required("valueExpression is not specified", errors),
            text if text.len() > MAX_VALUE_EXPRESSION => {
                expression.required(&format!("must not exceed {MAX_VALUE_EXPRESSION} bytes in length"), errors);
            }
            text => {
                let shown = expression.text();
                let is_stored = self.stored("/spec/auditAnnotations", "/valueExpression").contains(shown);
                let expected = &[Type::String, Type::Null];
                let given = Given { text, shown, names: self.names(false), expected, is_stored };
                self.checks.check(&expression, given, errors);
            }
        }
    }

    /// `validateMutation`.
    fn mutation(&mut self, mutation: At<'_, 'v>, errors: &mut Errors) {
        let type_ = mutation.field("patchType");
        let (field, other, expected) = match type_.text() {
            "ApplyConfiguration" => ("applyConfiguration", "jsonPatch", Type::object("Object")),
            "JSONPatch" => ("jsonPatch", "applyConfiguration", Type::list(Type::object("JSONPatch"))),
            "" => return type_.required("", errors),
            _ => return type_.unsupported(PATCH_TYPES, errors),
        };
        let (patch, unwanted) = (mutation.field(field), mutation.field(other));
        match patch.is_set() {
            true => self.patch(patch, expected, errors),
            false => patch.required(&format!("must be specified when patchType is {}", type_.text()), errors),
        }
        if unwanted.is_set() {
            let detail = format!("must not be specified when patchType is {}", type_.text());
            unwanted.invalid_value(format!("{{{other}}}"), detail, errors);
        }
    }

    /// `validateApplyConfiguration` and `validateJSONPatch`.
    fn patch(&mut self, patch: At<'_, 'v>, expected: Type, errors: &mut Errors) {
        let expression = patch.field("expression");
        match expression.text().trim() {
            "" => expression.required("", errors),
            text => {
                // Upstream looks among the apply configurations for both.
                let stored = self.stored("/spec/mutations", "/applyConfiguration/expression");
                let is_stored = stored.contains(expression.text());
                let given = Given { text, shown: text, names: self.names(true), expected: &[expected], is_stored };
                self.checks.check(&expression, given, errors);
            }
        }
    }
}

/// `isCELIdentifier`.
fn is_identifier(text: &str) -> bool {
    name::c_identifier(text).is_empty() && !is_reserved(text)
}

/// `validateParamKind`.
fn param_kind(kind: At<'_, '_>, errors: &mut Errors) {
    let version = kind.field("apiVersion");
    match version.text() {
        "" => version.required("", errors),
        "/" => version.invalid("version must be specified", errors),
        text => match text.split('/').collect::<Vec<_>>().as_slice() {
            [version] => self::version(kind, "", version, errors),
            [group, version] => self::version(kind, group, version, errors),
            _ => version.invalid(format!("unexpected GroupVersion string: {text}"), errors),
        },
    }
    let name = kind.field("kind");
    let objections = name::dns1035_label(&name.text().to_lowercase());
    if name.is_empty() {
        name.required("", errors);
    } else if !objections.is_empty() {
        name.invalid(format!("may have mixed case, but should otherwise match: {}", objections.join(",")), errors);
    }
}

fn version(kind: At<'_, '_>, group: &str, version: &str, errors: &mut Errors) {
    let at = kind.field("apiVersion");
    let objections = name::dns_subdomain(group);
    if !group.is_empty() && !objections.is_empty() {
        at.invalid_value(group, objections.join(","), errors);
    }
    let objections = name::dns1035_label(version);
    match version {
        "" => at.invalid("version must be specified", errors),
        _ if !objections.is_empty() => at.invalid_value(version, objections.join(","), errors),
        _ => {}
    }
}

/// `validateValidatingAdmissionPolicyStatus`.
pub(super) fn status(_: &Context<'_>, policy: &Value, _: Option<&Value>, errors: &mut Errors) {
    let object = At::object(policy, "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy");
    let status = object.field("status");
    for warning in status.field("typeChecking.expressionWarnings").items() {
        warning.field("warning").set(errors);
        let reference = warning.field("fieldRef");
        match reference.text().trim() {
            "" => reference.required("", errors),
            text => {
                let path = text.strip_prefix(['.', '$']).unwrap_or(text);
                if JsonPath::parse(&format!(".{path}")).is_none() {
                    reference.invalid_value(text, "invalid JSONPath", errors);
                }
            }
        }
    }
    conditions(status.field("conditions"), errors);
}
