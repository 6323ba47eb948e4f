//! Calls of webhooks that know about users: a review is posted, and the one in the answer is read.
//!
//! Ports `NewGenericWebhook` and `WithExponentialBackoff` of `pkg/util/webhook/webhook.go` of `k8s.io/apiserver` (v0.37.1).
//!
use crate::configuration::kubeconfig;
use crate::deadline::Deadline;
use crate::duration::print;
use crate::schema::{self, lookup};
use crate::webhook::{Client, Document, Network};
use crate::{json, yaml};
use bytes::Bytes;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tree::Value;

/// The number of attempts (`DefaultAuthWebhookRetryBackoff`).
const ATTEMPTS: u32 = 5;
/// The pause after the first of them, without what is added at random.
const PAUSE: Duration = Duration::from_millis(500);
/// The growth of the pause from one attempt to the next.
const GROWTH: f64 = 1.5;
/// The most by which a pause is longer at random, as a part of it.
const JITTER: f64 = 0.2;

/// A kind of review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReviewKind {
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) kind: &'static str,
}

/// The result of an attempt to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallResult {
    Success,
    Timeout,
    Error,
}

/// The failure of the last attempt.
#[derive(Debug)]
pub(super) struct CallFailed {
    pub(super) why: String,
    pub(super) result: CallResult,
}

impl CallResult {
    /// The word of metrics for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            CallResult::Success => "success",
            CallResult::Timeout => "timeout",
            CallResult::Error => "error",
        }
    }
}

/// A webhook that is asked about users.
#[derive(Debug)]
pub(super) struct Caller {
    client: Client,
    /// The time for an attempt.
    timeout: Duration,
    review: ReviewKind,
}

impl Caller {
    /// The webhook that a kubeconfig names.
    ///
    /// # Errors
    /// If it cannot be read, or does not name one that can be called.
    pub(super) fn new(
        path: &Path,
        timeout: Duration,
        review: ReviewKind,
        network: &Arc<Network>,
    ) -> Result<Caller, String> {
        let kubeconfig = kubeconfig::read(path)?;
        let client = Client::of_cluster(&kubeconfig, path.parent().unwrap_or(Path::new("/")), network)?;
        Ok(Caller { client, timeout, review })
    }

    /// The same, asked with another kind of review.
    pub(super) fn with(self, review: ReviewKind) -> Caller {
        Caller { review, ..self }
    }

    /// The `status` of the review with which a webhook answers to one with that `spec`. `status` is what the latter has. Each attempt is told
    /// of, with its result and its duration.
    ///
    /// # Errors
    /// If it fails again and again, or does not answer with a review.
    pub(super) async fn status(
        &self,
        spec: &str,
        status: &str,
        tell: impl Fn(CallResult, Duration) + Send,
    ) -> Result<Value, CallFailed> {
        let ReviewKind { group, version, kind } = self.review;
        let question = Bytes::from(format!(
            "{{\"kind\":\"{kind}\",\"apiVersion\":\"{group}/{version}\",\"metadata\":{{}},\"spec\":{spec},\"status\":{status}}}\n"
        ));
        let (mut pause, told) = (PAUSE, print(self.timeout));
        for left in (0..ATTEMPTS).rev() {
            let asked = Instant::now();
            let answer = self.client.ask(Document::from_iter([question.clone()]), self.timeout, &told).await;
            let elapsed = asked.elapsed();
            let status = answer.map(|answer| self.review.status(&answer));
            let result = match &status {
                Ok(Ok(_)) => CallResult::Success,
                Err(why) if why.is_timeout() => CallResult::Timeout,
                Ok(Err(_)) | Err(_) => CallResult::Error,
            };
            tell(result, elapsed);
            let failed = |why| CallFailed { why, result };
            match status {
                Ok(status) => return status.map_err(failed),
                Err(why) if left == 0 || !why.is_transient() => return Err(failed(why.message)),
                Err(_) => tokio::time::sleep(pause.mul_f64(1.0 + JITTER * fastrand::f64())).await,
            }
            pause = pause.mul_f64(GROWTH);
        }
        unreachable!("the last attempt returns")
    }
}

impl ReviewKind {
    /// The `status` of the review in an answer. What it does not say of its type is assumed.
    fn status(&self, document: &[u8]) -> Result<Value, String> {
        let document = match document.trim_ascii_start().starts_with(b"{") {
            true => Cow::Borrowed(document),
            false => Cow::Owned(json::encode(&yaml::parse_unpruned(document, Deadline::never())?.value)),
        };
        let (api_version, kind) = schema::interpret(&document).map_err(|why| why.to_string())?;
        self.check(&api_version, &kind)?;
        // The older versions have the same status.
        let ty = lookup(&format!("{}/v1", self.group), self.kind).expect("the schema has reviews");
        let mut review = schema::decode_json(&document, ty).map_err(|why| why.to_string())?.object;
        Ok(review["status"].take())
    }

    fn check(&self, api_version: &str, kind: &str) -> Result<(), String> {
        let own = format!("{}/{}", self.group, self.version);
        let api_version = if api_version.is_empty() { &own } else { api_version };
        let kind = if kind.is_empty() { self.kind } else { kind };
        let of_group =
            |version: &str| version.strip_prefix(self.group).and_then(|rest| rest.strip_prefix('/')).map(str::to_owned);
        match (api_version, kind) {
            (api_version, kind) if api_version == own && kind == self.kind => Ok(()),
            _ if schema::knows(api_version, kind)
                || of_group(api_version).is_some_and(|version| version == "v1beta1") && kind == self.kind =>
            {
                let short = api_version.rsplit('/').next().unwrap_or_default();
                Err(format!("converting ({short}.{kind}) to ({}.{}): unknown conversion", self.version, self.kind))
            }
            _ => Err(format!(
                "no kind {kind:?} is registered for version {api_version:?} in scheme \"pkg/runtime/scheme.go:111\""
            )),
        }
    }
}
