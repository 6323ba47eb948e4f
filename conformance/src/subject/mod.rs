//! The targets that scenarios can be played against.

mod audit;
mod calls;
pub mod cluster;
pub mod controller;
pub mod controllers;
mod embedded;
mod kcm;
mod process;
mod real;

pub use cluster::{Cluster, Setup};
pub use embedded::Embedded;
pub use kcm::Kcm;
pub use process::Process;
pub use real::Real;

use crate::client::Endpoint;
use anyhow::{Context as _, Result};
use conformance_judge::scenario::Scenario;
use conformance_judge::scenario::power::Power;
use futures::future::BoxFuture;
use jiff::Timestamp;
use serde_json::json;

/// The time at which a manual clock starts: 2026-01-01T00:00:00Z.
const START: Timestamp = Timestamp::constant(1_767_225_600, 0);

/// A kind of API server that scenarios can be played against.
pub trait Target: Send + Sync {
    /// The name in the ledger and in reports.
    fn name(&self) -> &'static str;

    /// The powers: abilities beyond serving the API.
    fn powers(&self) -> &'static [Power];

    /// Whether all clusters are one server, so that an exclusive scenario has to be played alone.
    fn is_shared(&self) -> bool {
        false
    }

    /// Whether `scenario` is played on this target. False where it would only repeat another target's result.
    fn concerns(&self, _scenario: &Scenario) -> bool {
        true
    }

    /// A fresh cluster for one scenario.
    fn start<'a>(&'a self, setup: &'a Setup) -> BoxFuture<'a, Result<Box<dyn Cluster>>>;
}

/// The flags of a fake with `flags`: RBAC as on all targets, unless they say otherwise.
fn with_rbac(flags: &[String]) -> Vec<String> {
    let decides =
        |flag: &String| ["mode", "config"].iter().any(|end| flag.starts_with(&format!("--authorization-{end}=")));
    let decided = flags.iter().any(decides);
    let usual = if decided { None } else { Some("--authorization-mode=RBAC".to_owned()) };
    usual.into_iter().chain(flags.iter().cloned()).collect()
}

/// Creates a namespace for `scenario`, with the administrator's `token`, and returns its name.
async fn own_namespace(endpoint: &Endpoint, token: &str, scenario: &str) -> Result<String> {
    let slug = scenario.replace(['/', '['], "-").replace(']', "");
    let body = json!({"metadata": {"generateName": format!("{}-", &slug[..slug.len().min(50)])}});
    let created = endpoint.ask(Some(token), "POST", "/api/v1/namespaces", &body).await?;
    Ok(created["metadata"]["name"].as_str().with_context(|| format!("no namespace: {created}"))?.to_owned())
}
