//! A call of a webhook, up to a sound verdict.
//!
//! Follows `callAttrMutatingHook` and `callHook` of `k8s.io/apiserver/pkg/admission/plugin/webhook/{mutating,validating}/dispatcher.go`,
//! and `pkg/admission/plugin/webhook/errors/statuserror.go` (v0.37.1).

use super::configurations::Configured;
use super::hook::Hook;
use super::hooks::Hooks;
use super::review::{Review, Verdict};
use crate::admission::families::{CALL_DURATION, CALLS_TOTAL, FAIL_OPEN, REJECTIONS};
use crate::admission::matching::Matched;
use crate::admission::{Attributes, Encoded};
use crate::auth::Notes;
use crate::coverage::{CALLED, Owner};
use crate::error::ApiError;
use crate::ids::uuid;
use crate::object::name;
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::Instant;
use tree::Value;

/// The reason that a write does not go on.
#[derive(Debug)]
pub(super) enum Failure {
    /// The webhook could not be asked, or did not answer as it should; the policy of the webhook decides. With the status in metrics.
    Call(String, u16),
    /// The webhook refuses the write.
    Denial(ApiError),
    /// The write is refused for another reason, whatever the policy.
    Refusal(ApiError),
}

/// The status in metrics of a call without another one.
pub(super) const UNAVAILABLE: u16 = 503;
/// The greatest status in metrics.
const GREATEST: u16 = 600;

/// A webhook that is about a write, and the objects in the form in which it gets them.
pub(super) struct Call<'c> {
    pub(super) hook: &'c Hook,
    pub(super) write: &'c Attributes<'c>,
    pub(super) matched: Matched<'c>,
    pub(super) objects: &'c Encoded,
}

impl Call<'_> {
    /// Asks the webhook. Its warnings and annotations are noted.
    pub(super) async fn ask<K: Configured>(
        &self,
        hooks: &Hooks<K>,
        is_mutating: bool,
        notes: &mut Notes,
    ) -> Result<Verdict, Failure> {
        let Call { hook, write, .. } = self;
        if write.options.dry_run() && !hook.has_no_side_effects {
            let why = format!("admission webhook {:?} does not support dry run", hook.name);
            return Err(Failure::Refusal(ApiError::bad_request(why)));
        }
        let unknown =
            "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)";
        let version = hook.version.ok_or_else(|| Failure::Call(unknown.into(), 400))?;
        if let Some(coverage) = write.server.coverage {
            let rule = format!("{} {}", hook.name, write.operation.name());
            coverage.count(Owner::of_cluster(K::KIND, &hook.configuration), rule, CALLED);
        }
        let review =
            Review { version, uid: uuid(fastrand::u128(..)), write, matched: self.matched, objects: self.objects };
        let client = hooks.client(hook, write.server.network);
        let client = client.map_err(|why| Failure::Call(format!("could not get REST client: {why}"), 500))?;
        let failed = |why: &str, code| Failure::Call(format!("failed to call webhook: {why}"), code);
        let left = write.ends.map(|ends| ends.saturating_duration_since(Instant::now()));
        let limit = left.map_or(hook.timeout, |left| left.min(hook.timeout));
        let answer = tokio::select! {
            answer = client.post(review.question(), limit) => answer,
            () = write.server.shutdown.cancelled() => Err("context canceled".to_owned().into()),
        };
        let answer = answer.map_err(|refusal| failed(&refusal.message, refusal.code.unwrap_or(UNAVAILABLE)))?;
        let decoded = review.decoded(&answer).map_err(|why| failed(&why, UNAVAILABLE))?;
        let verdict = review.verdict(decoded, is_mutating);
        let invalid = |why| Failure::Call(format!("received invalid webhook response: {why}"), UNAVAILABLE);
        let verdict = verdict.map_err(invalid)?;
        let annotations = verdict.annotations.iter();
        annotate_all(notes, annotations.map(|(key, value)| (format!("{}/{key}", hook.name), value.clone())));
        notes.warnings.extend(verdict.warnings.iter().cloned());
        match verdict.allowed {
            true => Ok(verdict),
            false => Err(Failure::Denial(denied(&hook.name, &verdict.status))),
        }
    }

    /// Counts the call, which took that long; `phase` is the type of the webhook in metrics.
    pub(super) fn count(&self, phase: &str, elapsed: Duration, failure: Option<&Failure>) {
        let Call { hook, write, .. } = self;
        let (measures, operation) = (write.server.measures, write.operation.name());
        let (error, code) = match failure {
            None => ("", 200),
            Some(Failure::Call(_, code)) => ("calling_webhook_error", *code),
            Some(Failure::Denial(denial)) => ("no_error", denial.code()),
            Some(Failure::Refusal(_)) => ("apiserver_internal_error", 0),
        };
        let is_passed_over = matches!(failure, Some(Failure::Call(..))) && !hook.fails;
        let rejected = if failure.is_some() && !is_passed_over { "true" } else { "false" };
        let code = code.min(GREATEST).to_string();
        if is_passed_over {
            measures.count(&FAIL_OPEN, &[&hook.name, phase]);
        } else if failure.is_some() {
            measures.count(&REJECTIONS, &[error, &hook.name, operation, &code, phase]);
        }
        measures.count(&CALLS_TOTAL, &[&code, &hook.name, operation, rejected, phase]);
        measures.time(&CALL_DURATION, &[&hook.name, operation, rejected, phase], elapsed);
    }
}

/// The webhook's failure, as the client of the write is told.
pub(super) fn told(hook: &Hook, why: &str) -> ApiError {
    ApiError::internal(format!("failed calling webhook {:?}: {why}", hook.name))
}

/// Notes an annotation of the audit event, unless its key is not valid, or has another value.
pub(super) fn annotate(notes: &mut Notes, key: &str, value: String) {
    if is_valid(key) && !notes.annotations.iter().any(|(known, _)| *known == key) {
        notes.annotations.push((key.to_owned().into(), value));
    }
}

/// The same of many annotations.
pub(super) fn annotate_all(notes: &mut Notes, annotations: impl Iterator<Item = (String, String)>) {
    let mut known: HashSet<String> = notes.annotations.iter().map(|(key, _)| key.to_string()).collect();
    let new = annotations.filter(|(key, _)| is_valid(key) && known.insert(key.clone()));
    notes.annotations.extend(new.map(|(key, value)| (key.into(), value)));
}

fn is_valid(key: &str) -> bool {
    key.matches('/').count() == 1 && name::label_key(key).is_empty()
}

/// `ToStatusErr`.
pub(super) fn denied(hook: &str, status: &Value) -> ApiError {
    ApiError::in_words_of(status, |message, reason| {
        let denied = format!("admission webhook {hook:?} denied the request");
        match (message, reason) {
            ("", "") => format!("{denied} without explanation"),
            ("", why) | (why, _) => format!("{denied}: {why}"),
        }
    })
}
