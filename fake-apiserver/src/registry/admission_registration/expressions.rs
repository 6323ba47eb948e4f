//! The compilation of expressions in CEL, and the variables that they can name.
//!
//! Follows `pkg/admission/plugin/cel/compile.go` and `composition.go` of `k8s.io/apiserver` (v0.37.1).

pub(crate) use crate::registry::cel::ENVIRONMENT;

use kubernetes_cel::{Declarations, Expression, Program, Stage, Type};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The variables of all expressions: `BuildNamespaceType` and `BuildRequestType`.
pub(crate) static COMMON: LazyLock<Declarations> = LazyLock::new(|| {
    let (text, texts) = (Type::String, Type::list(Type::String));
    let object = |name: &str| Type::object(&format!("kubernetes.{name}"));
    let map = |value: Type| Type::map(Type::String, value);
    let condition = [
        ("status", text.clone()),
        ("type", text.clone()),
        ("lastTransitionTime", Type::Timestamp),
        ("message", text.clone()),
        ("reason", text.clone()),
    ];
    let metadata = [
        ("name", text.clone()),
        ("generateName", text.clone()),
        ("namespace", text.clone()),
        ("labels", map(text.clone())),
        ("annotations", map(text.clone())),
        ("UID", text.clone()),
        ("creationTimestamp", Type::Timestamp),
        ("deletionGracePeriodSeconds", Type::Int),
        ("deletionTimestamp", Type::Timestamp),
        ("generation", Type::Int),
        ("resourceVersion", text.clone()),
        ("finalizers", texts.clone()),
    ];
    let user =
        [("username", text.clone()), ("uid", text.clone()), ("groups", texts.clone()), ("extra", map(texts.clone()))];
    let request = [
        ("kind", object("GroupVersionKind")),
        ("resource", object("GroupVersionResource")),
        ("subResource", text.clone()),
        ("requestKind", object("GroupVersionKind")),
        ("requestResource", object("GroupVersionResource")),
        ("requestSubResource", text.clone()),
        ("name", text.clone()),
        ("namespace", text.clone()),
        ("operation", text.clone()),
        ("userInfo", object("UserInfo")),
        ("dryRun", Type::Bool),
        ("options", Type::Dyn),
    ];
    let named = |last| ["group", "version", last].map(|field| (field, text.clone()));
    let status = [("conditions", Type::list(object("NamespaceCondition"))), ("phase", text.clone())];
    let namespace = ["metadata", "spec", "status"].into_iter().zip(["Metadata", "Spec", "Status"]);
    let namespace = namespace.map(|(field, kind)| (field, object(&format!("Namespace{kind}"))));
    Declarations::new()
        .variable("object", Type::Dyn)
        .variable("oldObject", Type::Dyn)
        .variable("namespaceObject", object("Namespace"))
        .variable("request", object("AdmissionRequest"))
        .object("kubernetes.Namespace", namespace)
        .object("kubernetes.NamespaceMetadata", metadata)
        .object("kubernetes.NamespaceSpec", [("finalizers", texts.clone())])
        .object("kubernetes.NamespaceStatus", status)
        .object("kubernetes.NamespaceCondition", condition)
        .object("kubernetes.AdmissionRequest", request)
        .object("kubernetes.GroupVersionKind", named("kind"))
        .object("kubernetes.GroupVersionResource", named("resource"))
        .object("kubernetes.UserInfo", user)
});

/// The variables that some expressions can name besides those of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Names {
    /// `params`.
    pub(crate) params: bool,
    /// `authorizer` and `authorizer.requestResource`.
    pub(crate) authorizer: bool,
    /// The types of patches.
    pub(crate) patches: bool,
}

/// A compiler of the expressions of one object.
#[derive(Default)]
pub(crate) struct Compiler {
    /// The types of the variables that the object itself defines; `None` if expressions cannot name any.
    variables: Option<BTreeMap<String, Type>>,
    /// All that expressions can name, as far as some were compiled that can.
    declarations: BTreeMap<Names, Declarations>,
}

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) expression: Expression,
    pub(crate) program: Program,
}

/// The error of an expression that does not compile, as a message.
#[derive(Debug, Clone)]
pub(crate) enum CompileError {
    /// The expression is wrong.
    Invalid(String),
    /// A constant part of it has no value.
    Internal(String),
}

impl Compiler {
    /// A compiler of expressions that can name variables of the object.
    pub(crate) fn composing() -> Self {
        Compiler { variables: Some(BTreeMap::new()), ..Compiler::default() }
    }

    /// Adds a variable of that type, which later expressions can name. Types with fields are not known to them.
    pub(crate) fn add_variable(&mut self, name: &str, t: Option<&Type>) {
        let Some(variables) = &mut self.variables else { return };
        let t = t.map_or(Type::Dyn, composed);
        for declarations in self.declarations.values_mut() {
            *declarations = std::mem::take(declarations).field(VARIABLES_TYPE, name, t.clone());
        }
        variables.insert(name.to_owned(), t);
    }

    fn declare(variables: Option<&BTreeMap<String, Type>>, names: Names) -> Declarations {
        let mut declarations = COMMON.clone();
        if let Some(variables) = variables {
            let fields = variables.iter().map(|(name, t)| (name.as_str(), t.clone()));
            declarations =
                declarations.object(VARIABLES_TYPE, fields).variable("variables", Type::object(VARIABLES_TYPE));
        }
        if names.params {
            declarations = declarations.variable("params", Type::Dyn);
        }
        if names.authorizer {
            declarations = declarations
                .variable("authorizer", Type::object(AUTHORIZER_TYPE))
                .variable("authorizer.requestResource", Type::object("kubernetes.authorization.ResourceCheck"));
        }
        if names.patches {
            declarations = declarations.patches();
        }
        declarations
    }

    /// Compiles an expression whose value has to be of one of the `expected` types, or of any if there are none. A stored one may call all
    /// functions.
    ///
    /// # Errors
    /// If its syntax or its types are invalid, or a constant part has no value.
    pub(crate) fn compile(
        &mut self,
        text: &str,
        names: Names,
        expected: &[Type],
        stage: Stage,
    ) -> Result<Code, CompileError> {
        let Compiler { variables, declarations } = self;
        let declarations = declarations.entry(names).or_insert_with(|| Compiler::declare(variables.as_ref(), names));
        let compiled = ENVIRONMENT.compile(text, declarations, stage);
        let expression = compiled.map_err(|error| CompileError::Invalid(format!("compilation failed: {error}")))?;
        let found = expression.result_type();
        if !expected.is_empty() && !expected.contains(found) {
            let expected: Vec<String> = expected.iter().map(Type::full_name).collect();
            let expected = match expected.as_slice() {
                [one] => one.clone(),
                many => format!("one of [{}]", many.join(" ")),
            };
            return Err(CompileError::Invalid(format!("must evaluate to {expected} but got {}", found.full_name())));
        }
        match expression.program() {
            Ok(program) => Ok(Code { expression, program }),
            Err(error) => Err(CompileError::Internal(format!("program instantiation failed: {error}"))),
        }
    }
}

impl std::fmt::Display for CompileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CompileError::Invalid(message) | CompileError::Internal(message) => f.write_str(message),
        }
    }
}

/// The name of the type of `authorizer`.
pub(crate) const AUTHORIZER_TYPE: &str = "kubernetes.authorization.Authorizer";
/// The name of the type of `variables`.
pub(crate) const VARIABLES_TYPE: &str = "kubernetes.variables";

/// The type that expressions know a variable by (`convertCelTypeToDeclType`).
pub(crate) fn composed(t: &Type) -> Type {
    match t {
        Type::List(element) => Type::list(composed(element)),
        Type::Map(key, value) => Type::map(composed(key), composed(value)),
        Type::Bool
        | Type::Bytes
        | Type::Double
        | Type::Duration
        | Type::Int
        | Type::Null
        | Type::String
        | Type::Timestamp
        | Type::Uint => t.clone(),
        _ => Type::Dyn,
    }
}
