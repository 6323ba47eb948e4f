//! The target `kcm`: the fake as a library, with real kube-controller-managers and kube-schedulers in place of the ports.
//!
//! ```text
//!                  ┌── serviceaccount, root-ca-cert-publisher, namespace, and those that the scenario asks for: from the start to
//! fake, over TLS ◀─┤   the end, with the credentials of service accounts
//!                  ├── a kube-scheduler, if the scenario asks for it: likewise, as its user
//!                  └── serviceaccount-token: one for each `controller start`, with the token of its user
//! ```
//!
//! The controllers run in two processes, so that the calls of the tokens controller have a user of their own. (The first process
//! has no signing key: with one a manager starts a tokens controller, whatever its flags say.) The fake's own namespace
//! controller is off. The account `default`, which the managers create in the scenario's namespace too, gets a token secret
//! before the scenario begins, so that a tokens controller has nothing to do for it.
//!
//! It is the library rather than the program because half of the scenarios about controllers inject faults.

use super::controller::{Controller, ControllerKind};
use super::embedded::Running;
use super::{Cluster, Setup, Target};
use crate::control_plane::cache::{self, TOKEN_GENERATING_VERSION, VERSION};
use crate::control_plane::manager::{Access, Invocation, Manager};
use crate::control_plane::plan::KUBE_SCHEDULER;
use crate::control_plane::sentinel::{ACCOUNT_UID, Sentinel, token_secret, until};
use crate::credentials::{ADMINISTRATOR, SCHEDULER, signer_flags};
use crate::subject::controllers::{AlwaysOn, Real, client};
use anyhow::{Context as _, Result, anyhow, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use conformance_judge::scenario::power::Power;
use conformance_judge::scenario::{Scenario, Step};
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kube::api::{PostParams, WatchEvent};
use kube::{Api, Client};
use serde_json::json;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Number of clusters at once: each keeps a processor busy for its first second.
const AT_ONCE: usize = 2;
/// The flag with the controllers that a scenario asks for, which are real ones here.
const CONTROLLERS: &str = "--controllers=";
/// The areas of scenarios about such controllers.
const AREAS: [&str; 5] = ["garbage/", "living/", "namespaces/", "scheduling/", "upkeep/"];
/// Time for the managers to create the account `default`.
const DEADLINE: Duration = Duration::from_secs(60);

/// The target `kcm`.
pub struct Kcm {
    places: Arc<Semaphore>,
}

/// The real managers on one fake.
pub(super) struct Managers {
    folder: TempDir,
    others: Manager,
    scheduler: Option<Manager>,
    sentinel: Arc<Sentinel>,
    started: AtomicUsize,
    _place: OwnedSemaphorePermit,
}

impl Kcm {
    /// Finds the programs.
    ///
    /// # Errors
    /// If one was not built.
    pub fn find() -> Result<Kcm> {
        for version in [VERSION, TOKEN_GENERATING_VERSION] {
            cache::program(version, "kube-controller-manager")?;
        }
        cache::program(VERSION, KUBE_SCHEDULER)?;
        Ok(Kcm { places: Arc::new(Semaphore::new(AT_ONCE)) })
    }

    /// Starts a cluster; unlike that of [`Target::start`], the result gives access to the fake.
    pub(crate) async fn launch(&self, setup: &Setup) -> Result<Running> {
        let place = Arc::clone(&self.places).acquire_owned().await?;
        let (wanted, flags): (Vec<String>, Vec<String>) =
            setup.flags.iter().cloned().partition(|flag| flag.starts_with(CONTROLLERS));
        let setup = Setup { flags, ..setup.clone() };
        let mut running = Running::start(&setup, |builder| builder.namespace_controller(false)).await?;
        let wanted: Vec<&str> = wanted.iter().flat_map(|flag| flag[CONTROLLERS.len()..].split(',')).collect();
        running.managers = Some(Managers::start(&running, place, &wanted).await?);
        Ok(running)
    }
}

impl Target for Kcm {
    fn name(&self) -> &'static str {
        "kcm"
    }

    fn powers(&self) -> &'static [Power] {
        &[
            Power::Cache,
            Power::Calls,
            Power::Clock,
            Power::Compaction,
            Power::Controllers,
            Power::Faults,
            Power::Flags,
            Power::Legacy,
            Power::Log,
            Power::Outages,
            Power::Replicas,
            Power::Signing,
            Power::Webhooks,
        ]
    }

    /// Other scenarios are about the API server alone, and would see objects that the controllers create. Of controllers that run
    /// from start to end only the objects can be expected, not the calls.
    fn concerns(&self, scenario: &Scenario) -> bool {
        let asks_for_calls = |step: &Step| match (step.command.verb.as_str(), &step.command.words()[..]) {
            ("calls" | "tally", ["of", user, ..]) => !user.starts_with("tokens"),
            _ => false,
        };
        let about_controllers = scenario.needs.contains(&Power::Controllers);
        (about_controllers && !scenario.steps.iter().any(asks_for_calls))
            || AREAS.iter().any(|area| scenario.name.starts_with(area))
    }

    fn start<'a>(&'a self, setup: &'a Setup) -> BoxFuture<'a, Result<Box<dyn Cluster>>> {
        Box::pin(async move { Ok(Box::new(self.launch(setup).await?) as Box<dyn Cluster>) })
    }
}

impl Managers {
    async fn start(cluster: &Running, place: OwnedSemaphorePermit, wanted: &[&str]) -> Result<Managers> {
        let folder = tempfile::tempdir()?;
        let [certificate, key] = signer_flags();
        let (url, ca_pem) = (&cluster.endpoints()[0].url, &cluster.ca_pem().context("they need TLS")?);
        let (schedulers, wanted): (Vec<&str>, Vec<&str>) = wanted.iter().partition(|name| **name == KUBE_SCHEDULER);
        let invocation = Invocation {
            version: VERSION,
            controllers: &[&["serviceaccount", "root-ca-cert-publisher", "namespace"], &wanted[..]].concat(),
            server: Access { url, ca_pem, token: &cluster.token(ADMINISTRATOR).context("no administrator")? },
            flags: &["--use-service-account-credentials", &certificate, &key],
        };
        let others = Manager::start(&folder.path().join("others"), &invocation)?;
        let client = client(cluster, ADMINISTRATOR)?;
        let token = cluster.token(SCHEDULER).context("no scheduler")?;
        let scheduler =
            |_| Manager::scheduler(&folder.path().join(KUBE_SCHEDULER), Access { url, ca_pem, token: &token });
        let scheduler = schedulers.first().map(scheduler).transpose()?;
        let settled = tokio::time::timeout(DEADLINE, settle(&client, cluster.namespace(), ca_pem)).await;
        settled.map_err(|_| anyhow!("no account `default` after {DEADLINE:?}: {}", logs(&folder)))??;
        let sentinel = Arc::new(Sentinel::new(&client).await?);
        Ok(Managers { folder, others, scheduler, sentinel, started: AtomicUsize::new(0), _place: place })
    }

    /// The controller of that kind; started as `user` unless it runs already.
    pub(super) async fn controller(
        &self,
        cluster: &dyn Cluster,
        user: &str,
        kind: ControllerKind,
    ) -> Result<Box<dyn Controller>> {
        let settings = match kind {
            ControllerKind::Tokens(settings) => settings,
            ControllerKind::RootCa | ControllerKind::ServiceAccounts => return Ok(Box::new(AlwaysOn)),
            ControllerKind::LegacyTokenCleaner => {
                bail!("the real one looks once a day, and no clock can tell it that a day is over")
            }
        };
        let number = self.started.fetch_add(1, Ordering::Relaxed) + 1;
        let folder = self.folder.path().join(format!("{user}-{number}"));
        let controller = Real::start(cluster, user, settings, Arc::clone(&self.sentinel), &folder).await?;
        Ok(Box::new(controller))
    }

    /// Stops the managers and returns their logs.
    pub(super) async fn stop(self) -> Result<String> {
        for manager in [Some(self.others), self.scheduler].into_iter().flatten() {
            manager.kill().await?;
        }
        Ok(logs(&self.folder))
    }
}

/// Waits for the account `default` and creates a complete token secret for it, with a token that is not a JWT.
async fn settle(client: &Client, namespace: &str, ca_pem: &str) -> Result<()> {
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), namespace);
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    until(&accounts, "default", "0".to_owned(), |event| matches!(event, WatchEvent::Added(_))).await?;
    let mut account = accounts.get("default").await?;
    let mut secret = token_secret(json!({"name": "default-token"}), "default")?;
    let annotations = secret.metadata.annotations.get_or_insert_default();
    annotations.insert(ACCOUNT_UID.to_owned(), account.metadata.uid.clone().unwrap_or_default());
    let data = [("token", "settled"), ("namespace", namespace), ("ca.crt", ca_pem)];
    let data = data.map(|(key, value)| (key, BASE64.encode(value)));
    secret.data = serde_json::from_value(data.into_iter().collect())?;
    secrets.create(&PostParams::default(), &secret).await?;
    account.secrets = serde_json::from_value(json!([{"name": "default-token"}]))?;
    accounts.replace("default", &PostParams::default(), &account).await?;
    Ok(())
}

/// The logs of the managers with their files in `folder`.
fn logs(folder: &TempDir) -> String {
    let entries = std::fs::read_dir(folder.path()).into_iter().flatten().flatten();
    let mut logs: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    logs.retain(|path| path.extension().is_some_and(|extension| extension == "log"));
    logs.sort();
    logs.iter().fold(String::new(), |mut text, log| {
        let (name, log) = (log.file_stem().unwrap_or_default(), std::fs::read_to_string(log).unwrap_or_default());
        let _ = write!(text, "--- log {}\n{log}", name.display());
        text
    })
}
