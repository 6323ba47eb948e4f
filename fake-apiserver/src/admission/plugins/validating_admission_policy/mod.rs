//! The plugin `ValidatingAdmissionPolicy`: expressions in CEL refuse writes, warn of them, or are noted in the audit log.
//!
//! ```text
//!   policy ─▶ binding ─▶ parameters ─▶ Validator::validate ──▶ denials ──┬─▶ Deny: the first refuses the write
//!                                           │                            ├─▶ Warn: a warning
//!                                           └─▶ audit annotations        └─▶ Audit: an audit annotation
//! ```
//! Follows `pkg/admission/plugin/policy/validating/dispatcher.go` of `k8s.io/apiserver` (v0.37.1).

mod audit;
mod validator;

use crate::admission::families::{VALIDATION_DURATION, VALIDATIONS_TOTAL};
use crate::admission::manifests::Reloaded;
use crate::admission::matching::of_policies;
use crate::admission::policies::{Action, Binding, Hook, Policies, Policy, error_type, namespace_of, parameters};
use crate::admission::{Attributes, Config, Following, Plugin, PluginError, Verdict, Versions};
use crate::auth::Notes;
use crate::error::{ApiError, ApiResult};
use audit::Failure;
use std::sync::Arc;
use tree::Value;
use validator::{Denial, Published, Validator};

/// The name of the plugin.
pub(super) const NAME: &str = "ValidatingAdmissionPolicy";

/// The plugin.
pub(super) struct ValidatingAdmissionPolicy(Following<Policies<Validator>>);

impl ValidatingAdmissionPolicy {
    /// The plugin for stored policies and those in files.
    ///
    /// # Errors
    /// If its configuration is wrong, or a file that it names.
    pub(super) fn configured(config: &Config) -> Result<Box<dyn Plugin>, PluginError> {
        Ok(Box::new(ValidatingAdmissionPolicy(Policies::configured(NAME, config)?)))
    }
}

impl Plugin for ValidatingAdmissionPolicy {
    fn validate<'a>(&'a self, write: &'a Attributes<'a>, object: &'a Value, notes: &'a mut Notes) -> Verdict<'a> {
        let matching = |policies: &[&Policies<_>], object: &Value| Policies::matching(policies, write, object);
        let sight = of_policies(write);
        self.0.verdict(sight, write.server.store, write.deadline, object, matching, |hooks, object| {
            dispatch(write, object, hooks, notes)
        })
    }

    fn folder(&self) -> Option<Arc<dyn Reloaded>> {
        self.0.folder()
    }
}

/// The consequences of policies for a write.
struct Dispatch<'a> {
    write: &'a Attributes<'a>,
    object: &'a Value,
    versions: Versions<'a, 'a>,
    /// The first denial: its message and reason.
    denied: Option<(String, &'static str)>,
    failures: Vec<Failure>,
}

async fn dispatch(
    write: &Attributes<'_>,
    object: &Value,
    hooks: Vec<Hook<'_, Validator>>,
    notes: &mut Notes,
) -> ApiResult<()> {
    let mut dispatch =
        Dispatch { write, object, versions: Versions::new(write, object), denied: None, failures: Vec::new() };
    for hook in &hooks {
        dispatch.policy(hook, notes).await?;
    }
    if !dispatch.failures.is_empty() {
        notes.annotations.push((audit::FAILURES.into(), audit::print(&dispatch.failures)));
    }
    dispatch.denied.map_or(Ok(()), |(message, reason)| Err(refusal(write, object, message, reason)))
}

impl<'a> Dispatch<'a> {
    async fn policy(&mut self, hook: &Hook<'a, Validator>, notes: &mut Notes) -> ApiResult<()> {
        let policy = &*hook.policy;
        let matched = match hook.configuration(self.write) {
            Ok(matched) => matched,
            Err(why) => {
                self.misconfigured(policy, None, &why);
                return Ok(());
            }
        };
        let mut annotations = audit::Annotations::default();
        for binding in &hook.bindings {
            let is_matched = binding.matches(self.write, self.object);
            match is_matched.map_err(|error| error.to_string()) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(why) => {
                    self.misconfigured(policy, Some(binding), &why);
                    continue;
                }
            }
            let params = match parameters(self.write, policy, binding).await {
                Ok(params) => params,
                Err(why) => {
                    self.misconfigured(policy, Some(binding), &why);
                    continue;
                }
            };
            let namespace = namespace_of(self.write)?;
            if params.is_empty() {
                continue;
            }
            let subject = match self.versions.subject(matched).await {
                Ok(subject) => subject,
                Err(error) => {
                    let why = format!("failed to convert object version: {error}");
                    self.misconfigured(policy, Some(binding), &why);
                    continue;
                }
            };
            let validator = policy.compiled(self.write.deadline).await?;
            let mut results = Vec::with_capacity(params.len());
            for found in &params {
                self.write.deadline.check()?;
                let params = found.as_ref().map(|found| found.read(self.write.deadline));
                results.push(validator.validate(&subject, params.as_ref(), namespace.as_ref(), policy)?);
            }
            for result in results {
                for ignored in &result.ignored {
                    self.count(policy, binding, "allow", ignored);
                }
                for (index, denial) in result.denials {
                    self.denied(policy, binding, index, &denial, notes);
                }
                for (key, published) in result.annotations {
                    match published {
                        Published::Value(value) => annotations.add(key, &value),
                        Published::Error(error) => {
                            self.deny(policy, Some(binding), &error.message, "");
                            self.count(policy, binding, "deny", &error);
                        }
                    }
                }
            }
        }
        notes.annotations.extend(annotations.published(&policy.name));
        Ok(())
    }

    /// A policy or, with one, a binding that cannot be evaluated for the write.
    fn misconfigured(&mut self, policy: &Policy<Validator>, binding: Option<&Binding>, why: &str) {
        if policy.fails {
            let what = if binding.is_some() { "binding" } else { "policy" };
            self.deny(policy, binding, &format!("failed to configure {what}: {why}"), "");
        }
    }

    /// A validation that failed: what follows from it is the binding's choice.
    fn denied(
        &mut self,
        policy: &Policy<Validator>,
        binding: &Binding,
        index: usize,
        denial: &Denial,
        notes: &mut Notes,
    ) {
        let message = &denial.message;
        for action in &binding.actions {
            match action {
                Action::Deny => self.deny(policy, Some(binding), message, denial.reason),
                Action::Audit => self.failures.push(Failure::of(binding, index, message)),
                Action::Warn => notes.warnings.push(format!(
                    "Validation failed for ValidatingAdmissionPolicy '{}' with binding '{}': {message}",
                    policy.name, binding.name
                )),
            }
            self.count(policy, binding, &action.name().to_ascii_lowercase(), denial);
        }
    }

    /// Counts a validation that did not hold, and what followed.
    fn count(&self, policy: &Policy<Validator>, binding: &Binding, action: &str, denial: &Denial) {
        let labels = [action, error_type(&denial.message), &policy.name, &binding.name];
        self.write.server.measures.count(&VALIDATIONS_TOTAL, &labels);
        self.write.server.measures.time(&VALIDATION_DURATION, &labels, denial.elapsed);
    }

    fn deny(&mut self, policy: &Policy<Validator>, binding: Option<&Binding>, why: &str, reason: &'static str) {
        let with = binding.map_or_else(String::new, |binding| format!(" with binding '{}'", binding.name));
        let message = || format!("ValidatingAdmissionPolicy '{}'{with} denied request: {why}", policy.name);
        self.denied.get_or_insert_with(|| (message(), reason));
    }
}

/// The refusal of a write for that reason (`reasonToCode`).
fn refusal(write: &Attributes<'_>, object: &Value, message: String, reason: &'static str) -> ApiError {
    let (code, reason) = match reason {
        "Forbidden" => (403, reason),
        "Unauthorized" => (401, reason),
        "RequestEntityTooLarge" => (413, reason),
        _ => (422, "Invalid"),
    };
    write.forbidden(object, &message).with_reason(code, reason).with_cause("", message, "")
}
