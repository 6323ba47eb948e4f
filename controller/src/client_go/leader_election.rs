//! Leader election: work that is done only while holding a Lease, so that one of many candidates works at a time.
//!
//! ```text
//!              acquired                 renewed in time
//!   candidate ─────────▶ leader ◀────────────┐
//!       ▲  │ held by         │ └─────────────┘
//!       └──┘ another         ├──▶ lost      (not renewed within the deadline: the work is cancelled, an error)
//!                            └──▶ released  (stopped, or the work ended)
//! ```
//!
//! When its work has ended, a candidate releases the Lease, so that the next one need not wait; one that lost the Lease
//! tries that too.
//!
//! A Lease expires a time after its last observed change, whatever times are written in it, as clocks differ.
//!
//! Follows client-go v0.37.1 `tools/leaderelection/leaderelection.go` and `resourcelock/leaselock.go`, without
//! coordinated election and without events. `ReleaseOnCancel` is always on.

use super::objects::Objects;
use crate::client_go::api_errors::{is_conflict, is_not_found};
use crate::client_go::leader_status::LeaderStatus;
use crate::clock::Clock;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::Client;
use kube::api::{ObjectMeta, PostParams};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info};

/// The largest share of a pause that is added to it at random, while waiting for a Lease (`JitterFactor`).
pub const JITTER_FACTOR: f64 = 1.2;

/// The configuration of a candidate (`LeaderElectionConfig`).
#[derive(Clone)]
pub struct ElectionConfig {
    /// The candidate's identity, unique among the candidates.
    pub identity: String,
    /// The namespace of the Lease.
    pub namespace: String,
    /// The name of the Lease.
    pub name: String,
    /// The time without a change of the Lease after which other candidates may take it.
    pub lease_duration: Duration,
    /// The time after which a leader gives up renewing the Lease.
    pub renew_deadline: Duration,
    /// The pause between attempts.
    pub retry_period: Duration,
    /// The source of the times that are written into the Lease.
    pub clock: Clock,
}

/// An error of the configuration.
#[derive(Debug, thiserror::Error)]
pub enum ElectionConfigError {
    /// Another candidate could take the Lease while the leader still tries to renew it.
    #[error("leaseDuration must be greater than renewDeadline")]
    LeaseDuration,
    /// There would be no second attempt to renew.
    #[error("renewDeadline must be greater than retryPeriod*JitterFactor")]
    RenewDeadline,
    /// There would be no pause between attempts.
    #[error("retryPeriod must be greater than zero")]
    RetryPeriod,
    /// Candidates could not be told apart.
    #[error("Lock identity is empty")]
    Identity,
}

/// The Lease was not renewed in time: another candidate may be the leader by now.
#[derive(Debug, thiserror::Error)]
#[error("leaderelection lost")]
pub struct LeadershipLost;

/// A candidate.
pub struct LeaderElector {
    config: ElectionConfig,
    leases: Objects<Lease>,
    /// The Lease's spec at its last observed change, and the time of that (`observedRecord`, `observedTime`).
    observed: Option<(LeaseSpec, Instant)>,
    /// The spec last read, not written (`observedRawRecord`).
    read: Option<LeaseSpec>,
    /// The Lease as last read or written, the base of updates.
    lease: Option<Lease>,
    status: LeaderStatus,
    /// The holder that was said to be waited for.
    waits_for: Option<String>,
}

impl LeaderElector {
    /// A candidate that reaches the Lease through `client`.
    ///
    /// # Errors
    /// If the configuration is invalid.
    pub fn new(client: Client, config: ElectionConfig) -> Result<Self, ElectionConfigError> {
        if config.lease_duration <= config.renew_deadline {
            return Err(ElectionConfigError::LeaseDuration);
        }
        if config.renew_deadline <= config.retry_period.mul_f64(JITTER_FACTOR) {
            return Err(ElectionConfigError::RenewDeadline);
        }
        if config.retry_period.is_zero() {
            return Err(ElectionConfigError::RetryPeriod);
        }
        if config.identity.is_empty() {
            return Err(ElectionConfigError::Identity);
        }
        let leases = Objects::namespaced(client, &config.namespace);
        let status = LeaderStatus::default();
        Ok(LeaderElector { config, leases, observed: None, read: None, lease: None, status, waits_for: None })
    }

    /// The status of the election, also while it runs.
    pub fn status(&self) -> LeaderStatus {
        self.status.clone()
    }

    /// Waits for the Lease, then does `work` and renews the Lease, until the work ends or `stop`. The token given to
    /// `work` is cancelled when it has to end; only then is the Lease released.
    ///
    /// # Errors
    /// If the Lease could not be renewed in time.
    pub async fn run<W>(
        mut self,
        stop: CancellationToken,
        work: impl FnOnce(CancellationToken) -> W,
    ) -> Result<(), LeadershipLost>
    where
        W: Future<Output = ()>,
    {
        if stop.run_until_cancelled(self.acquire()).await.is_none() {
            return Ok(());
        }
        self.status.leads(true);
        let stop_work = stop.child_token();
        let work = work(stop_work.clone());
        tokio::pin!(work);
        let lost = tokio::select! {
            () = &mut work => false,
            () = stop.cancelled() => {
                work.await;
                false
            }
            () = self.renew() => {
                stop_work.cancel();
                work.await;
                true
            }
        };
        self.release().await;
        self.status.leads(false);
        if lost { Err(LeadershipLost) } else { Ok(()) }
    }

    async fn acquire(&mut self) {
        info!(lock = self.lock(), "attempting to acquire leader lease");
        while !self.try_acquire_or_renew().await {
            let jitter = 1.0 + fastrand::f64() * JITTER_FACTOR;
            sleep(self.config.retry_period.mul_f64(jitter)).await;
        }
        info!(lock = self.lock(), "successfully acquired lease");
    }

    /// Renews the Lease; returns once the deadline has passed without a renewal.
    async fn renew(&mut self) {
        loop {
            let deadline = self.config.renew_deadline;
            let renewed = timeout(deadline, async {
                while !self.try_acquire_or_renew().await {
                    sleep(self.config.retry_period).await;
                }
            });
            if renewed.await.is_err() {
                error!(lock = self.lock(), "failed to renew lease");
                return;
            }
            sleep(self.config.retry_period).await;
        }
    }

    /// Tries once to acquire or renew the Lease; `true` on success.
    async fn try_acquire_or_renew(&mut self) -> bool {
        // The leader first tries to update the Lease as it knows it, and reads only if that fails.
        if self.is_leader() && self.is_valid() && self.write(self.renewal()).await.is_ok() {
            return true;
        }
        match self.read().await {
            Ok(()) => {}
            Err(error) if is_not_found(&error) => return self.create().await,
            Err(error) => {
                error!(lock = self.lock(), %error, "error retrieving resource lock");
                return false;
            }
        }
        let holder = self.holder();
        if !holder.is_empty() && self.is_valid() && !self.is_leader() {
            match self.waits_for.as_deref() == Some(holder) {
                true => debug!(lock = self.lock(), holder, "lease is held and has not yet expired"),
                false => info!(lock = self.lock(), holder, "waiting for the lease, which another candidate holds"),
            }
            self.waits_for = Some(holder.to_owned());
            return false;
        }
        match self.write(self.renewal()).await {
            Ok(()) => true,
            Err(error) => {
                error!(lock = self.lock(), %error, "failed to update lease");
                false
            }
        }
    }

    /// Releases the Lease, if it is still held: it gets no holder, and expires in a second.
    async fn release(&mut self) {
        let released = timeout(self.config.renew_deadline, async {
            loop {
                self.read().await?;
                if !self.is_leader() {
                    return Ok(());
                }
                let given_up = LeaseSpec {
                    holder_identity: Some(String::new()),
                    lease_duration_seconds: Some(1),
                    ..self.claim(None, self.transitions())
                };
                match self.write(given_up).await {
                    Err(error) if is_conflict(&error) => {}
                    result => return result,
                }
            }
        });
        match released.await {
            Ok(Ok(())) => info!(lock = self.lock(), "released lease"),
            Ok(Err(error)) => error!(lock = self.lock(), %error, "failed to release lease"),
            Err(_) => error!(lock = self.lock(), "failed to release lease in time"),
        }
    }

    /// The spec with which this candidate acquires or renews the Lease.
    fn renewal(&self) -> LeaseSpec {
        match self.is_leader() {
            true => self.claim(self.record().and_then(|record| record.acquire_time.clone()), self.transitions()),
            false => self.claim(None, self.transitions().wrapping_add(1)),
        }
    }

    /// The spec of a Lease that this candidate holds since `acquired`, or since now.
    fn claim(&self, acquired: Option<MicroTime>, transitions: i32) -> LeaseSpec {
        let now = MicroTime((self.config.clock)());
        LeaseSpec {
            holder_identity: Some(self.config.identity.clone()),
            lease_duration_seconds: Some(i32::try_from(self.config.lease_duration.as_secs()).unwrap_or(i32::MAX)),
            acquire_time: Some(acquired.unwrap_or_else(|| now.clone())),
            renew_time: Some(now),
            lease_transitions: Some(transitions),
            ..LeaseSpec::default()
        }
    }

    fn transitions(&self) -> i32 {
        self.record().and_then(|record| record.lease_transitions).unwrap_or_default()
    }

    async fn create(&mut self) -> bool {
        let lease = Lease {
            metadata: ObjectMeta {
                name: Some(self.config.name.clone()),
                namespace: Some(self.config.namespace.clone()),
                ..ObjectMeta::default()
            },
            spec: Some(self.claim(None, 0)),
        };
        match self.request(self.leases.create(&PostParams::default(), &lease)).await {
            Ok(created) => {
                self.observe(created);
                true
            }
            Err(error) => {
                error!(lock = self.lock(), %error, "error initially creating lease lock");
                false
            }
        }
    }

    async fn read(&mut self) -> kube::Result<()> {
        let lease = self.request(self.leases.get(&self.config.name)).await?;
        let spec = lease.spec.clone();
        if self.read != spec {
            self.read = spec;
            self.observe(lease);
        } else {
            self.lease = Some(lease);
        }
        Ok(())
    }

    /// Writes `spec` into the Lease as last seen; that is refused if another client has written it since.
    async fn write(&mut self, spec: LeaseSpec) -> kube::Result<()> {
        let lease = Lease { spec: Some(spec), ..self.lease.clone().unwrap_or_default() };
        let written = self.request(self.leases.replace(&self.config.name, &PostParams::default(), &lease)).await?;
        self.observe(written);
        Ok(())
    }

    /// Limits `request` to half the renew deadline, so that one that hangs does not lose the Lease.
    async fn request<T>(&self, request: impl Future<Output = kube::Result<T>>) -> kube::Result<T> {
        let limit = (self.config.renew_deadline / 2).max(Duration::from_secs(1));
        timeout(limit, request).await.unwrap_or_else(|elapsed| Err(kube::Error::Service(elapsed.into())))
    }

    fn observe(&mut self, lease: Lease) {
        self.observed = lease.spec.clone().map(|spec| (spec, Instant::now()));
        self.lease = Some(lease);
        self.status.observed(self.is_leader());
    }

    fn record(&self) -> Option<&LeaseSpec> {
        self.observed.as_ref().map(|(record, _)| record)
    }

    fn holder(&self) -> &str {
        self.record().and_then(|record| record.holder_identity.as_deref()).unwrap_or_default()
    }

    fn is_leader(&self) -> bool {
        self.holder() == self.config.identity
    }

    fn is_valid(&self) -> bool {
        self.observed.as_ref().is_some_and(|(record, observed)| {
            let seconds = record.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
            observed.elapsed() < Duration::from_secs(seconds.unwrap_or_default())
        })
    }

    fn lock(&self) -> String {
        format!("{}/{}", self.config.namespace, self.config.name)
    }
}
