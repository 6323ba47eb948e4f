//! The authorizer that asks a webhook.
//!
//! ```text
//!   request ──▶ match conditions ──▶ an answer that is kept ──▶ the webhook ──▶ a decision
//!                  │ one is false: no opinion                     │ fails: no opinion, or refused
//! ```
//! Ports `plugin/pkg/authorizer/webhook/webhook.go` of `k8s.io/apiserver` (v0.37.1).

use super::caller::{CallResult, Caller, ReviewKind};
use super::conditions::Conditions;
use super::question::Question;
use crate::auth::authorizer::{Attributes, Decision, Failure};
use crate::auth::families::{
    CALL_DURATION, CALLS_FAIL_OPEN, CALLS_TOTAL, CONDITION_DURATION, CONDITION_ERRORS, CONDITION_EXCLUSIONS,
};
use crate::clock::{Clock, plus};
use crate::error::ApiResult;
use crate::measures::Measures;
use crate::memo::Memo;
use crate::webhook::Network;
use jiff::{SignedDuration, Timestamp};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The description of a webhook that authorizes.
#[derive(Debug)]
pub(crate) struct AccessWebhookConfig {
    /// The kubeconfig that names it.
    pub(crate) kubeconfig: PathBuf,
    /// The version of the reviews that it is sent: `v1` or `v1beta1`.
    pub(crate) version: &'static str,
    /// The time for an attempt to ask it.
    pub(crate) timeout: Duration,
    /// The time for which answers that allow something are kept.
    pub(crate) allowed_for: Duration,
    /// The time for which other answers are kept.
    pub(crate) refused_for: Duration,
    /// Whether requests are refused if it fails; others may allow them otherwise.
    pub(crate) denies_on_error: bool,
    pub(crate) conditions: Conditions,
}

/// The type of webhooks among authorizers.
const KIND: &str = "Webhook";

/// A webhook that authorizes.
pub(crate) struct AccessWebhook {
    /// Its name among authorizers.
    name: String,
    measures: Arc<Measures>,
    caller: Caller,
    config: AccessWebhookConfig,
    /// The answers that are kept, by what was asked, each until a time.
    answers: Memo<String, (Timestamp, Arc<Answer>)>,
    clock: Arc<dyn Clock>,
}

#[derive(Debug)]
struct Answer {
    allowed: bool,
    denied: bool,
    reason: String,
}

impl AccessWebhook {
    /// A webhook of that name that can be called in that network, whose answers are kept by that clock.
    ///
    /// # Errors
    /// If its kubeconfig cannot be read, or does not name one that can be called.
    pub(crate) fn new(
        name: String,
        config: AccessWebhookConfig,
        network: &Arc<Network>,
        clock: &Arc<dyn Clock>,
        measures: &Arc<Measures>,
    ) -> Result<AccessWebhook, String> {
        let review = ReviewKind { group: "authorization.k8s.io", version: config.version, kind: "SubjectAccessReview" };
        let caller = Caller::new(&config.kubeconfig, config.timeout, review, network)?;
        let (clock, measures) = (clock.clone(), measures.clone());
        Ok(AccessWebhook { name, measures, caller, config, answers: Memo::default(), clock })
    }

    /// Decides about a request.
    ///
    /// # Errors
    /// 504, if the deadline passes.
    pub(crate) async fn decide(&self, attributes: &Attributes<'_>) -> ApiResult<Decision> {
        attributes.deadline.check()?;
        let question = Question::of(attributes);
        if !self.config.conditions.is_empty() {
            match self.matches(&question, attributes) {
                Ok(true) => {}
                Ok(false) => return Ok(Decision::NoOpinion(String::new())),
                Err(error) => return Ok(self.failed(error)),
            }
        }
        let key = question.spec("groups");
        let kept = self.answers.get(&key).filter(|(until, _)| self.clock.now() <= *until);
        let answer = match kept {
            Some((_, answer)) => answer,
            None => match self.ask(&question, &key).await {
                Ok(answer) => answer,
                Err(error) => {
                    tracing::error!("Failed to make webhook authorizer request: {error}");
                    return Ok(self.failed(error));
                }
            },
        };
        Ok(answer.decision())
    }

    /// Whether the conditions are true of the request.
    fn matches(&self, question: &Question<'_>, attributes: &Attributes<'_>) -> Result<bool, String> {
        let since = Instant::now();
        let matched = self.config.conditions.match_request(&question.seen(), attributes.deadline);
        let labels = [&*self.name, KIND];
        self.measures.time(&CONDITION_DURATION, &labels, since.elapsed());
        match &matched {
            Ok(true) => {}
            Ok(false) => self.measures.count(&CONDITION_EXCLUSIONS, &labels),
            Err(_) => self.measures.count(&CONDITION_ERRORS, &labels),
        }
        matched
    }

    /// Asks, and keeps the answer.
    async fn ask(&self, question: &Question<'_>, key: &str) -> Result<Arc<Answer>, String> {
        let old = (self.config.version != "v1").then(|| question.spec("group"));
        let tell = |result: CallResult, elapsed| {
            let labels = [&*self.name, result.word()];
            self.measures.count(&CALLS_TOTAL, &labels);
            self.measures.time(&CALL_DURATION, &labels, elapsed);
        };
        let status = self.caller.status(old.as_deref().unwrap_or(key), "{\"allowed\":false}", tell).await;
        let status = status.map_err(|failed| {
            if !self.config.denies_on_error {
                self.measures.count(&CALLS_FAIL_OPEN, &[&self.name, failed.result.word()]);
            }
            failed.why
        })?;
        let answer = Arc::new(Answer {
            allowed: status["allowed"] == true,
            denied: status["denied"] == true,
            reason: status["reason"].as_str().unwrap_or_default().to_owned(),
        });
        let time = if answer.allowed { self.config.allowed_for } else { self.config.refused_for };
        if question.is_short() && !time.is_zero() {
            let until = plus(self.clock.now(), SignedDuration::try_from(time).unwrap_or(SignedDuration::MAX));
            self.answers.insert(key, (until, answer.clone()), 2 * key.len() + answer.reason.len());
        }
        Ok(answer)
    }

    fn failed(&self, error: String) -> Decision {
        Decision::Failed(Box::new(Failure { denies: self.config.denies_on_error, reason: String::new(), error }))
    }
}

impl Answer {
    fn decision(&self) -> Decision {
        let reason = self.reason.clone();
        match (self.denied, self.allowed) {
            (true, true) => Decision::Failed(Box::new(Failure {
                denies: true,
                reason,
                error: "webhook subject access review returned both allow and deny response".into(),
            })),
            (true, false) => Decision::Deny(reason),
            (false, true) => Decision::Allow(reason),
            (false, false) => Decision::NoOpinion(reason),
        }
    }
}
