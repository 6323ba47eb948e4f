//! The ValidatingAdmissionPolicy status controller of kube-controller-manager, built in: it checks the types of the expressions of a
//! policy's validations, and notes in the policy's status what it finds.
//!
//! ```text
//!   policy ─▶ kinds ──▶ schemas, declared ──▶ environments, one a kind ──▶ warnings ─▶ status, applied
//! ```
//! Upstream does that a moment after a policy was written; here it is done before the response to the write, with the schemas that
//! are published at that time. Follows `pkg/controller/validatingadmissionpolicystatus/controller.go` of Kubernetes (v1.37.1).
//!
//! GAP: validatingadmissionpolicies: in the type checking of policies, types of parameters whose version is not served

mod environment;
mod kinds;
mod schemas;
mod warnings;

use super::client::Client;
use super::event::Event;
use super::loopback::Account;
use super::reconciler::{Context, Reconciler};
use super::shared::Shared;
use crate::error::ApiResult;
use crate::object::meta;
use crate::registry::ids;
use crate::store::Key;
use futures::FutureExt;
use futures::future::BoxFuture;
use tree::{Map, Value, json};

/// The controller as a client, and the manager of the status (`ControllerName`).
const ACCOUNT: Account = Account {
    user: "system:serviceaccount:kube-system:validatingadmissionpolicy-status-controller",
    manager: "validatingadmissionpolicy-status",
};

pub(super) struct PolicyStatus;

impl Reconciler for PolicyStatus {
    /// A key is the name of a policy.
    fn wants(&self, event: &Event<'_>, _: &Shared) -> Vec<Box<str>> {
        match event {
            Event::Stored(entry, _) if entry.key.resource == ids::VALIDATING_ADMISSION_POLICIES => {
                vec![entry.key.name().into()]
            }
            _ => Vec::new(),
        }
    }

    fn sync<'a>(&'a self, key: &'a str, context: &'a Context<'a>) -> BoxFuture<'a, ApiResult<()>> {
        reconcile(context, Key::new(ids::VALIDATING_ADMISSION_POLICIES, "", key)).boxed()
    }
}

/// Checks the policy, unless its status is about its generation.
async fn reconcile(cluster: &Context<'_>, key: Key) -> ApiResult<()> {
    let Some(entry) = cluster.store.get(&key) else { return Ok(()) };
    let policy = entry.object();
    let generation = meta::generation(&policy);
    if generation <= policy["status"]["observedGeneration"].as_i64().unwrap_or_default() {
        return Ok(());
    }
    let catalog = cluster.catalog();
    let warnings = warnings::warnings(&policy["spec"], &catalog, cluster.now.subsec_nanosecond()).await?;
    let checked: Map = match warnings.is_empty() {
        true => Map::new(),
        false => [("expressionWarnings", Value::from(warnings))].into_iter().collect(),
    };
    let status = json!({"observedGeneration": generation, "typeChecking": checked});
    let client = Client::new(cluster, ACCOUNT, catalog.registry.known(key.resource)).through("status");
    client.apply(&key, [("status", status)].into_iter().collect()).await
}
