//! The compilation of rules: `pkg/apiserver/schema/cel/compilation.go` of `k8s.io/apiextensions-apiserver` (v0.37.1).

use kubernetes_cel::{Declarations, Declared, Environment, Expression, Program, Stage, Type};
use std::sync::LazyLock;
use tree::Value;

/// The value that a rule is about (`ScopedVarName`).
pub(super) const SELF: &str = "self";
/// The value that it replaces (`OldScopedVarName`).
pub(super) const OLD_SELF: &str = "oldSelf";

/// The name of the type of `self`. Upstream makes a new one each time, lest it be relied on.
const TYPE_NAME: &str = "selfType1";

/// The environment of all rules. It does not change, and is costly to make.
static ENVIRONMENT: LazyLock<Environment> = LazyLock::new(Environment::new);

/// The variables that rules about values of a type can name, and the type itself.
#[derive(Debug)]
pub struct Scope {
    declared: Declared,
    /// `oldSelf` is of the type.
    plain: Declarations,
    /// `oldSelf` may be missing (`optionalOldSelf`).
    optional: Declarations,
}

/// An expression that compiles.
#[derive(Debug)]
pub struct Code {
    pub expression: Expression,
    pub program: Program,
}

/// A rule, as far as it compiles (`CompilationResult`).
#[derive(Debug)]
pub struct Compiled {
    /// The rule, or the error that it does not compile with.
    pub code: Result<Code, String>,
    /// Whether it refers to the value that is replaced.
    pub uses_old_self: bool,
    /// The expression of its message, if there is one and the rule compiles.
    pub message: Option<Result<Code, String>>,
}

impl Compiled {
    /// The expressions that compile.
    pub fn codes(&self) -> impl Iterator<Item = &Code> {
        self.code.iter().chain(self.message.iter().flatten())
    }
}

impl Scope {
    /// The scope of rules about values of a declared type.
    pub fn new(declared: &Declared) -> Self {
        let declared = declared.named(TYPE_NAME);
        let with_self = Declarations::new().variable(SELF, declared.to_type()).types_of(&declared);
        Scope {
            plain: with_self.clone().variable(OLD_SELF, declared.to_type()),
            optional: with_self.variable(OLD_SELF, Type::optional(declared.to_type())),
            declared,
        }
    }

    /// The most that an expression about such a value can cost.
    pub fn max_cost(&self, code: &Code) -> u64 {
        code.expression.cost_estimate(&self.declared).max
    }

    /// Compiles a rule; `stage` tells whether an expression in a field was stored before. `None` if the rule is empty.
    pub fn compile(&self, rule: &Value, stage: impl Fn(&str, &str) -> Stage) -> Option<Compiled> {
        let text = |field: &str| rule[field].as_str().unwrap_or_default();
        if text("rule").trim().is_empty() {
            return None;
        }
        let declarations = if rule["optionalOldSelf"] == true { &self.optional } else { &self.plain };
        let compile = |field: &'static str, kind: &str, t: &Type, wrong_type: &str| {
            let expression = text(field);
            let compiled = ENVIRONMENT.compile(expression, declarations, stage(field, expression));
            let compiled = compiled.map_err(|error| format!("{kind}compilation failed: {error}"))?;
            match compiled.result_type() == t {
                true => Ok(compiled),
                false => Err(wrong_type.to_owned()),
            }
        };
        let plan = |expression: Expression, failed: &str| match expression.program() {
            Ok(program) => Ok(Code { expression, program }),
            Err(error) => Err(format!("{failed} instantiation failed: {error}")),
        };
        let checked = compile("rule", "", &Type::Bool, "cel expression must evaluate to a bool");
        let uses_old_self = checked.as_ref().is_ok_and(|checked| checked.refers_to(OLD_SELF));
        let code = checked.and_then(|checked| plan(checked, "program"));
        let message = (code.is_ok() && !text("messageExpression").is_empty()).then(|| {
            let wrong_type = "messageExpression must evaluate to a string";
            let checked = compile("messageExpression", "messageExpression ", &Type::String, wrong_type)?;
            plan(checked, "messageExpression")
        });
        Some(Compiled { code, uses_old_self, message })
    }
}
