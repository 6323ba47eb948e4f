//! The compilation and evaluation of expressions in CEL that configurations of authentication and authorization have.
//!
//! Follows `pkg/{authentication,authorization}/cel/compile.go` of `k8s.io/apiserver` (v0.37.1).

use crate::registry::expressions::ENVIRONMENT;
use kubernetes_cel::{Bindings, Budget, Declarations, PER_CALL_LIMIT, Parts, Program, Stage, Type, Value};

/// A compiled expression.
#[derive(Debug)]
pub(super) struct Expression {
    /// The text, as it is written.
    pub(super) text: String,
    compiled: kubernetes_cel::Expression,
    program: Program,
}

impl Expression {
    /// Compiles an expression.
    ///
    /// # Errors
    /// The reason that it does not compile, in upstream's words.
    pub(super) fn compile(text: &str, names: &Declarations) -> Result<Expression, String> {
        let compiled = ENVIRONMENT.compile(text, names, Stage::Stored);
        let compiled = compiled.map_err(|error| format!("compilation failed: {error}"))?;
        let program = compiled.program().map_err(|error| format!("program instantiation failed: {error}"))?;
        Ok(Expression { text: text.to_owned(), compiled, program })
    }

    /// The type of its value.
    pub(super) fn result_type(&self) -> &Type {
        self.compiled.result_type()
    }

    /// The parts of a variable that it reads.
    pub(super) fn parts_of(&self, variable: &str) -> Parts {
        self.compiled.parts_of(variable)
    }

    /// Its value; `goes_on` is asked now and then whether the evaluation does.
    ///
    /// # Errors
    /// The reason that it has none.
    pub(super) fn evaluate(&self, bindings: &Bindings, goes_on: &(dyn Fn() -> bool + Sync)) -> Result<Value, String> {
        let interrupt = || !goes_on();
        let mut budget = Budget::new(PER_CALL_LIMIT).interrupted_by(&interrupt);
        self.program.evaluate(bindings, &mut budget).map_err(|error| error.to_string())
    }
}
