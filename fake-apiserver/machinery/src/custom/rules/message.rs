//! The messages that expressions give: `evalMessageExpression` of `pkg/apiserver/schema/cel/validation.go` of
//! `k8s.io/apiextensions-apiserver` (v0.37.1).

use crate::schema::quote;
use kubernetes_cel::{EvalError, Outcome, Value};

/// `MaxEvaluatedMessageExpressionSizeBytes`.
const MAX_BYTES: usize = 5 * 1024;

/// The reason that an expression gave no message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoMessage {
    /// The rule's other message is used.
    Harmless,
    /// Nothing else is evaluated, for this reason.
    Ends(String),
}

/// The message that an expression gave; `is_over` says that the budget of the object was too small.
pub(super) fn of(result: Outcome, is_over: bool, expression: &str) -> Result<String, NoMessage> {
    if is_over {
        let why = "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run";
        return Err(NoMessage::Ends(why.to_owned()));
    }
    match result {
        Ok(Value::String(text)) => {
            let text = text.trim();
            let good = !text.is_empty() && text.len() <= MAX_BYTES && !text.contains('\n');
            if good { Ok(text.to_owned()) } else { Err(NoMessage::Harmless) }
        }
        Err(EvalError::CostLimitExceeded) => Err(NoMessage::Ends(format!(
            "no further validation rules will be run due to call cost exceeds limit for messageExpression: {}",
            quote(expression)
        ))),
        Ok(_) | Err(_) => Err(NoMessage::Harmless),
    }
}
