//! The metrics of priority and fairness, as far as people read them: those that depend on Go's sampling every nanosecond are left out.
//!
//! Follows `pkg/util/flowcontrol/metrics/metrics.go` of `k8s.io/apiserver` (v0.37.1).

use super::families::{Families, Kind};
use crate::flow::{Counts, DURATIONS, Flow, Histogram, LENGTHS, LevelState, Reason, SEATS};
use crate::http::replica::Replica;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The beginning of all names.
const PREFIX: &str = "apiserver_flowcontrol_";

/// Adds the metrics, if there is priority and fairness.
pub(super) fn write(families: &mut Families, replica: &Replica) {
    let Some(control) = &replica.flow else { return };
    let (flows, levels) = control.told(&replica.cluster.store);
    // Upstream has a series once it was counted.
    let flows: Vec<Arc<Flow>> = flows.into_iter().filter(|flow| is_counted(&flow.counts)).collect();
    requests(families, &flows);
    now(families, &flows);
    durations(families, &flows);
    seats(families, &levels);
    begin(
        families,
        "seat_fair_frac",
        "[ALPHA] Fair fraction of server's concurrency to allocate to each priority level that can use it",
        Kind::Gauge,
    );
    families.sample(&[], control.fraction());
}

/// Forgets the counts.
pub(super) fn forget(replica: &Replica) {
    if let Some(control) = &replica.flow {
        control.told(&replica.cluster.store).0.iter().for_each(|flow| flow.counts.forget());
    }
}

fn is_counted(counts: &Counts) -> bool {
    let count = |count: &AtomicUsize| count.load(Ordering::Relaxed) as u64;
    let rejected = Reason::ALL.iter().map(|(reason, _)| counts.rejected(*reason)).sum::<u64>();
    counts.dispatched.load(Ordering::Relaxed) + rejected + count(&counts.executing) + count(&counts.waiting) > 0
}

fn begin(families: &mut Families, name: &str, help: &str, kind: Kind) {
    families.family(&format!("{PREFIX}{name}"), help, kind);
}

/// The labels of a flow, sorted.
fn labels(flow: &Flow) -> [(&'static str, &str); 2] {
    [("flow_schema", &*flow.schema.name), ("priority_level", &*flow.level.name)]
}

/// The requests so far.
fn requests(families: &mut Families, flows: &[Arc<Flow>]) {
    let help = "[BETA] Number of requests executed by API Priority and Fairness subsystem";
    begin(families, "dispatched_requests_total", help, Kind::Counter);
    for flow in flows {
        families.sample(&labels(flow), flow.counts.dispatched.load(Ordering::Relaxed) as f64);
    }
    let help = "[BETA] Number of requests rejected by API Priority and Fairness subsystem";
    begin(families, "rejected_requests_total", help, Kind::Counter);
    for flow in flows {
        let [schema, level] = labels(flow);
        for (reason, name) in Reason::ALL {
            let count = flow.counts.rejected(reason);
            if count > 0 {
                families.sample(&[schema, level, ("reason", name)], count as f64);
            }
        }
    }
}

/// The requests at present.
fn now(families: &mut Families, flows: &[Arc<Flow>]) {
    type Of = fn(&Counts) -> &AtomicUsize;
    let all: [(&str, &str, Of); 4] = [
        (
            "current_executing_requests",
            "[BETA] Number of requests in initial (for a WATCH) or any (for a non-WATCH) execution stage in the API Priority and Fairness subsystem",
            |counts| &counts.executing,
        ),
        (
            "current_executing_seats",
            "[BETA] Concurrency (number of seats) occupied by the currently executing (initial stage for a WATCH, any stage otherwise) requests in the API Priority and Fairness subsystem",
            |counts| &counts.executing_seats,
        ),
        (
            "current_inqueue_requests",
            "[BETA] Number of requests currently pending in queues of the API Priority and Fairness subsystem",
            |counts| &counts.waiting,
        ),
        (
            "current_inqueue_seats",
            "[ALPHA] Number of seats currently pending in queues of the API Priority and Fairness subsystem",
            |counts| &counts.waiting_seats,
        ),
    ];
    for (name, help, of) in all {
        begin(families, name, help, Kind::Gauge);
        for flow in flows {
            families.sample(&labels(flow), of(&flow.counts).load(Ordering::Relaxed) as f64);
        }
    }
}

/// How long requests took and waited, and how wide they were.
fn durations(families: &mut Families, flows: &[Arc<Flow>]) {
    let [execution, waiting, lengths, estimates] = [
        (
            "request_execution_seconds",
            "[ALPHA] Duration of initial stage (for a WATCH) or any (for a non-WATCH) stage of request execution in the API Priority and Fairness subsystem",
        ),
        ("request_wait_duration_seconds", "[BETA] Length of time a request spent waiting in its queue"),
        (
            "request_queue_length_after_enqueue",
            "[ALPHA] Length of queue in the API Priority and Fairness subsystem, as seen by each request after it is enqueued",
        ),
        (
            "work_estimated_seats",
            "[ALPHA] Number of estimated seats (maximum of initial and final seats) associated with requests in API Priority and Fairness",
        ),
    ];
    begin(families, execution.0, execution.1, Kind::Histogram);
    for flow in flows {
        let [schema, level] = labels(flow);
        for (kind, of) in [("regular", &flow.counts.regular), ("watch", &flow.counts.watches)] {
            histogram(families, &[schema, level, ("type", kind)], &DURATIONS, of);
        }
    }
    begin(families, waiting.0, waiting.1, Kind::Histogram);
    for flow in flows {
        let [schema, level] = labels(flow);
        for (executes, of) in [("false", &flow.counts.refused_after), ("true", &flow.counts.served_after)] {
            histogram(families, &[("execute", executes), schema, level], &DURATIONS, of);
        }
    }
    begin(families, lengths.0, lengths.1, Kind::Histogram);
    flows.iter().for_each(|flow| histogram(families, &labels(flow), &LENGTHS, &flow.counts.lengths));
    begin(families, estimates.0, estimates.1, Kind::Histogram);
    flows.iter().for_each(|flow| histogram(families, &labels(flow), &SEATS, &flow.counts.estimates));
}

fn histogram(families: &mut Families, labels: &[(&str, &str)], bounds: &[f64], of: &Histogram) {
    if let Some((counts, sum)) = of.read(bounds.len()) {
        families.histogram(labels, bounds, &counts, sum);
    }
}

/// The seats of levels.
fn seats(families: &mut Families, levels: &[(Box<str>, LevelState)]) {
    type Of = fn(&LevelState) -> f64;
    let all: [(&str, &str, Of); 9] = [
        (
            "nominal_limit_seats",
            "[BETA] Nominal number of execution seats configured for each priority level",
            |level| level.limits.nominal as f64,
        ),
        (
            "lower_limit_seats",
            "[ALPHA] Configured lower bound on number of execution seats available to each priority level",
            |level| level.limits.lowest as f64,
        ),
        (
            "upper_limit_seats",
            "[ALPHA] Configured upper bound on number of execution seats available to each priority level",
            |level| level.limits.highest as f64,
        ),
        (
            "current_limit_seats",
            "[ALPHA] current derived number of execution seats available to each priority level",
            |level| level.limits.current as f64,
        ),
        (
            "demand_seats_high_watermark",
            "[ALPHA] High watermark, over last adjustment period, of demand_seats",
            |level| level.known.most,
        ),
        (
            "demand_seats_average",
            "[ALPHA] Time-weighted average, over last adjustment period, of demand_seats",
            |level| level.known.average,
        ),
        (
            "demand_seats_stdev",
            "[ALPHA] Time-weighted standard deviation, over last adjustment period, of demand_seats",
            |level| level.known.deviation,
        ),
        ("demand_seats_smoothed", "[ALPHA] Smoothed seat demands", |level| level.known.smoothed),
        ("current_r", "[ALPHA] R(time of last change)", |level| level.progress),
    ];
    for (name, help, of) in all {
        begin(families, name, help, Kind::Gauge);
        for (level, state) in levels {
            families.sample(&[("priority_level", &**level)], of(state));
        }
    }
}
