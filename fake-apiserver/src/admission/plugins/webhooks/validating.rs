//! The plugin `ValidatingAdmissionWebhook`: webhooks that may refuse a write, all called at once.
//!
//! Follows `k8s.io/apiserver/pkg/admission/plugin/webhook/validating/dispatcher.go` (v0.37.1). Of several refusals upstream answers with
//! any, and this with that of the first webhook.

use super::call::{Call, Failure, annotate, annotate_all, told};
use super::configurations::{Configurations, Configured};
use super::hook::Hook;
use super::hooks::{Hooks, is_about};
use crate::admission::manifests::Reloaded;
use crate::admission::matching::of_webhooks;
use crate::admission::plugin::{Attributes, Plugin, Verdict};
use crate::admission::{Config, PluginError, Versions};
use crate::auth::Notes;
use crate::coverage::VALIDATING_WEBHOOKS;
use crate::error::ApiResult;
use crate::index::Place;
use crate::registry::ids;
use crate::store::ResourceId;
use futures::future::join_all;
use std::sync::Arc;
use tokio::time::Instant;
use tree::Value;

/// The name of the plugin.
pub(in super::super) const NAME: &str = "ValidatingAdmissionWebhook";

/// The plugin.
pub(in super::super) struct ValidatingWebhooks(Hooks<ValidatingConfigurations>);

/// The configurations of these webhooks.
struct ValidatingConfigurations;

impl Configured for ValidatingConfigurations {
    const RESOURCE: ResourceId = ids::VALIDATING_WEBHOOK_CONFIGURATIONS;
    const KIND: &'static str = VALIDATING_WEBHOOKS;
    const PLACE: Place = Place::ValidatingWebhooks;
}

impl ValidatingWebhooks {
    /// The plugin, for stored configurations and those in files.
    ///
    /// # Errors
    /// If its own configuration is wrong.
    pub(in super::super) fn configured(config: &Config) -> Result<Box<dyn Plugin>, PluginError> {
        Ok(Box::new(ValidatingWebhooks(Hooks::configured(NAME, config)?)))
    }

    async fn dispatch(
        &self,
        hooks: Vec<Arc<Hook>>,
        write: &Attributes<'_>,
        object: &Value,
        notes: &mut Notes,
    ) -> ApiResult<()> {
        let (mut relevant, mut versions) = (Vec::new(), Versions::new(write, object));
        for hook in &hooks {
            let Some(matched) = hook.constraints.matched(write, object)? else { continue };
            let subject = versions.subject(matched).await?;
            if is_about::<ValidatingConfigurations>(hook, &subject).await? {
                relevant.push((hook, matched, versions.encoded(matched).await?));
            }
        }
        if relevant.is_empty() {
            return Ok(());
        }
        write.deadline.check()?;
        let calls = relevant.iter().enumerate().map(|(index, (hook, matched, objects))| async move {
            let mut notes = Notes::default();
            let call = Call { hook, write, matched: *matched, objects };
            let asked = Instant::now();
            let verdict = call.ask(&self.0, false, &mut notes).await;
            call.count("validating", asked.elapsed(), verdict.as_ref().err());
            let verdict = match verdict {
                Ok(_) => Ok(()),
                Err(Failure::Denial(refusal) | Failure::Refusal(refusal)) => Err(refusal),
                Err(Failure::Call(why, _)) if hook.fails => Err(told(hook, &why)),
                Err(Failure::Call(why, _)) => {
                    tracing::warn!(webhook = hook.name, why, "A webhook cannot be called, and is passed over");
                    let key = format!("failed-open.validating.webhook.admission.k8s.io/round_0_index_{index}");
                    annotate(&mut notes, &key, hook.name.clone());
                    Ok(())
                }
            };
            (verdict, notes)
        });
        let mut outcome = Ok(());
        for (verdict, own) in join_all(calls).await {
            notes.warnings.extend(own.warnings);
            annotate_all(notes, own.annotations.into_iter().map(|(key, value)| (key.into_owned(), value)));
            outcome = outcome.and(verdict);
        }
        outcome
    }
}

impl Plugin for ValidatingWebhooks {
    fn validate<'a>(&'a self, write: &'a Attributes<'a>, object: &'a Value, notes: &'a mut Notes) -> Verdict<'a> {
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
