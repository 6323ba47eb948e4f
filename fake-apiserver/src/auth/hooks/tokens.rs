//! The authenticator that asks a webhook about tokens.
//!
//! Ports `plugin/pkg/authenticator/token/webhook/webhook.go` and `pkg/authentication/token/cache` of `k8s.io/apiserver` (v0.37.1).

use super::caller::{Caller, ReviewKind};
use crate::auth::service_account::intersection;
use crate::clock::{Clock, plus};
use crate::memo::Memo;
use crate::registry::strings;
use crate::schema::encode_any;
use crate::user::User;
use crate::webhook::Network;
use jiff::{SignedDuration, Timestamp};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tree::{Value, json};

/// The time for an attempt to ask (`defaultRequestTimeout`).
const TIMEOUT: Duration = Duration::from_secs(30);

/// A webhook that authenticates tokens.
pub(crate) struct TokenWebhook {
    caller: Caller,
    /// The audiences of a token about which it says none.
    api_audiences: Vec<String>,
    /// The time for which its answers are kept.
    kept_for: Duration,
    /// The answers that are kept, by token and audiences, each until a time.
    answers: Memo<String, (Timestamp, Answer)>,
    clock: Arc<dyn Clock>,
}

/// The user of a token, and the requested audiences that it is for; `None` if the webhook does not know it.
type Answer = Option<(Arc<User>, Vec<String>)>;

impl TokenWebhook {
    /// The webhook that a kubeconfig names, which is asked in that version.
    ///
    /// # Errors
    /// If there is no such version, or the kubeconfig cannot be read, or does not name a webhook that can be called.
    pub(crate) fn new(
        kubeconfig: &Path,
        version: &str,
        kept_for: Duration,
        api_audiences: Vec<String>,
        network: &Arc<Network>,
        clock: &Arc<dyn Clock>,
    ) -> Result<TokenWebhook, String> {
        let known = ["v1", "v1beta1"].into_iter().find(|known| *known == version);
        let version = known.ok_or_else(|| {
            format!(
                "unsupported authentication webhook version {version:?}, supported versions are \"v1\", \"v1beta1\""
            )
        });
        let review = |version| ReviewKind { group: "authentication.k8s.io", version, kind: "TokenReview" };
        // As upstream, the file is looked at first.
        let caller = Caller::new(kubeconfig, TIMEOUT, review("v1"), network)?.with(review(version?));
        Ok(TokenWebhook { caller, api_audiences, kept_for, answers: Memo::default(), clock: clock.clone() })
    }

    /// Authenticates a token for those audiences; `None` if the webhook does not know it.
    ///
    /// # Errors
    /// If the webhook fails, or says why it refuses the token.
    pub(crate) async fn authenticate(&self, token: &str, audiences: &[String]) -> Result<Answer, String> {
        let mut spec = json!({"token": token});
        if !audiences.is_empty() {
            spec["audiences"] = audiences.into();
        }
        let key = encode_any(&spec);
        if let Some((_, answer)) = self.answers.get(&key).filter(|(until, _)| self.clock.now() <= *until) {
            return Ok(answer);
        }
        let asked = self.caller.status(&key, "{\"user\":{}}", |_, _| {}).await.map_err(|failed| failed.why);
        let status = asked.inspect_err(|why| tracing::error!("Failed to make webhook authenticator request: {why}"))?;
        let answer = self.answer(&status, audiences)?;
        if !self.kept_for.is_zero() {
            let until = plus(self.clock.now(), SignedDuration::try_from(self.kept_for).unwrap_or(SignedDuration::MAX));
            self.answers.insert(&*key, (until, answer.clone()), 4 * key.len());
        }
        Ok(answer)
    }

    fn answer(&self, status: &Value, audiences: &[String]) -> Result<Answer, String> {
        let said = strings(&status["audiences"]);
        let audiences = intersection(audiences, if said.is_empty() { &self.api_audiences } else { &said });
        if audiences.is_empty() {
            return Ok(None);
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if status["authenticated"] != true {
            let error = text(&status["error"]);
            return if error.is_empty() { Ok(None) } else { Err(error) };
        }
        let user = &status["user"];
        let extra = user["extra"].as_object().into_iter().flatten();
        let user = User {
            name: text(&user["username"]),
            uid: text(&user["uid"]),
            groups: strings(&user["groups"]),
            extra: extra.map(|(key, values)| (key.to_string(), strings(values))).collect(),
        };
        Ok(Some((Arc::new(user.authenticated()), audiences)))
    }
}
