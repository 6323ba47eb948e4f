//! The compilation of the expressions of one policy or webhook.
//!
//! Follows `compile.go` and `composition.go` of `pkg/admission/plugin/cel` of `k8s.io/apiserver` (v0.37.1).

use super::variables::Compiled;
use crate::joint::pause;
use crate::registry::expressions::{Code, Compiler, Names};
use kubernetes_cel::{Parts, Stage, Type};
use std::sync::Arc;
use tree::Value;

/// A compilation in progress.
#[derive(Default)]
pub(crate) struct Compilation {
    compiler: Compiler,
    variables: Compiled,
    reads: Reads,
}

/// A stored expression.
#[derive(Debug)]
pub(crate) struct Expression {
    /// The text, as it is stored.
    pub(crate) text: String,
    /// The program, or the message of the error that it does not compile with.
    pub(super) code: Result<Code, String>,
}

/// The parts of a write that expressions read.
#[derive(Debug, Default)]
pub(super) struct Reads {
    pub(super) object: Parts,
    pub(super) old_object: Parts,
    pub(super) params: Parts,
    pub(super) request: Parts,
    pub(super) namespace: Parts,
    pub(super) authorizer: bool,
}

/// The common part of compiled expressions.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// The variables that expressions can name.
    pub(super) variables: Arc<Compiled>,
    pub(super) reads: Reads,
}

impl Expression {
    /// Whether it compiles.
    ///
    /// # Errors
    /// The message, if it does not.
    pub(crate) fn compiles(&self) -> Result<(), &str> {
        self.code.as_ref().map(drop).map_err(String::as_str)
    }
}

impl Compilation {
    /// A compilation of expressions that can name variables of their own.
    pub(crate) fn composing() -> Self {
        Compilation { compiler: Compiler::composing(), ..Compilation::default() }
    }

    /// Compiles the variables in a list of names and expressions. Each may name those before it.
    pub(crate) async fn variables(&mut self, list: &[Value], names: Names) {
        for variable in list {
            let name = variable["name"].as_str().unwrap_or_default();
            let expression = self.expression(variable["expression"].as_str().unwrap_or_default(), names, &[]).await;
            let t = expression.code.as_ref().ok().map(|code| code.expression.result_type());
            self.compiler.add_variable(name, t);
            // Of several with the same name the last counts.
            self.variables.insert(name.to_owned(), expression.code);
        }
    }

    /// Compiles an expression whose value has to be of one of the `expected` types, or of any if there are none. Then it pauses.
    pub(crate) async fn expression(&mut self, text: &str, names: Names, expected: &[Type]) -> Expression {
        let code = self.compiler.compile(text, names, expected, Stage::Stored);
        if let Ok(code) = &code {
            self.reads.join(&code.expression);
        }
        pause().await;
        Expression { text: text.to_owned(), code: code.map_err(|error| error.to_string()) }
    }

    /// The common part, once all expressions are compiled.
    pub(crate) fn finish(self) -> Scope {
        Scope { variables: self.variables.into(), reads: self.reads }
    }
}

impl Reads {
    fn join(&mut self, expression: &kubernetes_cel::Expression) {
        for (parts, name) in [
            (&mut self.object, "object"),
            (&mut self.old_object, "oldObject"),
            (&mut self.params, "params"),
            (&mut self.request, "request"),
            (&mut self.namespace, "namespaceObject"),
        ] {
            parts.join(expression.parts_of(name));
        }
        self.authorizer |= ["authorizer", "authorizer.requestResource"].iter().any(|name| expression.refers_to(name));
    }
}
