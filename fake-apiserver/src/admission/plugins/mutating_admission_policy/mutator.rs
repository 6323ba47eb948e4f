//! A compiled policy that changes objects.
//!
//! Follows `pkg/admission/plugin/policy/mutating/compilation.go` of `k8s.io/apiserver` (v0.37.1).

use super::patch::{self, Failure, Target};
use crate::admission::cel::{BUDGET, Compilation, Conditions, Evaluation, Expression, Matched, Scope, Stop, Subject};
use crate::admission::policies::{Compile, Parameter, Policy};
use crate::coverage::{MUTATING_POLICY, Owner};
use crate::error::ApiResult;
use crate::index::Place;
use crate::registry::expressions::Names;
use crate::registry::{ids, items, text};
use crate::store::ResourceId;
use kubernetes_cel::Type;
use tree::Value;

/// A compiled policy.
#[derive(Debug)]
pub(super) struct Mutator {
    scope: Scope,
    conditions: Conditions,
    pub(super) mutations: Vec<Mutation>,
    /// Whether it is evaluated again, if the object is changed after it.
    pub(super) is_reinvoked: bool,
}

/// A change of objects.
#[derive(Debug)]
pub(super) struct Mutation {
    /// Whether it is a JSON patch, and not a configuration that is applied.
    is_json_patch: bool,
    pub(super) expression: Expression,
}

impl Compile for Mutator {
    const POLICIES: ResourceId = ids::MUTATING_ADMISSION_POLICIES;
    const BINDINGS: ResourceId = ids::MUTATING_ADMISSION_POLICY_BINDINGS;
    const PLACE: Place = Place::MutatingPolicies;

    async fn compile(spec: Value) -> Self {
        let spec = &spec;
        let names = Names { params: spec.get("paramKind").is_some(), authorizer: true, patches: false };
        let of_patch = Names { patches: true, ..names };
        let mut compilation = Compilation::composing();
        compilation.variables(items(spec, "/variables"), names).await;
        let conditions = Conditions::compile(items(spec, "/matchConditions"), names, &mut compilation).await;
        let mut mutations = Vec::new();
        for mutation in items(spec, "/mutations") {
            let is_json_patch = text(mutation, "/patchType") == "JSONPatch";
            let (field, expected) = match is_json_patch {
                true => ("/jsonPatch/expression", Type::list(Type::object("JSONPatch"))),
                false => ("/applyConfiguration/expression", Type::object("Object")),
            };
            let expression = compilation.expression(text(mutation, field), of_patch, &[expected]).await;
            mutations.push(Mutation { is_json_patch, expression });
        }
        let is_reinvoked = text(spec, "/reinvocationPolicy") == "IfNeeded";
        Mutator { conditions, mutations, is_reinvoked, scope: compilation.finish() }
    }
}

impl Mutator {
    /// Whether the policy, which this is the compiled form of, is about a write. Errors are ignored unless it fails with them.
    ///
    /// # Errors
    /// 504, if the deadline of the request has passed.
    pub(super) fn matches(
        &self,
        subject: &Subject<'_>,
        params: Option<&Parameter<'_>>,
        policy: &Policy<Mutator>,
    ) -> ApiResult<Matched> {
        if self.conditions.is_empty() {
            return Ok(Matched::Yes);
        }
        let bindings = subject.for_conditions(&self.scope, params.map(Parameter::shown));
        let whose = (Owner::of_cluster(MUTATING_POLICY, &policy.name), "condition");
        self.conditions.matches(&self.scope, &bindings, subject, policy.fails, whose)
    }

    /// The object as a mutation wants it, in the form in which the policy sees it.
    ///
    /// # Errors
    /// If the mutation cannot be evaluated, or its patch cannot be applied.
    pub(super) fn patched(
        &self,
        mutation: &Mutation,
        subject: &Subject<'_>,
        params: Option<&Parameter<'_>>,
        namespace: Option<&Value>,
    ) -> Result<Value, Failure> {
        let params = params.map(Parameter::shown);
        let bindings = subject.for_policy(&self.scope, params, namespace);
        if let Err(why) = mutation.expression.compiles() {
            return Err(Failure::Policy(why.to_owned()));
        }
        let evaluation = Evaluation::new(&self.scope, &bindings, subject.write.deadline);
        let value = match evaluation.evaluate(&mutation.expression, &mut { BUDGET }) {
            Ok(value) => value.map_err(Failure::Policy)?,
            Err(Stop::Ended(error)) => return Err(Failure::Refusal(error)),
            Err(stop) => return Err(Failure::Policy(stop.to_string())),
        };
        let target = Target { matched: subject.matched, object: subject.object, deadline: subject.write.deadline };
        match mutation.is_json_patch {
            true => patch::json_patched(&value, &target),
            false => patch::applied(&value, &target),
        }
    }
}
