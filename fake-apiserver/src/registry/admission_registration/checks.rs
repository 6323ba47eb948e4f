//! Findings about expressions in CEL.
//!
//! Follows `validateCELCondition` and its relatives in `pkg/apis/admissionregistration/validation/validation.go` (v1.37.1).

use super::expressions::{CompileError, Compiler, Names};
use crate::deadline::Deadline;
use crate::error::{Errors, FieldError};
use crate::registry::cursor::At;
use kubernetes_cel::{Stage, Type};

/// The checks of the expressions of one object.
pub(super) struct Checks<'c> {
    deadline: &'c Deadline,
    compiler: Compiler,
}

/// An expression, and its circumstances.
#[derive(Debug, Clone, Copy)]
pub(super) struct Given<'g> {
    /// The text that is compiled.
    pub(super) text: &'g str,
    /// The text that findings show.
    pub(super) shown: &'g str,
    pub(super) names: Names,
    /// The types that its value may have; any if there are none.
    pub(super) expected: &'g [Type],
    /// Whether the object had it before: then it may call all functions.
    pub(super) is_stored: bool,
}

impl<'c> Checks<'c> {
    /// Checks of expressions that cannot name variables of the object.
    pub(super) fn new(deadline: &'c Deadline) -> Self {
        Checks { deadline, compiler: Compiler::default() }
    }

    /// Checks of expressions that can.
    pub(super) fn composing(deadline: &'c Deadline) -> Self {
        Checks { deadline, compiler: Compiler::composing() }
    }

    /// The time until which they may compute.
    pub(super) fn deadline(&self) -> &'c Deadline {
        self.deadline
    }

    /// Checks an expression.
    pub(super) fn check(&mut self, at: &At<'_, '_>, given: Given<'_>, errors: &mut Errors) {
        self.type_of(at, given, errors);
    }

    /// Checks the expression of a variable, which later ones can name.
    pub(super) fn variable(&mut self, name: &str, at: &At<'_, '_>, given: Given<'_>, errors: &mut Errors) {
        let found = self.type_of(at, given, errors);
        self.compiler.add_variable(name, found.as_ref());
    }

    fn type_of(&mut self, at: &At<'_, '_>, given: Given<'_>, errors: &mut Errors) -> Option<Type> {
        self.deadline.check().ok()?;
        let stage = if given.is_stored { Stage::Stored } else { Stage::New };
        match self.compiler.compile(given.text, given.names, given.expected, stage) {
            Ok(code) => return Some(code.expression.result_type().clone()),
            Err(CompileError::Invalid(why)) => at.invalid_value(given.shown, why, errors),
            Err(CompileError::Internal(why)) => errors.push(FieldError::internal(at.path(), why)),
        }
        None
    }
}
