//! The auditor of a server: the policy, and the backends that get the events.

use super::backend::{Backend, Delivered};
use super::event::Event;
use super::level::Level;
use super::options::{AuditLogOptions, AuditOptions, LEGACY};
use super::output::{Log, Output, Target, Webhook};
use super::policy::{Plan, Policy, Subject};
use super::policy_file;
use super::rotation::{Limits, RotatingFile};
use crate::clock::Clock;
use crate::configuration::kubeconfig;
use crate::error::aggregate;
use crate::files;
use crate::webhook::{Client, Network};
use futures::future::{BoxFuture, join_all};
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Handle;

/// The auditor.
pub(crate) struct Auditor {
    policy: Policy,
    /// Whether events have more than upstream's, as no policy says what is wanted of them.
    tells_more: bool,
    backends: Vec<Backend>,
    runtime: Handle,
}

impl Auditor {
    /// The auditor that the options describe; `None`, if there is nothing that it would do. Its tasks run there.
    ///
    /// # Errors
    /// If the options are wrong, or a file that they name is.
    pub(crate) fn new(
        options: &AuditOptions,
        clock: &Arc<dyn Clock>,
        network: &Arc<Network>,
        runtime: &Handle,
    ) -> Result<Option<Auditor>, String> {
        let findings = options.findings();
        if !findings.is_empty() {
            return Err(aggregate(findings));
        }
        let policy = options.policy_file.as_deref().map(policy_file::read).transpose();
        let policy = policy.map_err(|why| format!("loading audit policy file: {why}"))?;
        let mut backends = Vec::new();
        let log = &options.log;
        if let Some(path) = &log.path {
            let output = Output::Log(Log::new(target(path, log, clock)?, log.format == LEGACY));
            backends.push(Backend::new(output, &log.batch, &log.truncate, runtime));
        }
        let webhook = &options.webhook;
        match (&webhook.config_file, &policy) {
            (None, _) => {}
            (Some(_), None) => tracing::info!("no audit policy file provided, no events are sent to the webhook"),
            (Some(path), Some(_)) => {
                let client = client(path, network).map_err(|why| format!("initializing audit webhook: {why}"))?;
                let output = Output::Webhook(Box::new(Webhook { client, initial_backoff: webhook.initial_backoff }));
                backends.push(Backend::new(output, &webhook.batch, &webhook.truncate, runtime));
            }
        }
        let tells_more = policy.is_none();
        let auditor =
            Auditor { policy: policy.unwrap_or_else(Policy::of_all), tells_more, backends, runtime: runtime.clone() };
        Ok((!auditor.backends.is_empty()).then_some(auditor))
    }

    /// Whether events have more than upstream's.
    pub(crate) fn tells_more(&self) -> bool {
        self.tells_more
    }

    /// The plan for a request; `None` if there are no events of it.
    pub(crate) fn plan(&self, subject: &Subject<'_>) -> Option<Plan> {
        Some(self.policy.plan(subject)).filter(|plan| plan.level > Level::None)
    }

    /// Delivers an event to all backends.
    pub(super) fn process(&self, event: &Arc<Event>) -> Delivered {
        let delivered = self.backends.iter().map(|backend| backend.process(event.clone()));
        delivered.fold(Delivered::Now(true), Delivered::and)
    }

    /// Runs a delivery that nothing waits for.
    pub(super) fn run(&self, delivery: BoxFuture<'static, bool>) {
        self.runtime.spawn(delivery);
    }

    /// Takes no more events, and waits for those that are under way.
    pub(crate) async fn shut_down(&self) {
        join_all(self.backends.iter().map(Backend::shut_down)).await;
    }
}

/// The place of the log (`getWriter`).
fn target(path: &Path, options: &AuditLogOptions, clock: &Arc<dyn Clock>) -> Result<Target, String> {
    if path.as_os_str() == "-" {
        return Ok(Target::StandardOutput);
    }
    let limits = Limits {
        megabytes: options.max_size.unsigned_abs(),
        backups: usize::try_from(options.max_backups).unwrap_or(usize::MAX),
        days: u32::try_from(options.max_age).unwrap_or(u32::MAX),
        compress: options.compress,
    };
    let file = RotatingFile::open(path, limits, clock.clone())
        .map_err(|error| format!("ensureLogFile: open {}: {}", path.display(), files::reason(&error)))?;
    Ok(Target::File(Box::new(file)))
}

/// The client of the webhook that a kubeconfig names.
fn client(path: &Path, network: &Arc<Network>) -> Result<Client, String> {
    let kubeconfig = kubeconfig::read(path)?;
    Client::of_cluster(&kubeconfig, path.parent().unwrap_or(Path::new("/")), network)
}
