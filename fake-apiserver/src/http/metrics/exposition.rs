//! `/metrics`: all metrics as text.

use super::text::Text;
use super::{BUCKETS, Series, lock, process};
use crate::admission::FAMILIES;
use crate::http::replica::Replica;
use crate::measures::Measure;
use crate::reconcile::api_service_availability;
use crate::store::Scope;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Method, Response};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The response at `/metrics`; the method `DELETE` resets the counts.
pub(in crate::http) fn answer(replica: &Replica, method: &Method) -> Response<Bytes> {
    if method == Method::DELETE {
        replica.metrics.forget();
        replica.measures.forget();
        return text_response("metrics reset\n".to_owned(), "text/plain; charset=utf-8", replica);
    }
    text_response(rendered(replica), "text/plain; version=0.0.4; charset=utf-8; escaping=underscores", replica)
}

fn text_response(text: String, content_type: &'static str, replica: &Replica) -> Response<Bytes> {
    let started = replica.metrics.started.as_second();
    let response = Response::builder().header(CONTENT_TYPE, content_type);
    response
        .header("process-start-time-unix", started)
        .body(text.into())
        .expect("constants and a number make a response")
}

/// All metrics, sorted by their names as upstream's are.
fn rendered(replica: &Replica) -> String {
    let mut text = Text::default();
    let mut all = replica.metrics.all(&replica.cluster);
    all.sort_by(|one, other| one.labels_with_dry_run().cmp(&other.labels_with_dry_run()));
    unavailable(&mut text, replica);
    measured(&mut text, replica, "apiserver_admission_");
    let [read_only, mutating] = replica.in_flight.now();
    text.family("apiserver_current_inflight_requests", "[STABLE] Maximal number of currently used inflight request limit of this apiserver per request kind in last second.", "gauge");
    text.sample("apiserver_current_inflight_requests", &[("request_kind", "mutating")], mutating as f64);
    text.sample("apiserver_current_inflight_requests", &[("request_kind", "readOnly")], read_only as f64);
    text.family(
        "apiserver_current_inqueue_requests",
        "[ALPHA] Maximal number of queued requests in this apiserver per request kind in last second.",
        "gauge",
    );
    for kind in ["mutating", "readOnly"] {
        text.sample("apiserver_current_inqueue_requests", &[("request_kind", kind)], 0.0);
    }
    text.family("apiserver_longrunning_requests", "[STABLE] Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component. Not all requests are tracked this way.", "gauge");
    for (labels, open) in open_watches(&all) {
        text.sample("apiserver_longrunning_requests", &labels, open as f64);
    }
    measured(&mut text, replica, "apiserver_mutating_");
    durations(&mut text, &all);
    undisturbed_durations(&mut text, &all);
    text.family("apiserver_request_total", "[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.", "counter");
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
        text.sample("apiserver_request_total", &labels, count as f64);
    }
    deprecated(&mut text, &all);
    objects(&mut text, replica);
    measured(&mut text, replica, "apiserver_validating_");
    events(&mut text, &all);
    text.family("authentication_attempts", "[ALPHA] Counter of authenticated attempts.", "counter");
    for (result, count) in &*lock(&replica.metrics.authentications) {
        text.sample("authentication_attempts", &[("result", result)], *count as f64);
    }
    text.build_info();
    process::write(&mut text);
    text.version_info();
    text.finish()
}

/// The measures of admission in families whose names begin with that; those without any are left out.
fn measured(text: &mut Text, replica: &Replica, prefix: &str) {
    for family in FAMILIES.iter().filter(|family| family.name.starts_with(prefix)) {
        let (name, all) = (family.name, replica.measures.of(family));
        if !all.is_empty() {
            text.family(name, family.help, if family.bounds.is_empty() { "counter" } else { "histogram" });
        }
        for (values, Measure { counts, sum }) in all {
            let labels: Vec<(&str, &str)> =
                family.labels.iter().copied().zip(values.iter().map(String::as_str)).collect();
            match family.bounds {
                [] => text.sample(name, &labels, counts[0] as f64),
                bounds => {
                    let bounds: Vec<f64> = bounds.iter().map(|bound| *bound as f64 / 1e9).collect();
                    text.histogram(name, &labels, &bounds, &counts, sum as f64 / 1e9);
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

fn durations(text: &mut Text, all: &[Arc<Series>]) {
    const NAME: &str = "apiserver_request_duration_seconds";
    text.family(NAME, "[STABLE] Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.", "histogram");
    for (labels, (counts, seconds)) in histograms(all.iter(), Series::labels_with_dry_run) {
        text.histogram(NAME, &labels, &BUCKETS, &counts, seconds);
    }
}

/// The durations without those of dry runs, and without the time that webhooks and queues take, of which there is none. The first bounds
/// are left out.
fn undisturbed_durations(text: &mut Text, all: &[Arc<Series>]) {
    const NAME: &str = "apiserver_request_sli_duration_seconds";
    const OMITTED: usize = 2;
    text.family(NAME, "[ALPHA] Response latency distribution (not counting webhook duration and priority & fairness queue wait times) in seconds for each verb, group, version, resource, subresource, scope and component.", "histogram");
    let real = all.iter().filter(|series| series.labels.dry_run.is_empty());
    for (labels, (mut counts, seconds)) in histograms(real, |series| series.labels(series.labels.scope)) {
        let first: u64 = counts.drain(..OMITTED).sum();
        counts[0] += first;
        text.histogram(NAME, &labels, &BUCKETS[OMITTED..], &counts, seconds);
    }
}

/// The deprecated versions that were asked for. No version that is served has a release that removes it.
fn deprecated(text: &mut Text, all: &[Arc<Series>]) {
    const NAME: &str = "apiserver_requested_deprecated_apis";
    text.family(NAME, "[STABLE] Gauge of deprecated APIs that have been requested, broken out by API group, version, resource, subresource, and removed_release.", "gauge");
    let asked: BTreeSet<_> = all
        .iter()
        .filter(|series| series.deprecated)
        .map(|series| (&*series.group, &*series.resource, &*series.subresource, &*series.version))
        .collect();
    for (group, resource, subresource, version) in asked {
        let labels = [
            ("group", group),
            ("removed_release", ""),
            ("resource", resource),
            ("subresource", subresource),
            ("version", version),
        ];
        text.sample(NAME, &labels, 1.0);
    }
}

/// The API services, 1 for those that are not available.
fn unavailable(text: &mut Text, replica: &Replica) {
    const NAME: &str = "aggregator_unavailable_apiservice";
    text.family(
        NAME,
        "[ALPHA] Gauge of APIServices which are marked as unavailable broken down by APIService name.",
        "gauge",
    );
    for (name, is_available) in api_service_availability(&replica.cluster.store.snapshot()) {
        text.sample(NAME, &[("name", &name)], if is_available { 0.0 } else { 1.0 });
    }
}

/// The number of objects of each resource that is stored.
fn objects(text: &mut Text, replica: &Replica) {
    const NAME: &str = "apiserver_resource_objects";
    let (catalog, snapshot) = (replica.cluster.catalog(), replica.cluster.store.snapshot());
    let stored = catalog.registry.resources().filter(|resource| resource.is_stored());
    let mut counts: Vec<(&str, &str, usize)> = stored
        .map(|resource| (&*resource.group, &*resource.plural, snapshot.slice(&Scope::all(resource.id), "").len()))
        .collect();
    counts.sort_unstable();
    text.family(NAME, "[ALPHA] Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.", "gauge");
    for (group, resource, count) in counts {
        text.sample(NAME, &[("group", group), ("resource", resource)], count as f64);
    }
}

fn events(text: &mut Text, all: &[Arc<Series>]) {
    const NAME: &str = "apiserver_watch_events_total";
    let mut counts: BTreeMap<(&str, &str, &str), u64> = BTreeMap::new();
    for series in all {
        let count = series.events.load(Ordering::Relaxed);
        if count > 0 {
            *counts.entry((&series.group, &series.resource, &series.version)).or_default() += count;
        }
    }
    text.family(NAME, "[BETA] Number of events sent in watch clients", "counter");
    for ((group, resource, version), count) in counts {
        text.sample(NAME, &[("group", group), ("resource", resource), ("version", version)], count as f64);
    }
}
