//! `/metrics` and `/metrics/slis`: all metrics, in the format that the client prefers.
//!
//! Follows `prometheus/promhttp/http.go` of github.com/prometheus/client_golang (v1.24.0).

use super::families::{Families, Kind};
use super::{BUCKETS, Metrics, Series, flow, lock, process, protobuf, reloads, text, users};
use crate::admission::FAMILIES;
use crate::api::request::Query;
use crate::auth::families::FAMILIES as OF_USERS;
use crate::http::negotiate::{Exposition, Preferences};
use crate::http::replica::Replica;
use crate::measures::{self, Measure, Measures};
use crate::reconcile::api_service_availability;
use crate::registry::FAMILIES as OF_KINDS;
use crate::store::Scope;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Response};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The path of the metrics.
pub(in crate::http) const PATH: &str = "/metrics";
/// The path of the metrics about the health of the server.
pub(in crate::http) const SLIS: &str = "/metrics/slis";

/// A request for metrics.
pub(in crate::http) struct Scrape<'r> {
    pub(in crate::http) replica: &'r Replica,
    pub(in crate::http) method: &'r Method,
    pub(in crate::http) query: &'r Query<'r>,
    pub(in crate::http) preferences: Preferences<'r>,
    pub(in crate::http) now: Timestamp,
}

/// The response, if the path is one of metrics; the method `DELETE` resets the counts.
pub(in crate::http) fn answer(path: &str, scrape: &Scrape<'_>) -> Option<Response<Bytes>> {
    let Scrape { replica, method, now, .. } = scrape;
    let resets = *method == Method::DELETE;
    match path {
        PATH if resets => {
            replica.metrics.forget(*now);
            replica.measures.forget();
            flow::forget(replica);
            replica.cluster.policy.measures.forget();
            replica.cluster.policy.authorizer.forget_decisions();
            replica.cluster.policy.reloads.iter().for_each(|reloads| reloads.forget());
            Some(was_reset())
        }
        PATH => {
            let mut families = rendered(replica);
            replica.allowed_labels.constrain(&mut families);
            Some(scrape.exposed(families, replica.metrics.since()))
        }
        SLIS if resets => {
            replica.checks.forget(*now);
            Some(was_reset())
        }
        SLIS => Some(scrape.exposed(replica.checks.families(), replica.checks.since())),
        _ => None,
    }
}

fn was_reset() -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(b"metrics reset\n"));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

impl Scrape<'_> {
    /// The metrics in the format that the client prefers; of the families that it names in `name[]`, or of all.
    fn exposed(&self, families: Families, since: Timestamp) -> Response<Bytes> {
        let (format, escaping) = self.preferences.exposition();
        let names: HashSet<&str> = self.query.all("name[]").collect();
        let mut bytes = Vec::new();
        let mut text = String::new();
        for family in families.finish(&names) {
            match format {
                Exposition::Text => text::write(&mut text, &family),
                Exposition::Delimited => protobuf::write_delimited(&mut bytes, &family, since),
                Exposition::MessageText => protobuf::write_text(&mut text, &family, since, false),
                Exposition::CompactText => protobuf::write_text(&mut text, &family, since, true),
            }
        }
        bytes.extend(text.into_bytes());
        let mut response = Response::new(bytes.into());
        let content_type = HeaderValue::try_from(format.content_type(escaping)).expect("words in ASCII");
        response.headers_mut().insert(CONTENT_TYPE, content_type);
        let started = HeaderValue::from(self.replica.metrics.started.as_second());
        response.headers_mut().insert("process-start-time-unix", started);
        response
    }
}

/// All metrics, sorted by their names as upstream's are.
fn rendered(replica: &Replica) -> Families {
    let mut families = Families::default();
    let mut all = replica.metrics.all(&replica.cluster);
    all.sort_by(|one, other| one.labels_with_dry_run().cmp(&other.labels_with_dry_run()));
    unavailable(&mut families, replica);
    measured(&mut families, &FAMILIES, &replica.measures);
    measured(&mut families, &OF_KINDS, &replica.measures);
    measured(&mut families, &OF_USERS, &replica.cluster.policy.measures);
    let [read_only, mutating] = replica.in_flight.now();
    families.family("apiserver_current_inflight_requests", "[STABLE] Maximal number of currently used inflight request limit of this apiserver per request kind in last second.", Kind::Gauge);
    families.sample(&[("request_kind", "mutating")], mutating as f64);
    families.sample(&[("request_kind", "readOnly")], read_only as f64);
    families.family(
        "apiserver_current_inqueue_requests",
        "[ALPHA] Maximal number of queued requests in this apiserver per request kind in last second.",
        Kind::Gauge,
    );
    let [reads, writes] = replica.flow.as_ref().map(|flow| flow.waiting()).unwrap_or_default();
    families.sample(&[("request_kind", "mutating")], writes as f64);
    families.sample(&[("request_kind", "readOnly")], reads as f64);
    flow::write(&mut families, replica);
    families.family("apiserver_longrunning_requests", "[STABLE] Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component. Not all requests are tracked this way.", Kind::Gauge);
    for (labels, open) in open_watches(&all) {
        families.sample(&labels, open as f64);
    }
    durations(&mut families, &all);
    undisturbed_durations(&mut families, &all);
    families.family("apiserver_request_total", "[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.", Kind::Counter);
    let mut counts: BTreeMap<(u16, LabelPairs<'_>), u64> = BTreeMap::new();
    for series in &all {
        for (code, count) in &*lock(&series.codes) {
            *counts.entry((*code, series.labels_with_dry_run())).or_default() += count;
        }
    }
    for ((code, rest), count) in counts {
        let code = code.to_string();
        let mut labels = vec![("code", &*code)];
        labels.extend(rest);
        families.sample(&labels, count as f64);
    }
    deprecated(&mut families, &all);
    objects(&mut families, replica);
    storage_size(&mut families, replica);
    events(&mut families, &all);
    attempts(&mut families, replica);
    users::decisions(&mut families, replica);
    users::fetches(&mut families, replica);
    reloads::write(&mut families, replica);
    families.build_info();
    process::write(&mut families);
    families.version_info();
    families
}

/// The attempts of authentication and authorization.
fn attempts(families: &mut Families, replica: &Replica) {
    let Metrics { authentications, authorizations, users, .. } = &replica.metrics;
    users.write(families);
    authentications.write(
        families,
        ("authentication_attempts", "[ALPHA] Counter of authenticated attempts."),
        ("authentication_duration_seconds", "[ALPHA] Authentication duration in seconds broken out by result."),
    );
    authorizations.write(
        families,
        (
            "authorization_attempts_total",
            "[ALPHA] Counter of authorization attempts broken down by result. It can be either 'allowed', 'denied', 'no-opinion' or 'error'.",
        ),
        (
            "authorization_duration_seconds",
            "[ALPHA] Authorization duration in seconds broken out by result.",
        ),
    );
}

/// The measures in some families; those without any are left out.
fn measured(families: &mut Families, of: &[&'static measures::Family], measures: &Measures) {
    for family in of {
        let (name, all) = (family.name, measures.of(family));
        if !all.is_empty() {
            families.family(name, family.help, if family.bounds.is_empty() { Kind::Counter } else { Kind::Histogram });
        }
        for (values, Measure { counts, sum }) in all {
            let labels: Vec<(&str, &str)> =
                family.labels.iter().copied().zip(values.iter().map(String::as_str)).collect();
            match family.bounds {
                [] => families.sample(&labels, counts[0] as f64),
                bounds => {
                    let bounds: Vec<f64> = bounds.iter().map(|bound| *bound as f64 / 1e9).collect();
                    families.histogram(&labels, &bounds, &counts, sum as f64 / 1e9);
                }
            }
        }
    }
}

/// Labels with their values.
type LabelPairs<'s> = Vec<(&'static str, &'s str)>;

/// The numbers of open watches. Several series may have the same labels.
fn open_watches(all: &[Arc<Series>]) -> BTreeMap<LabelPairs<'_>, u64> {
    let mut open = BTreeMap::new();
    for series in all.iter().filter(|series| series.labels.verb == "WATCH") {
        *open.entry(series.labels(series.labels.running_scope)).or_default() += series.watches.load(Ordering::Relaxed);
    }
    open
}

/// Numbers of durations by bucket, and their sum in seconds, by labels.
type Histograms<'s> = BTreeMap<LabelPairs<'s>, (Vec<u64>, f64)>;

/// The durations of those series. Several series may have the same labels.
fn histograms<'s>(
    all: impl Iterator<Item = &'s Arc<Series>>,
    labels: fn(&'s Series) -> LabelPairs<'s>,
) -> Histograms<'s> {
    let mut histograms = Histograms::new();
    for series in all {
        let counts = series.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed));
        let (sums, seconds) = histograms.entry(labels(series)).or_insert_with(|| (vec![0; series.buckets.len()], 0.0));
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        *seconds += series.nanoseconds.load(Ordering::Relaxed) as f64 / 1e9;
    }
    histograms.retain(|_, (counts, _)| counts.iter().any(|count| *count > 0));
    histograms
}

fn durations(families: &mut Families, all: &[Arc<Series>]) {
    const NAME: &str = "apiserver_request_duration_seconds";
    families.family(NAME, "[STABLE] Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.", Kind::Histogram);
    for (labels, (counts, seconds)) in histograms(all.iter(), Series::labels_with_dry_run) {
        families.histogram(&labels, &BUCKETS, &counts, seconds);
    }
}

/// The durations without those of dry runs, and without the time that webhooks and queues take, of which there is none. The first bounds
/// are left out.
fn undisturbed_durations(families: &mut Families, all: &[Arc<Series>]) {
    const NAME: &str = "apiserver_request_sli_duration_seconds";
    const OMITTED: usize = 2;
    families.family(NAME, "[ALPHA] Response latency distribution (not counting webhook duration and priority & fairness queue wait times) in seconds for each verb, group, version, resource, subresource, scope and component.", Kind::Histogram);
    let real = all.iter().filter(|series| series.labels.dry_run.is_empty());
    for (labels, (mut counts, seconds)) in histograms(real, |series| series.labels(series.labels.scope)) {
        let first: u64 = counts.drain(..OMITTED).sum();
        counts[0] += first;
        families.histogram(&labels, &BUCKETS[OMITTED..], &counts, seconds);
    }
}

/// The deprecated versions that were asked for.
fn deprecated(families: &mut Families, all: &[Arc<Series>]) {
    const NAME: &str = "apiserver_requested_deprecated_apis";
    families.family(NAME, "[STABLE] Gauge of deprecated APIs that have been requested, broken out by API group, version, resource, subresource, and removed_release.", Kind::Gauge);
    let asked: BTreeSet<_> = all
        .iter()
        .filter_map(|series| {
            let removed_in = series.deprecated?;
            Some((&*series.group, removed_in, &*series.resource, &*series.subresource, &*series.version))
        })
        .collect();
    for (group, removed_in, resource, subresource, version) in asked {
        let labels = [
            ("group", group),
            ("removed_release", removed_in),
            ("resource", resource),
            ("subresource", subresource),
            ("version", version),
        ];
        families.sample(&labels, 1.0);
    }
}

/// The API services, 1 for those that are not available.
fn unavailable(families: &mut Families, replica: &Replica) {
    const NAME: &str = "aggregator_unavailable_apiservice";
    families.family(
        NAME,
        "[ALPHA] Gauge of APIServices which are marked as unavailable broken down by APIService name.",
        Kind::Gauge,
    );
    for (name, is_available) in api_service_availability(&replica.cluster.store.snapshot()) {
        families.sample(&[("name", &name)], if is_available { 0.0 } else { 1.0 });
    }
}

/// The bytes of what is stored.
fn storage_size(families: &mut Families, replica: &Replica) {
    let bytes: usize = replica.cluster.store.snapshot().all().map(|entry| entry.line().len()).sum();
    let help = "[STABLE] Size of the storage database file physically allocated in bytes.";
    families.family("apiserver_storage_size_bytes", help, Kind::Gauge);
    families.sample(&[("storage_cluster_id", "etcd-0")], bytes as f64);
}

/// The number of objects of each resource that is stored.
fn objects(families: &mut Families, replica: &Replica) {
    const NAME: &str = "apiserver_resource_objects";
    let (catalog, snapshot) = (replica.cluster.catalog(), replica.cluster.store.snapshot());
    let stored = catalog.registry.resources().filter(|resource| resource.is_stored());
    let mut counts: Vec<(&str, &str, usize)> = stored
        .map(|resource| (&*resource.group, &*resource.plural, snapshot.slice(&Scope::all(resource.id), "").len()))
        .collect();
    counts.sort_unstable();
    families.family(NAME, "[ALPHA] Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.", Kind::Gauge);
    for (group, resource, count) in counts {
        families.sample(&[("group", group), ("resource", resource)], count as f64);
    }
}

fn events(families: &mut Families, all: &[Arc<Series>]) {
    const NAME: &str = "apiserver_watch_events_total";
    let mut counts: BTreeMap<(&str, &str, &str), u64> = BTreeMap::new();
    for series in all {
        let count = series.events.load(Ordering::Relaxed);
        if count > 0 {
            *counts.entry((&series.group, &series.resource, &series.version)).or_default() += count;
        }
    }
    families.family(NAME, "[BETA] Number of events sent in watch clients", Kind::Counter);
    for ((group, resource, version), count) in counts {
        families.sample(&[("group", group), ("resource", resource), ("version", version)], count as f64);
    }
}
