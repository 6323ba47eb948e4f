//! The plugin `MutatingAdmissionPolicy`: expressions in CEL change objects, one policy after the other.
//!
//! ```text
//!   policies, bindings, parameters ─▶ invocations ─▶ conditions ─▶ mutations, each of the object that the one before made
//!                                          ▲                            │
//!                                          └── second round (IfNeeded) ◀┘
//! ```
//! Follows `pkg/admission/plugin/policy/mutating/{dispatcher,reinvocationcontext}.go` and `pkg/admission/plugin/policy/generic/
//! policy_dispatcher.go` of `k8s.io/apiserver` (v0.37.1).

mod mutator;
mod patch;

use crate::admission::cel::{self, Subject};
use crate::admission::families::{MUTATION_DURATION, MUTATIONS_TOTAL};
use crate::admission::manifests::Reloaded;
use crate::admission::matching::{self, Matched, Sight, of_policies};
use crate::admission::policies::{
    Binding, Found, Hook, Parameter, Policies, Policy, error_type, namespace_of, parameters,
};
use crate::admission::{Attributes, Config, Following, Kind, Operation, Plugin, PluginError, Verdict};
use crate::auth::Notes;
use crate::coverage::{APPLIED, MUTATING_POLICY, Owner, expression};
use crate::error::{ApiError, ApiResult};
use crate::schema::quote;
use mutator::{Mutation, Mutator};
use patch::Failure;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::time::Instant;
use tree::Value;

/// The name of the plugin.
pub(super) const NAME: &str = "MutatingAdmissionPolicy";

/// The plugin.
pub(super) struct MutatingAdmissionPolicy(Following<Policies<Mutator>>);

impl MutatingAdmissionPolicy {
    /// The plugin for stored policies and those in files.
    ///
    /// # Errors
    /// If its configuration is wrong, or a file that it names.
    pub(super) fn configured(config: &Config) -> Result<Box<dyn Plugin>, PluginError> {
        Ok(Box::new(MutatingAdmissionPolicy(Policies::configured(NAME, config)?)))
    }
}

impl Plugin for MutatingAdmissionPolicy {
    fn mutate<'a>(&'a self, write: &'a Attributes<'a>, object: &'a mut Value, _: &'a mut Notes) -> Verdict<'a> {
        let sight = if write.operation == Operation::Delete { Sight::Nothing } else { of_policies(write) };
        let matching = |policies: &[&Policies<_>], object: &Value| Policies::matching(policies, write, object);
        self.0.verdict(sight, write.server.store, write.deadline, object, matching, |hooks, object| {
            dispatch(write, object, hooks)
        })
    }

    fn folder(&self) -> Option<Arc<dyn Reloaded>> {
        self.0.folder()
    }
}

async fn dispatch<'a>(write: &'a Attributes<'a>, object: &mut Value, hooks: Vec<Hook<'a, Mutator>>) -> ApiResult<()> {
    let mut dispatch = Dispatch { write, forms: Vec::new(), errors: Vec::new() };
    dispatch.all(&hooks, object).await?;
    dispatch.verdict(object)
}

/// The policies that are invoked for a write, and their errors.
struct Dispatch<'a> {
    write: &'a Attributes<'a>,
    /// The object in the versions that policies have matched.
    forms: Vec<Form<'a>>,
    /// The messages of errors that policies fail with, each with a reason.
    errors: Vec<(String, &'static str)>,
}

/// The object in one version. A change in it is not seen in the others, as upstream.
struct Form<'a> {
    matched: Matched<'a>,
    object: Value,
    old: Option<Cow<'a, Value>>,
    /// Whether a mutation was applied.
    is_dirty: bool,
}

/// A policy with a binding and a parameter.
struct Invocation<'a, 'h> {
    policy: &'h Policy<Mutator>,
    binding: &'h Binding,
    params: Option<Found<'a>>,
    /// The place of its form.
    form: usize,
}

/// The state of a write from one round to the next (`policyReinvokeContext`).
#[derive(Default)]
struct Rounds {
    /// The object after the last policy.
    output: Option<Value>,
    /// The invocations that are repeated if the object changes.
    invoked: BTreeSet<Key>,
    /// The invocations of the second round.
    again: BTreeSet<Key>,
}

/// The names of a policy and a binding, and namespace and name of a parameter.
type Key = [String; 4];

impl Rounds {
    /// The object has changed: those that were invoked before have to see it again.
    fn changed(&mut self) {
        self.again.append(&mut self.invoked);
    }
}

impl<'a> Dispatch<'a> {
    async fn all(&mut self, hooks: &[Hook<'a, Mutator>], object: &mut Value) -> ApiResult<()> {
        let mut invocations = Vec::new();
        for hook in hooks {
            self.collect(hook, object, &mut invocations).await;
        }
        if invocations.is_empty() {
            return Ok(());
        }
        let rounds = self.write.reinvocation;
        rounds.state(NAME, |state: &mut Rounds| {
            if rounds.is_second() && state.output.as_ref() != Some(object) {
                state.changed();
            }
        });
        let result = self.invoke_all(&invocations, object).await;
        rounds.state(NAME, |state: &mut Rounds| state.output = Some(object.clone()));
        result
    }

    /// The invocations of a policy.
    async fn collect<'h>(
        &mut self,
        hook: &'h Hook<'a, Mutator>,
        object: &Value,
        invocations: &mut Vec<Invocation<'a, 'h>>,
    ) {
        let policy = &*hook.policy;
        let matched = match hook.configuration(self.write) {
            Ok(matched) => matched,
            Err(why) => return self.error(policy, None, &format!("failed to configure policy: {why}"), "Forbidden"),
        };
        for binding in &hook.bindings {
            let misconfigured = |what: &str, why: String| format!("failed to configure {what}: {why}");
            match binding.matches(self.write, object) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(error) => {
                    self.error(policy, Some(binding), &misconfigured("binding", error.to_string()), "Forbidden");
                    continue;
                }
            }
            let form = match self.form(matched, object).await {
                Ok(form) => form,
                Err(error) => {
                    self.error(policy, None, &misconfigured("policy", error.to_string()), "Forbidden");
                    continue;
                }
            };
            match parameters(self.write, policy, binding).await {
                Ok(all) => {
                    invocations.extend(all.into_iter().map(|params| Invocation { policy, binding, params, form }));
                }
                Err(why) => self.error(policy, Some(binding), &misconfigured("binding", why), "Forbidden"),
            }
        }
    }

    /// The place of the object's form in that version.
    async fn form(&mut self, matched: Matched<'a>, object: &Value) -> ApiResult<usize> {
        if let Some(known) = self.forms.iter().position(|form| form.matched.kind == matched.kind) {
            return Ok(known);
        }
        let object = matching::new_object(self.write, object, matched).await?.into_owned();
        let old = matching::old_object(self.write, matched).await?;
        self.forms.push(Form { matched, object, old, is_dirty: false });
        Ok(self.forms.len() - 1)
    }

    async fn invoke_all(&mut self, invocations: &[Invocation<'a, '_>], object: &mut Value) -> ApiResult<()> {
        let (write, rounds) = (self.write, self.write.reinvocation);
        let namespace = namespace_of(write)?;
        let mut last = None;
        for invocation in invocations {
            let mutator = invocation.policy.compiled(write.deadline).await?;
            write.deadline.check()?;
            let params = invocation.params.as_ref().map(|found| found.read(write.deadline));
            let subject = self.forms[invocation.form].subject(write);
            match mutator.matches(&subject, params.as_ref(), invocation.policy)? {
                cel::Matched::Yes => {}
                cel::Matched::No => continue,
                cel::Matched::Failed(why) => {
                    self.error(invocation.policy, Some(invocation.binding), &why, "Invalid");
                    continue;
                }
            }
            let key = invocation.key();
            if rounds.is_second() && !rounds.state(NAME, |state: &mut Rounds| state.again.contains(&key)) {
                continue;
            }
            let before = self.forms[invocation.form].object.clone();
            last = Some(invocation.form);
            for mutation in &mutator.mutations {
                self.mutate(invocation, mutator, mutation, (params.as_ref(), namespace.as_ref())).await?;
            }
            let is_changed = before != self.forms[invocation.form].object;
            if is_changed {
                rounds.request();
            }
            rounds.state(NAME, |state: &mut Rounds| {
                if is_changed {
                    state.changed();
                }
                if mutator.is_reinvoked {
                    state.invoked.insert(key);
                }
            });
        }
        if let Some(form) = last.map(|last| &self.forms[last]).filter(|form| form.is_dirty) {
            rounds.state(NAME, Rounds::changed);
            rounds.request();
            *object = matching::back(write, form.object.clone(), form.matched).await?;
        }
        Ok(())
    }

    /// Applies a mutation to the form of its policy.
    async fn mutate(
        &mut self,
        invocation: &Invocation<'a, '_>,
        mutator: &Mutator,
        mutation: &Mutation,
        (params, namespace): (Option<&Parameter<'_>>, Option<&Value>),
    ) -> ApiResult<()> {
        let (write, form) = (self.write, &mut self.forms[invocation.form]);
        if form.object.is_null() {
            return Ok(());
        }
        let started = Instant::now();
        let patched = mutator.patched(mutation, &form.subject(write), params, namespace);
        if let (Some(coverage), Ok(_)) = (write.server.coverage, &patched) {
            let rule = expression("mutation", &mutation.expression.text);
            coverage.count(Owner::of_cluster(MUTATING_POLICY, &invocation.policy.name), rule, APPLIED);
        }
        let mut refused = None;
        let mut error = patched.as_ref().err().map(|failure| match failure {
            Failure::Policy(why) => error_type(why),
            Failure::Refusal(_) => error_type(""),
        });
        match patched {
            Ok(_) if !write.version.is_converted_last() && form.matched.kind != write.kind => {
                // Upstream has the object converted to the version of the request, which it cannot do without a detour.
                let [from, to] =
                    [form.matched.kind, write.kind].map(|kind| format!("({}.{})", kind.version, kind.kind));
                let why = format!("converting {from} to {to}: unknown conversion");
                error = Some(error_type(&why));
                self.error(invocation.policy, Some(invocation.binding), &why, "Invalid");
            }
            Ok(patched) => {
                form.object = defaulted(write, patched, form.matched).await?;
                form.is_dirty = true;
            }
            Err(Failure::Refusal(refusal)) => refused = Some(refusal),
            Err(Failure::Policy(why)) => self.error(invocation.policy, Some(invocation.binding), &why, "Invalid"),
        }
        let labels = [error.unwrap_or("no_error"), &invocation.policy.name, &invocation.binding.name];
        write.server.measures.count(&MUTATIONS_TOTAL, &labels);
        write.server.measures.time(&MUTATION_DURATION, &labels, started.elapsed());
        refused.map_or(Ok(()), Err)
    }

    /// Notes an error of a policy, unless it ignores errors.
    fn error(&mut self, policy: &Policy<Mutator>, binding: Option<&Binding>, why: &str, reason: &'static str) {
        if !policy.fails {
            return;
        }
        let who = match binding {
            Some(binding) => format!("policy '{}' with binding '{}'", policy.name, binding.name),
            None => format!("policy {}", quote(&policy.name)),
        };
        self.errors.push((format!("{who} denied request: {why}"), reason));
    }

    fn verdict(self, object: &Value) -> ApiResult<()> {
        let Some((first, reason)) = self.errors.first() else { return Ok(()) };
        let refusal = self.write.forbidden(object, "").with_message(|_| first.clone()).with_reason(403, *reason);
        Err(self.errors.iter().fold(refusal, |refusal, (message, _)| refusal.with_cause("", message, "")))
    }
}

impl Form<'_> {
    fn subject<'s>(&'s self, write: &'s Attributes<'s>) -> Subject<'s> {
        Subject { write, matched: self.matched, object: &self.object, old: self.old.as_deref() }
    }
}

impl Invocation<'_, '_> {
    fn key(&self) -> Key {
        let (namespace, name) = self.params.as_ref().map_or(("", ""), Found::key);
        [&self.policy.name, &self.binding.name, namespace, name].map(str::to_owned)
    }
}

/// A changed object with its defaults, in the form in which it was changed.
async fn defaulted(write: &Attributes<'_>, patched: Value, matched: Matched<'_>) -> Result<Value, ApiError> {
    if write.kind != Kind::of(write.version, "") {
        return Ok(patched);
    }
    let mut object = matching::back(write, patched, matched).await?;
    (write.version.default)(&mut object);
    (write.resource.rules.strategy.default_times)(&mut object, write.server.clock.now());
    matching::new_object(write, &object, matched).await.map(Cow::into_owned)
}
