//! A policy as it is stored, compiled when a write first matches it.

use crate::admission::Generation;
use crate::admission::matching::Constraints;
use crate::deadline::Deadline;
use crate::error::ApiResult;
use crate::index::Place;
use crate::joint::Made;
use crate::object::meta;
use crate::registry::text;
use crate::store::ResourceId;
use std::future::Future;
use tree::Value;

/// A kind of policies: its resources, and the compiled form of a policy.
pub(crate) trait Compile: Send + Sync + Sized + 'static {
    /// The resource of policies.
    const POLICIES: ResourceId;
    /// The resource of their bindings.
    const BINDINGS: ResourceId;
    /// The place of their index.
    const PLACE: Place;

    /// Compiles the `spec` of a policy, with a pause after each expression.
    fn compile(spec: Value) -> impl Future<Output = Self> + Send;
}

/// A policy.
#[derive(Debug)]
pub(crate) struct Policy<C> {
    pub(crate) name: String,
    pub(super) generation: Generation,
    /// `None` for a policy without constraints, which is not valid.
    pub(crate) constraints: Option<Constraints>,
    /// The kind of its parameters.
    pub(crate) param_kind: Option<ParamKind>,
    /// Whether it refuses writes that it cannot be evaluated for.
    pub(crate) fails: bool,
    compiled: Made<C>,
}

/// A kind of parameters.
#[derive(Debug)]
pub(crate) struct ParamKind {
    pub(crate) api_version: String,
    pub(crate) kind: String,
}

impl<C: Compile> Policy<C> {
    /// The policy in an object.
    pub(super) fn of(mut object: Value, generation: Generation) -> Self {
        let spec = object.as_object_mut().and_then(|fields| fields.remove("spec")).unwrap_or_default();
        let kind = &spec["paramKind"];
        Policy {
            name: meta::name(&object).to_owned(),
            generation,
            constraints: spec.get("matchConstraints").map(Constraints::of_policy),
            param_kind: (!kind.is_null()).then(|| ParamKind {
                api_version: text(kind, "/apiVersion").to_owned(),
                kind: text(kind, "/kind").to_owned(),
            }),
            fails: spec["failurePolicy"] != "Ignore",
            compiled: Made::by(C::compile(spec)),
        }
    }

    /// The compiled policy.
    ///
    /// # Errors
    /// 504, if the deadline has passed before it is compiled.
    pub(crate) async fn compiled(&self, deadline: &Deadline) -> ApiResult<&C> {
        self.compiled.get(deadline).await
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
