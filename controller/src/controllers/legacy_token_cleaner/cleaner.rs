//! The cleaner: an evaluation of all token secrets, and the writes that follow from it.

use super::labels::{INVALID_SINCE_LABEL, TRACKING_CONFIG_MAP};
use super::verdict::{CutOff, Verdict, day_after_tracking_began, judge};
use crate::client_go::api_errors::{is_conflict, is_not_found};
use crate::client_go::informer::{Informer, ObjectKey};
use crate::client_go::objects::Objects;
use crate::clock::Clock;
use crate::controllers::tokens::SERVICE_ACCOUNT_NAME_KEY;
use crate::controllers::tokens::keys::annotation;
use crate::pods::visit_secret_names;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret, ServiceAccount};
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use kube::{Client, ResourceExt};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tracing::{error, info};

/// The informers of the cleaner.
#[derive(Clone)]
pub struct Stores {
    /// The service accounts that the tokens are of.
    pub service_accounts: Arc<Informer<ServiceAccount>>,
    /// The secrets with the tokens.
    pub secrets: Arc<Informer<Secret>>,
    /// The pods that may use the tokens.
    pub pods: Arc<Informer<Pod>>,
}

/// The cleaner, which acts through `client` on the informers' objects by the time of `clock`.
pub(super) struct Cleaner {
    pub(super) client: Client,
    pub(super) stores: Stores,
    pub(super) clock: Clock,
    pub(super) clean_up_period: Duration,
}

impl Cleaner {
    /// Evaluates all token secrets once.
    pub(super) async fn evaluate(&self) {
        let now = (self.clock)();
        let tracked_since = match self.latest_possible_tracked_since().await {
            Ok(tracked_since) => tracked_since,
            Err(error) => {
                error!(%error, "getting latest possible tracked-since time");
                return;
            }
        };
        let Some(cut_off) = CutOff::new(now, tracked_since, self.clean_up_period) else { return };
        let mut mounted = BTreeMap::new();
        for secret in self.stores.secrets.all() {
            let namespace = secret.namespace().unwrap_or_default();
            let account = self.service_account(&namespace, &secret);
            let used = |name: &str| {
                let names = mounted.entry(namespace.clone()).or_insert_with(|| self.mounted_secrets(&namespace));
                names.contains(name)
            };
            match judge(&secret, account.as_deref(), used, &cut_off) {
                Ok(Verdict::Keep) => {}
                Ok(Verdict::Mark) => self.mark(&namespace, &secret, &cut_off.today).await,
                Ok(Verdict::Delete) => self.delete(&namespace, &secret).await,
                Err(label) => error!(namespace, secret = secret.name_any(), label, "parsing last-used date"),
            }
        }
    }

    /// The time since when uses are tracked for certain.
    async fn latest_possible_tracked_since(&self) -> anyhow::Result<Timestamp> {
        let api = Objects::<ConfigMap>::namespaced(self.client.clone(), "kube-system");
        let config_map = api.get(TRACKING_CONFIG_MAP).await?;
        day_after_tracking_began(&config_map)
    }

    /// The cached service account that the secret names; `judge` compares the uid.
    fn service_account(&self, namespace: &str, secret: &Secret) -> Option<Arc<ServiceAccount>> {
        let name = annotation(secret, SERVICE_ACCOUNT_NAME_KEY);
        self.stores.service_accounts.get(&ObjectKey::new(namespace, name))
    }

    fn mounted_secrets(&self, namespace: &str) -> BTreeSet<String> {
        let pods = self.stores.pods.in_namespace(namespace);
        pods.iter().flat_map(|pod| visit_secret_names(pod)).map(str::to_owned).collect()
    }

    async fn mark(&self, namespace: &str, secret: &Secret, today: &str) {
        let name = secret.name_any();
        info!(namespace, secret = name, invalid_since = today, "marking the auto-generated token as invalid");
        let metadata = json!({
            "name": name, "namespace": namespace, "uid": secret.uid(), "labels": {INVALID_SINCE_LABEL: today},
        });
        let patch = json!({"kind": "Secret", "apiVersion": "v1", "metadata": metadata});
        let patched = self.secrets_in(namespace).patch(&name, &PatchParams::default(), &Patch::Merge(patch)).await;
        if let Err(error) = patched {
            error!(namespace, secret = name, %error, "failed to label the token with its invalid-since date");
        }
    }

    /// Deletes the secret unless it has changed since, such as by a use. Not found is a success.
    async fn delete(&self, namespace: &str, secret: &Secret) {
        let name = secret.name_any();
        info!(namespace, secret = name, "deleting auto-generated service account token");
        let unchanged = Preconditions { uid: None, resource_version: secret.resource_version() };
        let params = DeleteParams::default().preconditions(unchanged);
        match self.secrets_in(namespace).delete(&name, &params).await {
            Err(error) if !is_conflict(&error) && !is_not_found(&error) => {
                error!(namespace, secret = name, %error, "deleting legacy service account token");
            }
            _ => {}
        }
    }

    fn secrets_in(&self, namespace: &str) -> Objects<Secret> {
        Objects::namespaced(self.client.clone(), namespace)
    }
}
