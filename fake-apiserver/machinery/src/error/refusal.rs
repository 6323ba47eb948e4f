//! Refusals that another server words.

use super::{ApiError, Cause, Details, Status, StatusMetadata};
use std::borrow::Cow;
use tree::{Value, json};

impl ApiError {
    /// The same refusal with these details.
    #[must_use]
    pub fn with_details(mut self, details: Details) -> Self {
        self.0.details = Some(details);
        self
    }

    /// A refusal in the words of another server: a `Status`, which is sent as it is, but for a code that is none of a failure, and with
    /// the message that `rewrite` makes of its message and reason.
    pub fn in_words_of(status: &Value, rewrite: impl FnOnce(&str, &str) -> String) -> Self {
        let text = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        let number = |value: &Value| value.as_i64().and_then(|number| number.try_into().ok()).unwrap_or(0);
        let cause = |cause: &Value| Cause {
            reason: text(cause, "reason"),
            message: text(cause, "message"),
            field: text(cause, "field"),
        };
        let details = &status["details"];
        let details = details.is_object().then(|| Details {
            name: text(details, "name"),
            group: text(details, "group"),
            kind: text(details, "kind"),
            uid: text(details, "uid"),
            causes: details["causes"].as_array().into_iter().flatten().map(cause).collect(),
            retry_after_seconds: number(&details["retryAfterSeconds"]),
        });
        let (message, reason) = (text(status, "message"), text(status, "reason"));
        let metadata = &status["metadata"];
        ApiError(Box::new(Status {
            kind: "Status",
            api_version: "v1",
            metadata: StatusMetadata {
                self_link: some(text(metadata, "selfLink")),
                resource_version: some(text(metadata, "resourceVersion")),
                continue_token: some(text(metadata, "continue")),
                remaining_item_count: metadata["remainingItemCount"].as_i64(),
                shard_info: metadata.get("shardInfo").map(|info| json!({"selector": text(info, "selector")})),
            },
            status: "Failure",
            message: rewrite(&message, &reason),
            reason: Cow::Owned(reason),
            details,
            code: u16::try_from(number(&status["code"])).unwrap_or(0).max(400),
        }))
    }
}
