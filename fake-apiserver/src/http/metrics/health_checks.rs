//! The outcomes of health checks, counted for `/metrics/slis`.
//!
//! Follows `metrics/prometheus/slis/metrics.go` of k8s.io/component-base (v0.37.1).

use super::families::{Families, Kind};
use super::{lock, process};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The counts of a server.
#[derive(Debug)]
pub(in crate::http) struct HealthChecks(Mutex<Counts>);

#[derive(Debug)]
struct Counts {
    /// By check and endpoint.
    checks: BTreeMap<(&'static str, &'static str), Outcomes>,
    /// The time since which they are counted.
    since: Timestamp,
    /// Whether they were reset, and with them the time of the start.
    is_reset: bool,
}

#[derive(Debug, Default)]
struct Outcomes {
    has_passed: bool,
    /// The numbers of failures and of successes.
    counts: [u64; 2],
}

impl HealthChecks {
    /// No checks, before that time.
    pub(in crate::http) fn new(since: Timestamp) -> Self {
        HealthChecks(Mutex::new(Counts { checks: BTreeMap::new(), since, is_reset: false }))
    }

    /// Counts a check of an endpoint.
    pub(in crate::http) fn note(&self, check: &'static str, endpoint: &'static str, has_passed: bool) {
        let mut counts = lock(&self.0);
        let outcomes = counts.checks.entry((check, endpoint)).or_default();
        outcomes.has_passed = has_passed;
        outcomes.counts[usize::from(has_passed)] += 1;
    }

    pub(super) fn since(&self) -> Timestamp {
        lock(&self.0).since
    }

    pub(super) fn forget(&self, now: Timestamp) {
        *lock(&self.0) = Counts { checks: BTreeMap::new(), since: now, is_reset: true };
    }

    /// The counts as metrics.
    pub(super) fn families(&self) -> Families {
        let mut families = Families::default();
        let counts = lock(&self.0);
        let help = "[STABLE] This metric records the result of a single healthcheck.";
        families.family("kubernetes_healthcheck", help, Kind::Gauge);
        for ((name, endpoint), outcomes) in &counts.checks {
            let value = if outcomes.has_passed { 1.0 } else { 0.0 };
            families.sample(&[("name", name), ("type", endpoint)], value);
        }
        let help = "[STABLE] This metric records the results of all healthcheck.";
        families.family("kubernetes_healthchecks_total", help, Kind::Counter);
        let mut all: Vec<([&str; 3], u64)> = Vec::new();
        for ((name, endpoint), outcomes) in &counts.checks {
            let named = ["error", "success"].into_iter().zip(outcomes.counts).filter(|(_, count)| *count > 0);
            all.extend(named.map(|(status, count)| ([*name, status, *endpoint], count)));
        }
        all.sort_unstable();
        for ([name, status, endpoint], count) in all {
            families.sample(&[("name", name), ("status", status), ("type", endpoint)], count as f64);
        }
        if !counts.is_reset {
            process::write_start(&mut families);
        }
        families
    }
}
