//! Metrics of work queues.
//!
//! Follows client-go v0.37.1 `util/workqueue/metrics.go` and component-base v0.37.1 `metrics/prometheus/workqueue/metrics.go`,
//! without `unfinished_work_seconds` and `longest_running_processor_seconds`.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use std::collections::HashMap;
use std::hash::Hash;
use tokio::time::Instant;

type Name = [(&'static str, &'static str); 1];
type Seconds = Family<Name, Histogram, fn() -> Histogram>;

/// The metrics of all queues of a process, by the names of the queues.
#[derive(Debug, Clone)]
pub struct QueueMetrics {
    depth: Family<Name, Gauge>,
    adds: Family<Name, Counter>,
    retries: Family<Name, Counter>,
    queued: Seconds,
    worked: Seconds,
}

impl Default for QueueMetrics {
    fn default() -> Self {
        QueueMetrics {
            depth: Family::default(),
            adds: Family::default(),
            retries: Family::default(),
            queued: Seconds::new_with_constructor(seconds),
            worked: Seconds::new_with_constructor(seconds),
        }
    }
}

/// A histogram of durations from 10 ns to 10 s.
fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(10e-9, 10.0, 10))
}

impl QueueMetrics {
    /// Registers the metrics.
    pub fn register(&self, registry: &mut Registry) {
        let registry = registry.sub_registry_with_prefix("workqueue");
        registry.register("depth", "Current depth of workqueue", self.depth.clone());
        registry.register("adds", "Total number of adds handled by workqueue", self.adds.clone());
        registry.register("retries", "Total number of retries handled by workqueue", self.retries.clone());
        let help = "How long in seconds an item stays in workqueue before being requested";
        registry.register("queue_duration_seconds", help, self.queued.clone());
        let help = "How long in seconds processing an item from workqueue takes";
        registry.register("work_duration_seconds", help, self.worked.clone());
    }

    pub(super) fn of<T>(&self, queue: &'static str) -> Measured<T> {
        let name = [("name", queue)];
        Measured {
            depth: self.depth.get_or_create_owned(&name),
            adds: self.adds.get_or_create_owned(&name),
            retries: self.retries.get_or_create_owned(&name),
            queued: self.queued.get_or_create_owned(&name),
            worked: self.worked.get_or_create_owned(&name),
            added: HashMap::new(),
            started: HashMap::new(),
        }
    }
}

/// The metrics of one queue, with the times at which its items entered their states.
#[derive(Debug)]
pub(super) struct Measured<T> {
    depth: Gauge,
    adds: Counter,
    retries: Counter,
    queued: Histogram,
    worked: Histogram,
    added: HashMap<T, Instant>,
    started: HashMap<T, Instant>,
}

impl<T: Clone + Eq + Hash> Measured<T> {
    /// Counts `items` that were added before the metrics. They are part of the depth, and of nothing else.
    pub(super) fn found(&self, items: usize) {
        self.depth.inc_by(i64::try_from(items).unwrap_or(i64::MAX));
    }

    pub(super) fn add(&mut self, item: &T, now: Instant) {
        self.adds.inc();
        self.depth.inc();
        self.added.entry(item.clone()).or_insert(now);
    }

    pub(super) fn get(&mut self, item: &T, now: Instant) {
        self.depth.dec();
        self.started.insert(item.clone(), now);
        if let Some(added) = self.added.remove(item) {
            self.queued.observe(now.saturating_duration_since(added).as_secs_f64());
        }
    }

    pub(super) fn done(&mut self, item: &T, now: Instant) {
        if let Some(started) = self.started.remove(item) {
            self.worked.observe(now.saturating_duration_since(started).as_secs_f64());
        }
    }

    pub(super) fn retry(&self) {
        self.retries.inc();
    }
}

#[cfg(test)]
mod tests {
    use super::super::RateLimitingQueue;
    use super::*;

    #[test]
    fn what_was_there_before_is_part_of_the_depth() {
        let (metrics, queue) = (QueueMetrics::default(), RateLimitingQueue::new());
        let depth = || metrics.depth.get_or_create_owned(&[("name", "q")]).get();
        queue.add("a");
        queue.add("b");
        queue.measure(&metrics, "q");
        assert_eq!(depth(), 2);
        queue.take_at_once();
        queue.add("c");
        queue.take_at_once();
        queue.take_at_once();
        assert_eq!(depth(), 0);
    }
}
