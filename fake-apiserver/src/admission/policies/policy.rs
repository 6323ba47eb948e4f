//! A policy as it is stored, compiled when a write first matches it.

use crate::admission::matching::Constraints;
use crate::object::meta;
use crate::registry::text;
use crate::store::ResourceId;
use std::sync::OnceLock;
use tree::Value;

/// A kind of policies: its resources, and the compiled form of a policy.
pub(crate) trait Compile: Send + Sync + Sized + 'static {
    /// The resource of policies.
    const POLICIES: ResourceId;
    /// The resource of their bindings.
    const BINDINGS: ResourceId;

    /// The compiled `spec` of a policy.
    fn compile(spec: &Value) -> Self;
}

/// A policy.
#[derive(Debug)]
pub(crate) struct Policy<C> {
    pub(crate) name: String,
    /// `None` for a policy without constraints, which is not valid.
    pub(crate) constraints: Option<Constraints>,
    /// The kind of its parameters.
    pub(crate) param_kind: Option<ParamKind>,
    /// Whether it refuses writes that it cannot be evaluated for.
    pub(crate) fails: bool,
    spec: Value,
    compiled: OnceLock<C>,
}

/// A kind of parameters.
#[derive(Debug)]
pub(crate) struct ParamKind {
    pub(crate) api_version: String,
    pub(crate) kind: String,
}

impl<C: Compile> Policy<C> {
    /// The policy in an object.
    pub(super) fn of(mut object: Value) -> Self {
        let spec = object.as_object_mut().and_then(|fields| fields.remove("spec")).unwrap_or_default();
        let kind = &spec["paramKind"];
        Policy {
            name: meta::name(&object).to_owned(),
            constraints: spec.get("matchConstraints").map(Constraints::of_policy),
            param_kind: (!kind.is_null()).then(|| ParamKind {
                api_version: text(kind, "/apiVersion").to_owned(),
                kind: text(kind, "/kind").to_owned(),
            }),
            fails: spec["failurePolicy"] != "Ignore",
            spec,
            compiled: OnceLock::new(),
        }
    }

    /// The compiled policy.
    pub(crate) fn compiled(&self) -> &C {
        self.compiled.get_or_init(|| C::compile(&self.spec))
    }
}

impl ParamKind {
    /// The kind as Go prints it.
    pub(super) fn print(&self) -> String {
        match self.api_version.split_once('/') {
            Some((group, version)) => format!("{group}/{version}, Kind={}", self.kind),
            None => format!("/{}, Kind={}", self.api_version, self.kind),
        }
    }
}
