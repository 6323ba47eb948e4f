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
use std::time::Duration;
use tokio::time::Instant;

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

/// Whether a value is true; `None` for an error.
pub(crate) fn truth(value: &Evaluated) -> Option<bool> {
    value.as_ref().ok().map(|value| matches!(value, Value::Bool(true)))
}

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

    /// The values of expressions and the time that each took, with `None` in the places where there are none.
    ///
    /// # Errors
    /// As [`Self::evaluate`].
    pub(crate) fn all<'e>(
        &self,
        expressions: impl Iterator<Item = Option<&'e Expression>>,
        budget: &mut u64,
    ) -> Result<Vec<Option<(Evaluated, Duration)>>, Stop> {
        let mut evaluate = |expression| {
            let started = Instant::now();
            self.evaluate(expression, budget).map(|value| (value, started.elapsed()))
        };
        expressions.map(|expression| expression.map(&mut evaluate).transpose()).collect()
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

#[cfg(test)]
mod tests {
    use super::super::Compilation;
    use super::*;
    use crate::registry::expressions::Names;
    use tokio::runtime::Builder;
    use tree::{Value as Json, json};

    fn evaluated(variables: &[Json], text: &str, budget: &mut u64) -> Result<Evaluated, Stop> {
        let mut compilation = Compilation::composing();
        let expression = Builder::new_current_thread().build().expect("a runtime without timers").block_on(async {
            compilation.variables(variables, Names::default()).await;
            compilation.expression(text, Names::default(), &[]).await
        });
        let deadline = Deadline::default();
        Evaluation::new(&compilation.finish(), &Bindings::new(), &deadline).evaluate(&expression, budget)
    }

    #[test]
    fn a_variable_is_computed_once_and_only_if_it_is_read() {
        let variables = [
            json!({"name": "dear", "expression": "lists.range(500).map(x, lists.range(500)).size()"}),
            json!({"name": "wrong", "expression": "1 / 0 == 1"}),
        ];
        let cost = |text: &str| {
            let mut budget = BUDGET;
            let value = evaluated(&variables, text, &mut budget).expect("the budget suffices");
            assert!(value.is_ok(), "{value:?}");
            BUDGET - budget
        };
        let (unread, once, twice) =
            (cost("1 == 1"), cost("variables.dear > 0"), cost("variables.dear > 0 && variables.dear > 0"));
        assert!(unread < 10 && once > 250_000 && twice < once + 10, "{unread} {once} {twice}");
        let error = evaluated(&variables, "variables.wrong", &mut { BUDGET }).expect("the budget suffices");
        let expected = "expression 'variables.wrong' resulted in error: composited variable \"wrong\" fails to evaluate: division by zero";
        assert_eq!(error.map(drop), Err(expected.to_owned()));
        assert!(matches!(evaluated(&variables, "variables.dear > 0", &mut 1000), Err(Stop::OutOfBudget)));
    }

    #[test]
    fn variables_that_read_each_other_in_a_long_row_are_an_error() {
        let itself = [json!({"name": "a", "expression": "1"}), json!({"name": "a", "expression": "variables.a"})];
        let row = |length: usize| -> Vec<Json> {
            let of = |n: usize| match n {
                0 => json!({"name": "v0", "expression": "1"}),
                n => json!({"name": format!("v{n}"), "expression": format!("variables.v{}", n - 1)}),
            };
            (0..length).map(of).collect()
        };
        for (variables, text, is_good) in [
            (itself.to_vec(), "variables.a == 1", false),
            (row(150), "variables.v149 == 1", true),
            (row(300), "variables.v299 == 1", false),
        ] {
            let value = evaluated(&variables, text, &mut { BUDGET }).expect("the budget suffices");
            assert_eq!(value.is_ok(), is_good, "{value:?}");
        }
    }
}
