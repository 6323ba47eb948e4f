//! The names and types in the expressions of a policy, where they are about objects of one kind.
//!
//! Follows `buildEnvSet` and `CompileCELExpression` of `pkg/admission/plugin/policy/validating/typechecking.go` of `k8s.io/apiserver`
//! (v0.37.1). Unlike where expressions are evaluated there is no `authorizer.requestResource`.

use crate::registry::expressions::{AUTHORIZER_TYPE, COMMON, ENVIRONMENT, VARIABLES_TYPE, composed};
use crate::registry::text;
use kubernetes_cel::{Declarations, Declared, Stage, Type};
use tokio::task::yield_now;
use tree::Value;

/// The names that expressions can use, with their types.
pub(super) struct Environment(Declarations);

impl Environment {
    /// The names of a policy with these variables, for objects and, if it has any, parameters of those types.
    pub(super) async fn new(object: Option<&Declared>, params: Option<Option<&Declared>>, variables: &[Value]) -> Self {
        let mut names = typed(COMMON.clone(), &["object", "oldObject"], object);
        if let Some(params) = params {
            names = typed(names, &["params"], params);
        }
        let names = names.variable("authorizer", Type::object(AUTHORIZER_TYPE));
        let names = names.object(VARIABLES_TYPE, []).variable("variables", Type::object(VARIABLES_TYPE));
        let mut environment = Environment(names);
        for variable in variables {
            let checked = environment.check(text(variable, "/expression"));
            let t = checked.map_or(Type::Dyn, |t| composed(&t));
            environment = Environment(environment.0.field(VARIABLES_TYPE, text(variable, "/name"), t));
            yield_now().await;
        }
        environment
    }

    /// The type of an expression's value.
    ///
    /// # Errors
    /// The findings of the compiler.
    pub(super) fn check(&self, expression: &str) -> Result<Type, String> {
        let compiled = ENVIRONMENT.compile(expression, &self.0, Stage::Stored);
        compiled.map(|compiled| compiled.result_type().clone()).map_err(|error| error.to_string())
    }
}

/// Adds variables of a declared type, or of any.
fn typed(names: Declarations, variables: &[&str], declared: Option<&Declared>) -> Declarations {
    let t = declared.map_or(Type::Dyn, Declared::to_type);
    let names = variables.iter().fold(names, |names, name| names.variable(name, t.clone()));
    declared.into_iter().fold(names, Declarations::types_of)
}
