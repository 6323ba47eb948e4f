//! Expressions in CEL that admission evaluates over writes.
//!
//! ```text
//!   Compilation ──expression()──▶ Expression
//!       │ finish()                    │
//!       ▼                             ▼
//!     Scope + Subject ──▶ Evaluation::evaluate(expression, budget) ──▶ a value, or the message of an error
//! ```
//! A [`Scope`] is what the expressions of one policy or webhook share: the variables that they define, and the parts of objects that they
//! read. It is compiled once. A [`Subject`] is a write in the version that a rule has matched, and an [`Evaluation`] a round of evaluations
//! in which each variable is computed at most once.
//!
//! Follows `pkg/admission/plugin/cel` and `pkg/admission/plugin/webhook/matchconditions` of `k8s.io/apiserver` (v0.37.1).

mod authorizer;
mod compilation;
mod conditions;
mod evaluation;
mod subject;
mod values;
mod variables;

pub(crate) use compilation::{Compilation, Expression, Scope};
pub(crate) use conditions::{Conditions, Matched};
pub(crate) use evaluation::{BUDGET, Evaluation, Stop, truth};
pub(crate) use subject::Subject;
