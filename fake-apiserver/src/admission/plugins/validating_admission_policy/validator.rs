//! A compiled policy, and its evaluation over a write.
//!
//! Follows `pkg/admission/plugin/policy/validating/{plugin,validator}.go` of `k8s.io/apiserver` (v0.37.1).

use crate::admission::cel::{
    BUDGET, Compilation, Conditions, Evaluation, Expression, Matched, Scope, Stop, Subject, truth,
};
use crate::admission::policies::{Compile, Parameter, Policy};
use crate::coverage::{Owner, VALIDATING_POLICY};
use crate::error::ApiResult;
use crate::index::Place;
use crate::registry::expressions::Names;
use crate::registry::{ids, items, text};
use crate::store::ResourceId;
use kubernetes_cel::{Bindings, Type, Value as CelValue};
use std::time::Duration;
use tree::Value;

/// `MaxEvaluatedMessageExpressionSizeBytes`.
const MAX_MESSAGE: usize = 5 * 1024;

/// A compiled policy.
#[derive(Debug)]
pub(super) struct Validator {
    scope: Scope,
    conditions: Conditions,
    validations: Vec<Validation>,
    /// The audit annotations, by key.
    annotations: Vec<(String, Expression)>,
}

#[derive(Debug)]
struct Validation {
    expression: Expression,
    /// The message that is computed.
    by_expression: Option<Expression>,
    message: String,
    reason: &'static str,
}

/// The result of a policy for a write.
#[derive(Debug, Default)]
pub(super) struct Validated<'p> {
    /// The validations that failed, by their places.
    pub(super) denials: Vec<(usize, Denial)>,
    /// The errors that are ignored.
    pub(super) ignored: Vec<Denial>,
    /// The audit annotations, by key.
    pub(super) annotations: Vec<(&'p str, Published)>,
}

/// A validation that failed.
#[derive(Debug)]
pub(super) struct Denial {
    pub(super) message: String,
    /// The reason in the policy, or "" where it could not be evaluated.
    pub(super) reason: &'static str,
    /// The time that its evaluation took.
    pub(super) elapsed: Duration,
}

/// An audit annotation.
#[derive(Debug)]
pub(super) enum Published {
    Value(String),
    Error(Denial),
}

impl Denial {
    /// The error of an evaluation that took that long.
    fn error(message: String, elapsed: Duration) -> Denial {
        Denial { message, reason: "", elapsed }
    }
}

impl Validated<'_> {
    /// Adds what does not hold at that place: an error, which is ignored unless the policy `fails` with it.
    fn error(&mut self, index: usize, error: Denial, fails: bool) {
        match fails {
            true => self.denials.push((index, error)),
            false => self.ignored.push(error),
        }
    }
}

impl Compile for Validator {
    const POLICIES: ResourceId = ids::VALIDATING_ADMISSION_POLICIES;
    const BINDINGS: ResourceId = ids::VALIDATING_ADMISSION_POLICY_BINDINGS;
    const PLACE: Place = Place::ValidatingPolicies;

    async fn compile(spec: Value) -> Self {
        let spec = &spec;
        let params = spec.get("paramKind").is_some();
        let names = Names { params, authorizer: true, patches: false };
        let of_message = Names { params, ..Names::default() };
        let mut compilation = Compilation::composing();
        compilation.variables(items(spec, "/variables"), names).await;
        let conditions = Conditions::compile(items(spec, "/matchConditions"), names, &mut compilation).await;
        let mut validations = Vec::new();
        for validation in items(spec, "/validations") {
            let expression = compilation.expression(text(validation, "/expression"), names, &[Type::Bool]).await;
            let by_expression = match text(validation, "/messageExpression") {
                "" => None,
                text => Some(compilation.expression(text, of_message, &[Type::String]).await),
            };
            validations.push(Validation {
                expression,
                by_expression,
                message: text(validation, "/message").trim().to_owned(),
                reason: match text(validation, "/reason") {
                    "Forbidden" => "Forbidden",
                    "Unauthorized" => "Unauthorized",
                    "RequestEntityTooLarge" => "RequestEntityTooLarge",
                    _ => "Invalid",
                },
            });
        }
        let mut annotations = Vec::new();
        for annotation in items(spec, "/auditAnnotations") {
            let expected = [Type::String, Type::Null];
            let expression = compilation.expression(text(annotation, "/valueExpression"), names, &expected).await;
            annotations.push((text(annotation, "/key").to_owned(), expression));
        }
        Validator { conditions, validations, annotations, scope: compilation.finish() }
    }
}

impl Validator {
    /// Evaluates the policy, which this is the compiled form of. Errors are denials if it fails with them.
    ///
    /// # Errors
    /// 504, if the deadline of the request has passed.
    pub(super) fn validate(
        &self,
        subject: &Subject<'_>,
        params: Option<&Parameter<'_>>,
        namespace: Option<&Value>,
        policy: &Policy<Validator>,
    ) -> ApiResult<Validated<'_>> {
        let (scope, fails) = (&self.scope, policy.fails);
        let owner = Owner::of_cluster(VALIDATING_POLICY, &policy.name);
        let all_failed = |message: String| {
            let mut validated = Validated::default();
            validated.error(0, Denial::error(message, Duration::ZERO), fails);
            validated
        };
        let params = params.map(Parameter::shown);
        if !self.conditions.is_empty() {
            let bindings = subject.for_conditions(scope, params);
            match self.conditions.matches(scope, &bindings, subject, fails, (owner, "condition"))? {
                Matched::Yes => {}
                Matched::No => return Ok(Validated::default()),
                Matched::Failed(message) => return Ok(all_failed(message)),
            }
        }
        let bindings = subject.for_policy(scope, params, namespace);
        let deadline = subject.write.deadline;
        let mut budget = BUDGET;
        let evaluated = Evaluation::new(scope, &bindings, deadline)
            .all(self.validations.iter().map(|validation| Some(&validation.expression)), &mut budget);
        let values = match evaluated {
            Ok(values) => values,
            Err(Stop::Ended(error)) => return Err(error),
            Err(stop) => return Ok(all_failed(stop.to_string())),
        };
        if let Some(coverage) = subject.write.server.coverage {
            for (validation, (value, _)) in self.validations.iter().zip(values.iter().flatten()) {
                coverage.decided(owner, "validation", &validation.expression.text, truth(value));
            }
        }
        let messages = self.validations.iter().map(|validation| validation.by_expression.as_ref());
        // Messages and annotations cannot ask the authorizer, not even by variables that do.
        let without = without_authorizer(bindings);
        let messages = match Evaluation::new(scope, &without, deadline).all(messages, &mut budget) {
            Err(Stop::Ended(error)) => return Err(error),
            messages => messages.map_err(|stop| stop.to_string()),
        };
        let mut validated = Validated::default();
        let values = self.validations.iter().zip(values.into_iter().flatten());
        for (index, (validation, (value, elapsed))) in values.enumerate() {
            match (value, &messages) {
                (Err(message), _) => validated.error(index, Denial::error(message, elapsed), fails),
                (Ok(_), Err(why)) => {
                    let message = format!("failed messageExpression: {why}");
                    validated.error(index, Denial::error(message, elapsed), fails);
                }
                (Ok(CelValue::Bool(true)), Ok(_)) => {}
                (Ok(_), Ok(messages)) => {
                    let message = messages.get(index).and_then(Option::as_ref).map(|(message, _)| message);
                    let (message, reason) = (validation.message(message), validation.reason);
                    validated.denials.push((index, Denial { message, reason, elapsed }));
                }
            }
        }
        let mut budget = BUDGET;
        let annotations = self.annotations.iter().map(|(_, expression)| Some(expression));
        let values = match Evaluation::new(scope, &without, deadline).all(annotations, &mut budget) {
            Ok(values) => values,
            Err(Stop::Ended(error)) => return Err(error),
            Err(stop) => return Ok(all_failed(stop.to_string())),
        };
        for ((key, expression), (value, elapsed)) in self.annotations.iter().zip(values.into_iter().flatten()) {
            let published = match value {
                Ok(CelValue::Null) => None,
                Ok(CelValue::String(text)) => {
                    Some(text.trim()).filter(|text| !text.is_empty()).map(|text| Published::Value(text.to_owned()))
                }
                Ok(other) => {
                    let message = format!(
                        "valueExpression '{}' resulted in unsupported return type: {}. Return type must be either string or null.",
                        expression.text,
                        other.type_name()
                    );
                    Some(Published::Error(Denial::error(message, elapsed)))
                }
                Err(message) => fails.then(|| Published::Error(Denial::error(message, elapsed))),
            };
            validated.annotations.extend(published.map(|published| (key.as_str(), published)));
        }
        Ok(validated)
    }
}

fn without_authorizer(mut bindings: Bindings) -> Bindings {
    for name in ["authorizer", "authorizer.requestResource"] {
        bindings.unset(name);
    }
    bindings
}

impl Validation {
    /// The message of the failed validation: the computed one if it is good, else the fixed one, or the expression.
    fn message(&self, computed: Option<&Result<CelValue, String>>) -> String {
        let computed = match computed {
            Some(Ok(CelValue::String(text))) => text.trim(),
            _ => "",
        };
        let is_good = !computed.is_empty() && computed.len() <= MAX_MESSAGE && !computed.contains('\n');
        match (is_good, self.message.is_empty()) {
            (true, _) => computed.to_owned(),
            (false, false) => self.message.clone(),
            (false, true) => format!("failed expression: {}", self.expression.text.trim()),
        }
    }
}
