//! A round of evaluations, and what they may cost.
//!
//! Follows `Evaluate` of `pkg/admission/plugin/cel/activation.go` of `k8s.io/apiserver` (v0.37.1).

use super::compilation::{Expression, Scope};
use super::variables::Variables;
use crate::deadline::Deadline;
use crate::error::ApiError;
use kubernetes_cel::{Bindings, Budget, Map, PER_CALL_LIMIT, Value};
use std::fmt;
use std::sync::Arc;

/// The budget of the expressions of a policy for one write (`RuntimeCELCostBudget`), in units of cost.
pub(crate) const BUDGET: u64 = 10_000_000;

/// The evaluation of expressions of one scope over one write. A variable is computed when the first of them reads it.
pub(crate) struct Evaluation<'d> {
    bindings: Bindings,
    variables: Option<Arc<Variables>>,
    deadline: &'d Deadline,
}

/// The value of an expression, or the message of its error.
pub(crate) type Evaluated = Result<Value, String>;

/// The reason why no more expressions are evaluated.
#[derive(Debug)]
pub(crate) enum Stop {
    /// They have cost more than their budget.
    OutOfBudget,
    /// The deadline of the request has passed.
    Ended(ApiError),
}

impl<'d> Evaluation<'d> {
    /// A round of evaluations with these values of variables.
    pub(crate) fn new(scope: &Scope, bindings: &Bindings, deadline: &'d Deadline) -> Self {
        let mut bindings = bindings.clone();
        let variables =
            (!scope.variables.is_empty()).then(|| Variables::new(scope.variables.clone(), bindings.clone(), deadline));
        if let Some(variables) = &variables {
            bindings.set("variables", Value::Map(Map::Computed(variables.clone())));
        }
        Evaluation { bindings, variables, deadline }
    }

    /// The values of expressions, with `None` in the places where there are none.
    ///
    /// # Errors
    /// As [`Self::evaluate`].
    pub(crate) fn all<'e>(
        &self,
        expressions: impl Iterator<Item = Option<&'e Expression>>,
        budget: &mut u64,
    ) -> Result<Vec<Option<Evaluated>>, Stop> {
        expressions.map(|expression| expression.map(|one| self.evaluate(one, budget)).transpose()).collect()
    }

    /// The value of an expression, or the message of its error. Its cost is taken from the budget.
    ///
    /// # Errors
    /// If the budget does not suffice, or the deadline has passed.
    pub(crate) fn evaluate(&self, expression: &Expression, budget: &mut u64) -> Result<Evaluated, Stop> {
        self.deadline.check().map_err(Stop::Ended)?;
        let code = match &expression.code {
            Ok(code) => code,
            Err(error) => return Ok(Err(format!("compilation error: {error}"))),
        };
        let interrupt = || self.deadline.check().is_err();
        let mut spent = Budget::new(PER_CALL_LIMIT).interrupted_by(&interrupt);
        let value = code.program.evaluate(&self.bindings, &mut spent);
        self.deadline.check().map_err(Stop::Ended)?;
        for cost in [self.variables.as_ref().map_or(0, |variables| variables.take_cost()), spent.cost()] {
            *budget = budget.checked_sub(cost).ok_or(Stop::OutOfBudget)?;
        }
        Ok(value.map_err(|error| format!("expression '{}' resulted in error: {error}", expression.text)))
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::OutOfBudget => f.write_str(
                "validation failed due to running out of cost budget, no further validation rules will be run",
            ),
            Stop::Ended(error) => error.fmt(f),
        }
    }
}
