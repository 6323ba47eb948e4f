//! The plugin `MutatingAdmissionWebhook`: webhooks that may change the object, one after the other.
//!
//! Follows `k8s.io/apiserver/pkg/admission/plugin/webhook/mutating/{dispatcher,reinvocationcontext}.go` (v0.37.1).

use super::call::{Call, Failure, annotate, told};
use super::configurations::{Configurations, Configured};
use super::hook::Hook;
use super::hooks::{Hooks, is_about};
use crate::admission::manifests::Reloaded;
use crate::admission::matching::{self, of_webhooks};
use crate::admission::plugin::{Attributes, Plugin, Verdict};
use crate::admission::{Config, Kind, PluginError, Versions};
use crate::auth::Notes;
use crate::coverage::MUTATING_WEBHOOKS;
use crate::error::ApiResult;
use crate::index::Place;
use crate::json;
use crate::managed;
use crate::object::meta;
use crate::registry::ids;
use crate::store::ResourceId;
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::time::Instant;
use tree::Value;

/// The name of the plugin.
pub(in super::super) const NAME: &str = "MutatingAdmissionWebhook";

/// The plugin.
pub(in super::super) struct MutatingWebhooks(Hooks<MutatingConfigurations>);

/// The configurations of these webhooks.
struct MutatingConfigurations;

impl Configured for MutatingConfigurations {
    const RESOURCE: ResourceId = ids::MUTATING_WEBHOOK_CONFIGURATIONS;
    const KIND: &'static str = MUTATING_WEBHOOKS;
    const PLACE: Place = Place::MutatingWebhooks;
}

/// The state of a write from one round to the next (`webhookReinvokeContext`).
#[derive(Default)]
struct Rounds {
    /// The object after the last call.
    output: Option<Value>,
    /// Whether a patch has been applied. The first one also cuts times to seconds, which upstream takes for a change.
    is_patched: bool,
    /// The webhooks that have been called, and are to be called again if the object changes.
    called: BTreeSet<String>,
    /// The webhooks to call in the second round.
    again: BTreeSet<String>,
}

/// The annotation about a call (`MutationAuditAnnotation`).
#[derive(Serialize)]
struct Called<'c> {
    configuration: &'c str,
    webhook: &'c str,
    mutated: bool,
}

/// The annotation about a patch (`PatchAuditAnnotation`).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Applied<'c> {
    configuration: &'c str,
    webhook: &'c str,
    patch: &'c Value,
    patch_type: &'static str,
}

/// An annotation as text.
fn text(annotation: &impl Serialize) -> String {
    String::from_utf8_lossy(&json::encode(annotation)).into_owned()
}

impl Rounds {
    /// The object has changed: those that were called before have to see it again.
    fn changed(&mut self) {
        self.again.append(&mut self.called);
    }
}

/// Puts the managers from before the calls back where webhooks have left ones that cannot be read (`fieldmanager/admission.go`).
fn restore_managers(object: &mut Value, before: Option<Value>, notes: &mut Notes) {
    let Err(why) = managed::decode(object["metadata"].get("managedFields")) else { return };
    match before {
        Some(before) => meta::set(object, "managedFields", before),
        None => meta::remove(object, "managedFields"),
    }
    notes.warnings.push(format!(
        ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission \
         controller; please fix your requests: {why}"
    ));
}

impl MutatingWebhooks {
    /// The plugin, for stored configurations and those in files.
    ///
    /// # Errors
    /// If its own configuration is wrong.
    pub(in super::super) fn configured(config: &Config) -> Result<Box<dyn Plugin>, PluginError> {
        Ok(Box::new(MutatingWebhooks(Hooks::configured(NAME, config)?)))
    }

    async fn dispatch(
        &self,
        hooks: Vec<Arc<Hook>>,
        write: &Attributes<'_>,
        object: &mut Value,
        notes: &mut Notes,
    ) -> ApiResult<()> {
        let rounds = write.reinvocation;
        if rounds.is_second() {
            rounds.state(NAME, |state: &mut Rounds| {
                // Other plugins have changed it in this round.
                if state.output.as_ref() != Some(object) {
                    state.changed();
                }
            });
        }
        let managers = object["metadata"].get("managedFields").cloned();
        let verdict = self.call_all(&hooks, write, object, notes).await;
        restore_managers(object, managers, notes);
        rounds.state(NAME, |state: &mut Rounds| state.output = Some(object.clone()));
        verdict
    }

    /// Calls the webhooks, of which all see the object as the last one that has changed it left it.
    async fn call_all(
        &self,
        hooks: &[Arc<Hook>],
        write: &Attributes<'_>,
        object: &mut Value,
        notes: &mut Notes,
    ) -> ApiResult<()> {
        let mut hooks = hooks.iter().enumerate();
        loop {
            let mut versions = Versions::new(write, object);
            let changed = loop {
                let Some((index, hook)) = hooks.next() else { return Ok(()) };
                if let Some(changed) = self.call(hook, index, write, &mut versions, notes).await? {
                    break changed;
                }
            };
            *object = changed;
        }
    }

    /// Calls a webhook, if it is about the write. The object as it wants it, if it wants a change.
    async fn call<'w>(
        &self,
        hook: &Hook,
        index: usize,
        write: &'w Attributes<'w>,
        versions: &mut Versions<'w, '_>,
        notes: &mut Notes,
    ) -> ApiResult<Option<Value>> {
        let object = versions.object();
        let Some(matched) = hook.constraints.matched(write, object)? else { return Ok(None) };
        if !is_about::<MutatingConfigurations>(hook, &versions.subject(matched).await?).await? {
            return Ok(None);
        }
        let is_second = write.reinvocation.is_second();
        if is_second && !write.reinvocation.state(NAME, |state: &mut Rounds| state.again.contains(&hook.uid)) {
            return Ok(None);
        }
        let objects = versions.encoded(matched).await?;
        let call = Call { hook, write, matched, objects: &objects };
        let asked = Instant::now();
        let patched = match call.ask(&self.0, true, notes).await {
            Ok(verdict) => call.patched(&verdict),
            Err(failure) => Err(failure),
        };
        call.count("admit", asked.elapsed(), patched.as_ref().err());
        let key = format!("webhook.admission.k8s.io/round_{}_index_{index}", u8::from(is_second));
        let (configuration, name) = (&hook.configuration, &hook.name);
        let mut changed = false;
        let patched = patched.map(|patched| {
            patched.map(|patched| {
                let was_patched =
                    write.reinvocation.state(NAME, |state: &mut Rounds| std::mem::replace(&mut state.is_patched, true));
                changed = !was_patched && has_new_managers(write, object)
                    || matched.json(&patched.object).as_bytes() != objects.object;
                let applied = Applied { configuration, webhook: name, patch: &patched.patch, patch_type: "JSONPatch" };
                annotate(notes, &format!("patch.{key}"), text(&applied));
                patched.object
            })
        });
        let called = Called { configuration, webhook: name, mutated: changed };
        annotate(notes, &format!("mutation.{key}"), text(&called));
        let outcome = match patched {
            Ok(None) => Ok(None),
            Ok(Some(patched)) => {
                let mut object = matching::back(write, patched, matched).await?;
                default(write, &mut object);
                Ok(Some(object))
            }
            Err(failure) => Err(failure),
        };
        write.reinvocation.state(NAME, |state: &mut Rounds| {
            if changed {
                state.changed();
            }
            if hook.is_reinvoked {
                state.called.insert(hook.uid.clone());
            }
        });
        if changed {
            write.reinvocation.request();
        }
        match outcome {
            Ok(object) => Ok(object),
            Err(Failure::Denial(refusal) | Failure::Refusal(refusal)) => Err(refusal),
            Err(Failure::Call(why, _)) if hook.fails => Err(told(hook, &why)),
            Err(Failure::Call(why, _)) => {
                tracing::warn!(webhook = &**name, why, "A webhook cannot be called, and is passed over");
                annotate(notes, &format!("failed-open.mutation.{key}"), name.clone());
                write.deadline.check().map(|()| None)
            }
        }
    }
}

/// Whether the write has changed the managers of the fields: they have the time, to the nanosecond. Maps have it to the second.
fn has_new_managers(write: &Attributes<'_>, object: &Value) -> bool {
    let managers = |object: &Value| object.pointer("/metadata/managedFields").cloned();
    let is_typed = write.version.is_typed() || write.kind != Kind::of(write.version, "");
    is_typed && managers(object).is_some() && managers(object) != write.old.and_then(managers)
}

/// Sets the defaults of an object that was changed.
fn default(write: &Attributes<'_>, object: &mut Value) {
    if write.kind == Kind::of(write.version, "") {
        (write.version.default)(object);
        (write.resource.rules.strategy.default_times)(object, write.server.clock.now());
    }
}

impl Plugin for MutatingWebhooks {
    fn mutate<'a>(&'a self, write: &'a Attributes<'a>, object: &'a mut Value, notes: &'a mut Notes) -> Verdict<'a> {
        let (sight, deadline) = (of_webhooks(write), write.deadline);
        let concerned = |all: &[&Configurations<_>], _: &Value| Configurations::concerned(all, write);
        self.0.configurations.verdict(sight, write.server.store, deadline, object, concerned, |hooks, object| {
            self.dispatch(hooks, write, object, notes)
        })
    }

    fn folder(&self) -> Option<Arc<dyn Reloaded>> {
        self.0.configurations.folder()
    }
}
