//! The status of an election, for health checks and metrics.
//!
//! Follows client-go v0.37.1 `tools/leaderelection/leaderelection.go` (`Check`) and `healthzadaptor.go`, and component-base
//! v0.37.1 `metrics/prometheus/clientgo/leaderelection`.

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// The status of a [`LeaderElector`](crate::client_go::leader_election::LeaderElector). Clones share it.
#[derive(Debug, Clone, Default)]
pub struct LeaderStatus {
    /// The time of the Lease's last observed change, while we hold it.
    renewed: Arc<Mutex<Option<Instant>>>,
    leads: Gauge,
}

impl LeaderStatus {
    /// Whether we are not the leader, or have renewed the Lease within `tolerance`. A leader that has not should have given
    /// up long ago.
    pub fn is_healthy(&self, tolerance: Duration) -> bool {
        let renewed = *self.renewed.lock().expect("no holder of this lock can panic");
        renewed.is_none_or(|renewed| renewed.elapsed() <= tolerance)
    }

    /// Registers the metric, with `lease` as label.
    pub fn register(&self, lease: &str, registry: &mut Registry) {
        let help = "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates \
                    master. 'name' is the string used to identify the lease. Please make sure to group by name";
        let labels = [("name".into(), lease.to_owned().into())];
        registry.sub_registry_with_labels(labels.into_iter()).register(
            "leader_election_master_status",
            help,
            self.leads.clone(),
        );
    }

    pub(crate) fn observed(&self, ours: bool) {
        *self.renewed.lock().expect("no holder of this lock can panic") = ours.then(Instant::now);
    }

    pub(crate) fn leads(&self, leads: bool) {
        self.leads.set(leads.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_a_leader_that_does_not_renew_is_ill() {
        let status = LeaderStatus::default();
        let seconds = Duration::from_secs;
        assert!(status.is_healthy(seconds(35)), "nobody knows yet");
        status.observed(true);
        tokio::time::advance(seconds(35)).await;
        assert!(status.is_healthy(seconds(35)));
        tokio::time::advance(seconds(1)).await;
        assert!(!status.is_healthy(seconds(35)));
        status.observed(false);
        assert!(status.is_healthy(seconds(35)), "somebody else leads");
    }
}
