//! Families of metrics, before they are written in a format.

use super::super::version;
use std::collections::HashSet;

/// The type of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

/// Metrics of one name.
#[derive(Debug)]
pub(super) struct Family {
    pub(super) name: String,
    pub(super) help: String,
    pub(super) kind: Kind,
    /// Whether its values are read from elsewhere, so that nobody knows since when they are counted.
    pub(super) is_read: bool,
    pub(super) metrics: Vec<Metric>,
}

/// A value with its labels, which are sorted.
#[derive(Debug)]
pub(super) struct Metric {
    pub(super) labels: Vec<(String, String)>,
    pub(super) value: Value,
}

/// A value.
#[derive(Debug)]
pub(super) enum Value {
    Number(f64),
    Histogram(Histogram),
}

/// The numbers of values up to each bound, and the sum of all.
#[derive(Debug)]
pub(super) struct Histogram {
    /// The bounds, each with the number of values that are not above it.
    pub(super) buckets: Vec<(f64, u64)>,
    /// The number of all values.
    pub(super) total: u64,
    pub(super) sum: f64,
}

/// All families, in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Families(Vec<Family>);

impl Families {
    /// Begins a family of metrics; those that are added next belong to it.
    pub(super) fn family(&mut self, name: &str, help: &str, kind: Kind) {
        self.0.push(Family { name: name.to_owned(), help: help.to_owned(), kind, is_read: false, metrics: Vec::new() });
    }

    /// Begins a family whose values are read from elsewhere.
    pub(super) fn read_family(&mut self, name: &str, help: &str, kind: Kind) {
        self.family(name, help, kind);
        self.0.last_mut().expect("it was added").is_read = true;
    }

    /// Adds a value with its labels, which are sorted.
    pub(super) fn sample(&mut self, labels: &[(&str, &str)], value: f64) {
        self.add(labels, Value::Number(value));
    }

    /// Adds a histogram, given the number of values in each bucket and in that above all bounds, and their sum.
    pub(super) fn histogram(&mut self, labels: &[(&str, &str)], bounds: &[f64], counts: &[u64], sum: f64) {
        let mut total = 0;
        let mut sums = counts.iter().map(|count| {
            total += count;
            total
        });
        let buckets = bounds.iter().copied().zip(sums.by_ref()).collect();
        sums.for_each(drop);
        self.add(labels, Value::Histogram(Histogram { buckets, total, sum }));
    }

    fn add(&mut self, labels: &[(&str, &str)], value: Value) {
        let labels = labels.iter().map(|(label, value)| ((*label).to_owned(), (*value).to_owned())).collect();
        self.0.last_mut().expect("a family was begun").metrics.push(Metric { labels, value });
    }

    /// Does something with each family.
    pub(super) fn each(&mut self, act: impl FnMut(&mut Family)) {
        self.0.iter_mut().for_each(act);
    }

    /// Adds the version of this server.
    pub(super) fn build_info(&mut self) {
        self.family("kubernetes_build_info", "[BETA] A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.", Kind::Gauge);
        let labels = version::labels();
        let labels: Vec<(&str, &str)> = labels.iter().map(|(label, value)| (*label, &**value)).collect();
        self.sample(&labels, 1.0);
    }

    /// Adds the versions with which this server is compatible.
    pub(super) fn version_info(&mut self) {
        self.family("version_info", "[ALPHA] Provides the compatibility version info of the component. The component label is the name of the component, usually kube, but is relevant for aggregated-apiservers.", Kind::Gauge);
        let labels = version::compatibility();
        let labels: Vec<(&str, &str)> = labels.iter().map(|(label, value)| (*label, &**value)).collect();
        self.sample(&labels, 1.0);
    }

    /// The families that have metrics, sorted by their names; if names are given, those of these names.
    pub(super) fn finish(mut self, names: &HashSet<&str>) -> impl Iterator<Item = Family> {
        self.0.sort_by(|one, other| one.name.cmp(&other.name));
        self.0
            .into_iter()
            .filter(|family| !family.metrics.is_empty() && (names.is_empty() || names.contains(&*family.name)))
    }
}

impl Kind {
    /// The word for it in the text format.
    pub(super) fn word(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        }
    }
}
