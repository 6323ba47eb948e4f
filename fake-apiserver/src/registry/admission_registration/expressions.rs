//! The compilation of expressions in CEL, and the variables that they can name.
//!
//! Follows `pkg/admission/plugin/cel/compile.go` and `composition.go` of `k8s.io/apiserver` (v0.37.1).

use crate::deadline::Deadline;
use crate::error::{Errors, FieldError};
use crate::registry::cel::ENVIRONMENT;
use crate::registry::cursor::At;
use kubernetes_cel::{Declarations, Stage, Type};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The variables of all expressions: `BuildNamespaceType` and `BuildRequestType`.
static COMMON: LazyLock<Declarations> = LazyLock::new(|| {
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
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Names {
    /// `params`.
    pub(super) params: bool,
    /// `authorizer` and `authorizer.requestResource`.
    pub(super) authorizer: bool,
    /// The types of patches.
    pub(super) patches: bool,
}

/// A compiler of the expressions of one object.
pub(super) struct Compiler<'c> {
    deadline: &'c Deadline,
    /// The types of the variables that the object itself defines; `None` if it defines none.
    variables: Option<BTreeMap<String, Type>>,
}

impl<'c> Compiler<'c> {
    /// A compiler of expressions that cannot name variables of the object.
    pub(super) fn new(deadline: &'c Deadline) -> Self {
        Compiler { deadline, variables: None }
    }

    /// A compiler of expressions that can.
    pub(super) fn composing(deadline: &'c Deadline) -> Self {
        Compiler { deadline, variables: Some(BTreeMap::new()) }
    }

    /// The time until which it may compute.
    pub(super) fn deadline(&self) -> &'c Deadline {
        self.deadline
    }

    /// Adds a variable of that type, which later expressions can name. Types with fields are not known to them.
    pub(super) fn add_variable(&mut self, name: &str, t: Option<Type>) {
        if let Some(variables) = &mut self.variables {
            variables.insert(name.to_owned(), t.as_ref().map_or(Type::Dyn, composed));
        }
    }

    fn declarations(&self, names: Names) -> Declarations {
        let mut declarations = COMMON.clone();
        if let Some(variables) = &self.variables {
            let fields = variables.iter().map(|(name, t)| (name.as_str(), t.clone()));
            declarations = declarations
                .object("kubernetes.variables", fields)
                .variable("variables", Type::object("kubernetes.variables"));
        }
        if names.params {
            declarations = declarations.variable("params", Type::Dyn);
        }
        if names.authorizer {
            declarations = declarations
                .variable("authorizer", Type::object("kubernetes.authorization.Authorizer"))
                .variable("authorizer.requestResource", Type::object("kubernetes.authorization.ResourceCheck"));
        }
        if names.patches {
            declarations = declarations.patches();
        }
        declarations
    }

    /// Checks an expression, and returns the type of its value.
    pub(super) fn check(&self, at: &At<'_, '_>, given: Given<'_>, errors: &mut Errors) -> Option<Type> {
        if self.deadline.check().is_err() {
            return None;
        }
        let stage = if given.is_stored { Stage::Stored } else { Stage::New };
        let compiled = match ENVIRONMENT.compile(given.text, &self.declarations(given.names), stage) {
            Ok(compiled) => compiled,
            Err(error) => {
                at.invalid_value(given.shown, format!("compilation failed: {error}"), errors);
                return None;
            }
        };
        let found = compiled.result_type();
        if !given.expected.is_empty() && !given.expected.contains(found) {
            let expected: Vec<String> = given.expected.iter().map(Type::full_name).collect();
            let expected = match expected.as_slice() {
                [one] => one.clone(),
                many => format!("one of [{}]", many.join(" ")),
            };
            at.invalid_value(given.shown, format!("must evaluate to {expected} but got {}", found.full_name()), errors);
            return None;
        }
        if let Err(error) = compiled.program() {
            let detail = format!("program instantiation failed: {error}");
            errors.push(FieldError::internal(at.path(), detail));
            return None;
        }
        Some(found.clone())
    }
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

/// The type that expressions know a variable by (`convertCelTypeToDeclType`).
fn composed(t: &Type) -> Type {
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
