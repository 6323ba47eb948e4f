//! Match conditions: expressions that say whether a policy or a webhook is about a write.
//!
//! Follows `pkg/admission/plugin/webhook/matchconditions/matcher.go` of `k8s.io/apiserver` (v0.37.1).

use super::compilation::{Compilation, Expression, Scope};
use super::evaluation::{Evaluation, Stop, truth};
use super::subject::Subject;
use crate::coverage::Owner;
use crate::error::{ApiResult, aggregate};
use crate::registry::expressions::Names;
use kubernetes_cel::{Bindings, Type, Value};

/// `RuntimeCELCostBudgetMatchConditions`.
const BUDGET: u64 = 2_500_000;

/// Compiled conditions, in their order.
#[derive(Debug, Default)]
pub(crate) struct Conditions(Vec<Expression>);

/// The object that has the conditions, and what stands before each of them where it is counted.
pub(crate) type Whose<'o> = (Owner<'o>, &'o str);

/// The result of conditions.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Matched {
    /// All are true.
    Yes,
    /// One is false, or some have errors that are ignored.
    No,
    /// Some have errors, and none is false: the message.
    Failed(String),
}

impl Conditions {
    /// Compiles the items of a field `matchConditions`.
    pub(crate) async fn compile(conditions: &[tree::Value], names: Names, compilation: &mut Compilation) -> Conditions {
        let mut compiled = Vec::with_capacity(conditions.len());
        for condition in conditions {
            let text = condition["expression"].as_str().unwrap_or_default();
            compiled.push(compilation.expression(text, names, &[Type::Bool]).await);
        }
        Conditions(compiled)
    }

    /// Compiles the conditions of a webhook, which can name neither parameters nor variables, and returns them with their scope.
    pub(crate) async fn of_webhook(conditions: Vec<tree::Value>) -> (Conditions, Scope) {
        let names = Names { authorizer: true, ..Names::default() };
        let mut compilation = Compilation::default();
        (Conditions::compile(&conditions, names, &mut compilation).await, compilation.finish())
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a webhook with these conditions is about a write. Errors are ignored unless it `fails` with them.
    ///
    /// # Errors
    /// 504, if the deadline of the request has passed.
    pub(crate) fn match_webhook(
        &self,
        scope: &Scope,
        subject: &Subject<'_>,
        fails: bool,
        whose: Whose<'_>,
    ) -> ApiResult<Matched> {
        self.matches(scope, &subject.for_conditions(scope, None), subject, fails, whose)
    }

    /// Whether a policy with these conditions is about a write, whose values are in `bindings`. Errors are ignored unless it `fails` with
    /// them.
    ///
    /// # Errors
    /// 504, if the deadline of the request has passed.
    pub(crate) fn matches(
        &self,
        scope: &Scope,
        bindings: &Bindings,
        subject: &Subject<'_>,
        fails: bool,
        (owner, what): Whose<'_>,
    ) -> ApiResult<Matched> {
        let failed = |message: String| Ok(if fails { Matched::Failed(message) } else { Matched::No });
        let evaluation = Evaluation::new(scope, bindings, subject.write.deadline);
        let (mut budget, mut errors, mut is_false) = (BUDGET, Vec::new(), false);
        // An error in one condition is outweighed by another one that is false.
        for condition in &self.0 {
            let decided = evaluation.evaluate(condition, &mut budget);
            if let (Some(coverage), Ok(value)) = (subject.write.server.coverage, &decided) {
                coverage.decided(owner, what, &condition.text, truth(value));
            }
            match decided {
                Ok(Ok(value)) => is_false |= matches!(value, Value::Bool(false)),
                Ok(Err(error)) => errors.push(error),
                Err(Stop::Ended(error)) => return Err(error),
                Err(stop) => return failed(stop.to_string()),
            }
        }
        match (is_false, errors.is_empty()) {
            (true, _) => Ok(Matched::No),
            (false, true) => Ok(Matched::Yes),
            (false, false) => failed(aggregate(errors)),
        }
    }
}
