//! The audit annotations of validating policies.

use crate::admission::policies::{Action, Binding};
use crate::schema::encode_any;
use std::borrow::Cow;
use tree::{Value, json};

/// The key of the annotation with all failed validations.
pub(super) const FAILURES: &str = "validation.policy.admission.k8s.io/validation_failure";
/// `maxValidationFailures`.
const MAX_FAILURES: usize = 50;
/// `maxAuditAnnotationValueLength`, in bytes.
const MAX_VALUE: usize = 10 * 1024;

/// A failed validation: `ValidationFailureValue`.
pub(super) struct Failure {
    message: String,
    policy: String,
    binding: String,
    index: usize,
    actions: Vec<Action>,
}

impl Failure {
    /// The failure of the validation at that place among those of the policy.
    pub(super) fn of(binding: &Binding, index: usize, message: &str) -> Self {
        Failure {
            message: message.to_owned(),
            policy: binding.policy.clone(),
            binding: binding.name.clone(),
            index,
            actions: binding.actions.clone(),
        }
    }
}

/// Failures as JSON, in Go's order of fields. If there are too many, the first of them.
pub(super) fn print(failures: &[Failure]) -> String {
    let text = |text: &str| encode_any(&text.into());
    let print = |failure: &Failure| {
        let Failure { message, policy, binding, index, actions } = failure;
        let actions: Value = actions.iter().map(|action| action.name()).collect();
        format!(
            r#"{{"message":{},"policy":{},"binding":{},"expressionIndex":{index},"validationActions":{}}}"#,
            text(message),
            text(policy),
            text(binding),
            encode_any(&json!(actions)),
        )
    };
    let all: Vec<String> = failures.iter().take(MAX_FAILURES).map(print).collect();
    format!("[{}]", all.join(","))
}

/// The values that a policy publishes, by key.
#[derive(Default)]
pub(super) struct Annotations<'p>(Vec<(&'p str, Vec<String>)>);

impl<'p> Annotations<'p> {
    /// Adds a value, unless the key has it.
    pub(super) fn add(&mut self, key: &'p str, value: &str) {
        let value = machinery::text::beginning(value, MAX_VALUE);
        match self.0.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) if values.iter().any(|known| known == value) => {}
            Some((_, values)) => values.push(value.to_owned()),
            None => self.0.push((key, vec![value.to_owned()])),
        }
    }

    /// The annotations of the policy of that name.
    pub(super) fn published(self, policy: &str) -> impl Iterator<Item = (Cow<'static, str>, String)> {
        self.0.into_iter().map(move |(key, values)| (format!("{policy}/{key}").into(), values.join(", ")))
    }
}
