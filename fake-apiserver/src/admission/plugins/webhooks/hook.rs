//! A webhook of a configuration: which writes it is about, and how it is called.
//!
//! Follows `k8s.io/apiserver/pkg/admission/plugin/webhook/accessors.go` (v0.37.1).

use crate::admission::cel::{Conditions, Scope};
use crate::admission::matching::Constraints;
use crate::custom::review::ReviewVersion;
use crate::joint::Made;
use crate::registry::{items, text};
use crate::webhook::{Client, Credentials, Network};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tree::Value;

/// The time for a call where a configuration names none, which the defaults do not allow.
const LONGEST: Duration = Duration::from_secs(30);

/// A webhook.
#[derive(Debug)]
pub(super) struct Hook {
    pub(super) name: String,
    /// The name of its configuration.
    pub(super) configuration: String,
    /// Its identity: the configuration, its name there, and the number of those before it that have the same name.
    pub(super) uid: String,
    pub(super) constraints: Arc<Constraints>,
    /// Its conditions, if it has any, with their scope.
    pub(super) conditions: Option<Arc<Made<(Conditions, Scope)>>>,
    /// Whether a write is refused if the call fails.
    pub(super) fails: bool,
    /// Whether it may be called for a write that is not stored.
    pub(super) has_no_side_effects: bool,
    /// Whether it is called again when others change the object after it.
    pub(super) is_reinvoked: bool,
    pub(super) timeout: Duration,
    /// The version of reviews that it is sent; `None`, if it names no known one.
    pub(super) version: Option<ReviewVersion>,
    client_config: Arc<Value>,
    client: OnceLock<Client>,
}

impl Hook {
    /// The webhooks of a configuration, in its order.
    pub(super) fn all_of(configuration: &str, object: &mut Value) -> Arc<[Arc<Hook>]> {
        let mut known: HashMap<String, usize> = HashMap::new();
        let hook = |webhook: &mut Value| {
            let number = known.entry(text(webhook, "/name").to_owned()).or_default();
            let hook = Hook::of(configuration, *number, webhook);
            *number += 1;
            Arc::new(hook)
        };
        object["webhooks"].as_array_mut().into_iter().flatten().map(hook).collect()
    }

    fn of(configuration: &str, number: usize, webhook: &mut Value) -> Hook {
        let conditions = match webhook["matchConditions"].take() {
            Value::Array(conditions) if !conditions.is_empty() => {
                Some(Arc::new(Made::by(Conditions::of_webhook(conditions))))
            }
            _ => None,
        };
        let name = text(webhook, "/name");
        Hook {
            name: name.into(),
            configuration: configuration.into(),
            uid: format!("{configuration}/{name}/{number}"),
            constraints: Constraints::of_webhook(webhook).into(),
            conditions,
            fails: webhook["failurePolicy"] != "Ignore",
            has_no_side_effects: matches!(webhook["sideEffects"].as_str(), Some("None" | "NoneOnDryRun")),
            is_reinvoked: webhook["reinvocationPolicy"] == "IfNeeded",
            timeout: webhook["timeoutSeconds"].as_u64().map_or(LONGEST, Duration::from_secs),
            version: ReviewVersion::first(items(webhook, "/admissionReviewVersions")),
            client_config: webhook["clientConfig"].clone().into(),
            client: OnceLock::new(),
        }
    }

    /// The same without a client: one of another cluster finds other services.
    pub(super) fn apart(&self) -> Hook {
        Hook {
            name: self.name.clone(),
            configuration: self.configuration.clone(),
            uid: self.uid.clone(),
            constraints: self.constraints.clone(),
            conditions: self.conditions.clone(),
            client_config: self.client_config.clone(),
            client: OnceLock::new(),
            ..*self
        }
    }

    /// Its client, which is made when it is first needed.
    ///
    /// # Errors
    /// If the configuration does not describe one, or a file with credentials for it cannot be read, which may change.
    pub(super) fn client(&self, network: &Arc<Network>, credentials: &Credentials) -> Result<&Client, String> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = Client::strict(&self.client_config, network, credentials)?;
        Ok(self.client.get_or_init(|| client))
    }
}
