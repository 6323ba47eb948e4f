//! Metrics of the process, from `/proc`; none where there is no such folder.
//!
//! Follows `prometheus/process_collector_procfsenabled.go` of github.com/prometheus/client_golang.

use super::families::{Families, Kind};
use std::fs;

/// Ticks of a second in `/proc` (`USER_HZ`).
const TICKS: f64 = 100.0;
const START: &str = "process_start_time_seconds";
const KIB: f64 = 1024.0;

/// Writes the metrics of this process, from `/proc`.
pub(super) fn write(families: &mut Families) {
    let metrics = [
        ("process_cpu_seconds_total", Kind::Counter, "Total user and system CPU time spent in seconds.", cpu_seconds()),
        ("process_max_fds", Kind::Gauge, "Maximum number of open file descriptors.", limit("Max open files")),
        ("process_open_fds", Kind::Gauge, "Number of open file descriptors.", open_files()),
        ("process_resident_memory_bytes", Kind::Gauge, "Resident memory size in bytes.", status("VmRSS:")),
        (START, Kind::Gauge, "Start time of the process since unix epoch in seconds.", start()),
        ("process_virtual_memory_bytes", Kind::Gauge, "Virtual memory size in bytes.", status("VmSize:")),
        (
            "process_virtual_memory_max_bytes",
            Kind::Gauge,
            "Maximum amount of virtual memory available in bytes.",
            limit("Max address space"),
        ),
    ];
    for (name, kind, help, value) in metrics {
        if let Some(value) = value {
            families.read_family(name, help, kind);
            families.sample(&[], value);
        }
    }
}

/// Writes the time of the process' start, as a metric of Kubernetes.
pub(super) fn write_start(families: &mut Families) {
    if let Some(start) = start() {
        families.family(START, "[ALPHA] Start time of the process since unix epoch in seconds.", Kind::Gauge);
        families.sample(&[], start.trunc());
    }
}

/// A field of `/proc/self/stat`, counted as in its manual, from 3 on.
fn stat(field: usize) -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program may contain anything.
    stat.rsplit_once(')')?.1.split_whitespace().nth(field - 3)?.parse().ok()
}

fn cpu_seconds() -> Option<f64> {
    Some((stat(14)? + stat(15)?) / TICKS)
}

fn start() -> Option<f64> {
    let system = fs::read_to_string("/proc/stat").ok()?;
    let booted: f64 = system.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    Some(booted + stat(22)? / TICKS)
}

fn open_files() -> Option<f64> {
    Some(fs::read_dir("/proc/self/fd").ok()?.count() as f64)
}

/// A size in `/proc/self/status`, in bytes.
fn status(name: &str) -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let size = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(size.trim().strip_suffix(" kB")?.parse::<f64>().ok()? * KIB)
}

/// A soft limit; without one the greatest number, as upstream.
fn limit(name: &str) -> Option<f64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    match limits.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()? {
        "unlimited" => Some(u64::MAX as f64),
        limit => limit.parse().ok(),
    }
}
