//! Metrics: the counts of requests, watches and objects, served at `/metrics`.
//!
//! ```text
//!   request ─▶ Labels ─▶ Series (found once, then atomics) ─▶ text.rs ─▶ /metrics
//! ```
//!
//! Follows `pkg/endpoints/metrics/metrics.go` of k8s.io/apiserver (v0.37.1). Metrics of parts that this server does not have (Go's
//! runtime, etcd, caches, priority and fairness) are left out.

mod process;
mod text;

use super::replica::Replica;
use super::route::ResourcePath;
use crate::api::request::Query;
use crate::registry::{Served, Version};
use crate::store::{ResourceId, Scope};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Method, Response};
use jiff::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use text::Text;
use tokio::time::Instant;

/// The path of the metrics.
pub(super) const PATH: &str = "/metrics";
/// The upper bounds of the buckets of durations, in seconds.
const BUCKETS: [f64; 23] = [
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0,
    45.0, 60.0,
];
/// The paths besides resources whose requests are counted: the label `subresource`, and whether the label `component` is set.
const PATHS: [(&str, &str, &str); 6] = [
    ("/healthz", "/healthz", ""),
    ("/livez", "/livez", ""),
    ("/readyz", "/readyz", ""),
    ("/api", "api", APISERVER),
    ("/apis", "apis", APISERVER),
    ("/openapi/v3", "openapi/v3", ""),
];
/// The prefix of further ones.
const DOCUMENTS: (&str, &str) = ("/openapi/v3/", "openapi/v3/");
/// The content type of an apply; with parameters it is a patch, as upstream.
const APPLY: &str = "application/apply-patch+yaml";
/// The value of the label `component` for resources.
const APISERVER: &str = "apiserver";

/// The metrics of a server.
pub(crate) struct Metrics {
    series: RwLock<HashMap<Labels, Arc<Series>>>,
    authentications: Mutex<BTreeMap<&'static str, u64>>,
    started: Timestamp,
}

/// The labels of a series, in a form that is looked up without allocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Labels {
    /// The resource, the number of its version, and that of the subresource, counted from 1; `None` for other paths.
    target: Option<(ResourceId, u32, usize)>,
    component: &'static str,
    /// The label of a path that is not that of a resource.
    path: &'static str,
    verb: &'static str,
    scope: &'static str,
    /// The scope while the request goes on.
    running_scope: &'static str,
    dry_run: &'static str,
}

/// The counts of requests with the same labels.
pub(super) struct Series {
    labels: Labels,
    group: String,
    version: String,
    resource: String,
    subresource: String,
    /// The number of responses by status code.
    codes: Mutex<BTreeMap<u16, u64>>,
    /// The number of durations by bucket; those above all bounds come last.
    buckets: [AtomicU64; BUCKETS.len() + 1],
    nanoseconds: AtomicU64,
    /// The number of watches that are open.
    watches: AtomicU64,
    /// The number of events that were sent to watches.
    events: AtomicU64,
}

/// A watch that is counted as open until this is dropped.
pub(super) struct OpenWatch {
    series: Arc<Series>,
    since: Instant,
}

impl Metrics {
    /// The metrics of a server that starts now, without requests.
    pub(super) fn new(now: Timestamp) -> Self {
        Metrics { series: RwLock::default(), authentications: Mutex::default(), started: now }
    }

    /// The series of a request.
    pub(super) fn series(&self, labels: Labels, served: Option<Served<'_>>) -> Arc<Series> {
        let known = self.series.read().unwrap_or_else(PoisonError::into_inner).get(&labels).cloned();
        known.unwrap_or_else(|| {
            let mut all = self.series.write().unwrap_or_else(PoisonError::into_inner);
            all.entry(labels).or_insert_with(|| Series::new(labels, served).into()).clone()
        })
    }

    /// Counts an attempt of authentication: `success`, `failure` or `error`.
    pub(super) fn authenticated(&self, result: &'static str) {
        *lock(&self.authentications).entry(result).or_default() += 1;
    }

    fn forget(&self) {
        self.series.write().unwrap_or_else(PoisonError::into_inner).retain(|_, series| {
            lock(&series.codes).clear();
            series
                .buckets
                .iter()
                .chain([&series.nanoseconds, &series.events])
                .for_each(|count| count.store(0, Ordering::Relaxed));
            series.watches.load(Ordering::Relaxed) > 0
        });
        lock(&self.authentications).clear();
    }
}

impl Labels {
    /// The labels of a request for a resource, whose verb is that of authorizers; `name`: the one in the path or of a field selector.
    pub(super) fn of_resource(
        served: Served<'_>,
        path: &ResourcePath<'_>,
        verb: &str,
        name: &str,
        (method, content_type, query): (&Method, &str, &Query<'_>),
    ) -> Self {
        let below = served
            .subresource
            .and_then(|own| served.version.subresources.iter().position(|other| other.name == own.name));
        let scope = |name: &str| match (verb, name, path.namespace()) {
            ("create", ..) => "resource",
            (_, "", "") => "cluster",
            (_, "", _) => "namespace",
            _ => "resource",
        };
        Labels {
            target: Some((served.resource.id, served.version.number, below.map_or(0, |at| at + 1))),
            component: APISERVER,
            path: "",
            verb: match (verb, method.as_str()) {
                ("watch", _) => "WATCH",
                ("list", _) => "LIST",
                (_, "PATCH") if content_type == APPLY => "APPLY",
                (_, "POST") => "POST",
                (_, "PUT") => "PUT",
                (_, "PATCH") => "PATCH",
                (_, "DELETE") => "DELETE",
                (_, "GET") => "GET",
                _ => "other",
            },
            scope: scope(path.name),
            running_scope: scope(name),
            dry_run: match query.all("dryRun").collect::<Vec<_>>()[..] {
                [] => "",
                ref values if values.iter().all(|value| *value == "All") => "All",
                _ => "invalid",
            },
        }
    }

    /// The labels of a request for another path, if it is counted.
    pub(super) fn of_path(path: &str, method: &Method) -> Option<Self> {
        let path = path.strip_suffix('/').filter(|path| path.starts_with("/api")).unwrap_or(path);
        let (_, label, component) = PATHS
            .into_iter()
            .find(|(known, ..)| *known == path)
            .or_else(|| path.starts_with(DOCUMENTS.0).then_some((DOCUMENTS.0, DOCUMENTS.1, "")))?;
        let verb = (*method == Method::GET).then_some("GET")?;
        Some(Labels { target: None, component, path: label, verb, scope: "", running_scope: "", dry_run: "" })
    }
}

impl Series {
    fn new(labels: Labels, served: Option<Served<'_>>) -> Self {
        let text = |of: fn(&Version) -> &str| served.map(|served| of(served.version).to_owned()).unwrap_or_default();
        let subresource = served.and_then(|served| served.subresource).map(|subresource| subresource.name.to_string());
        Series {
            labels,
            group: text(|version| &version.group),
            version: text(|version| &version.name),
            resource: text(|version| &version.resource),
            subresource: subresource.unwrap_or_else(|| labels.path.to_owned()),
            codes: Mutex::default(),
            buckets: std::array::from_fn(|_| AtomicU64::new(0)),
            nanoseconds: AtomicU64::new(0),
            watches: AtomicU64::new(0),
            events: AtomicU64::new(0),
        }
    }

    /// Counts a request that was answered.
    pub(super) fn count(&self, code: u16, duration: Duration) {
        let seconds = duration.as_secs_f64();
        let bucket = BUCKETS.iter().position(|bound| seconds <= *bound).unwrap_or(BUCKETS.len());
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.nanoseconds.fetch_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        *lock(&self.codes).entry(code).or_default() += 1;
    }
}

impl OpenWatch {
    /// A watch whose request arrived at that time.
    pub(super) fn new(series: Arc<Series>, since: Instant) -> Self {
        series.watches.fetch_add(1, Ordering::Relaxed);
        OpenWatch { series, since }
    }

    /// Counts an event that is sent.
    pub(super) fn event(&self) {
        self.series.events.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for OpenWatch {
    fn drop(&mut self) {
        self.series.watches.fetch_sub(1, Ordering::Relaxed);
        self.series.count(200, self.since.elapsed());
    }
}

/// The response at `/metrics`; the method `DELETE` resets the counts.
pub(super) fn answer(replica: &Replica, method: &Method) -> Response<Bytes> {
    if method == Method::DELETE {
        replica.metrics.forget();
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
    let all = replica.metrics.series.read().unwrap_or_else(PoisonError::into_inner);
    let mut all: Vec<Arc<Series>> = all.values().cloned().collect();
    all.sort_by(|one, other| one.labels_with_dry_run().cmp(&other.labels_with_dry_run()));
    let [read_only, mutating] = replica.in_flight.now();
    text.family("apiserver_current_inflight_requests", "[STABLE] Maximal number of currently used inflight request limit of this apiserver per request kind in last second.", "gauge");
    text.sample("apiserver_current_inflight_requests", &[("request_kind", "mutating")], mutating as f64);
    text.sample("apiserver_current_inflight_requests", &[("request_kind", "readOnly")], read_only as f64);
    text.family("apiserver_longrunning_requests", "[STABLE] Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component. Not all requests are tracked this way.", "gauge");
    for series in all.iter().filter(|series| series.labels.verb == "WATCH") {
        let open = series.watches.load(Ordering::Relaxed);
        text.sample("apiserver_longrunning_requests", &series.labels(series.labels.running_scope), open as f64);
    }
    durations(&mut text, &all);
    text.family("apiserver_request_total", "[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.", "counter");
    let counts =
        |series: &Arc<Series>| lock(&series.codes).iter().map(|(code, count)| (*code, *count)).collect::<Vec<_>>();
    let mut counts: Vec<_> =
        all.iter().flat_map(|series| counts(series).into_iter().map(move |count| (count, series))).collect();
    counts.sort_by_key(|((code, _), _)| *code);
    for ((code, count), series) in counts {
        let code = code.to_string();
        let mut labels = vec![("code", &*code)];
        labels.extend(series.labels_with_dry_run());
        text.sample("apiserver_request_total", &labels, count as f64);
    }
    objects(&mut text, replica);
    events(&mut text, &all);
    text.family("authentication_attempts", "[ALPHA] Counter of authenticated attempts.", "counter");
    for (result, count) in &*lock(&replica.metrics.authentications) {
        text.sample("authentication_attempts", &[("result", result)], *count as f64);
    }
    text.build_info();
    process::write(&mut text);
    text.finish()
}

fn durations(text: &mut Text, all: &[Arc<Series>]) {
    const NAME: &str = "apiserver_request_duration_seconds";
    text.family(NAME, "[STABLE] Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.", "histogram");
    for series in all {
        let labels = series.labels_with_dry_run();
        let counts: Vec<u64> = series.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).collect();
        let seconds = series.nanoseconds.load(Ordering::Relaxed) as f64 / 1e9;
        if counts.iter().any(|count| *count > 0) {
            text.histogram(NAME, &labels, &BUCKETS, &counts, seconds);
        }
    }
}

/// The number of objects of each resource that is stored.
fn objects(text: &mut Text, replica: &Replica) {
    const NAME: &str = "apiserver_resource_objects";
    let (catalog, snapshot) = (replica.cluster.catalog(), replica.cluster.store.snapshot());
    let stored = catalog.registry.resources().filter(|resource| resource.is_stored());
    let mut counts: Vec<(&str, &str, usize)> = stored
        .map(|resource| (&*resource.group, &*resource.resource, snapshot.slice(&Scope::all(resource.id), "").len()))
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

impl Series {
    fn labels<'s>(&'s self, scope: &'s str) -> Vec<(&'static str, &'s str)> {
        vec![
            ("component", self.labels.component),
            ("group", &self.group),
            ("resource", &self.resource),
            ("scope", scope),
            ("subresource", &self.subresource),
            ("verb", self.labels.verb),
            ("version", &self.version),
        ]
    }

    fn labels_with_dry_run(&self) -> Vec<(&'static str, &str)> {
        let mut labels = self.labels(self.labels.scope);
        labels.insert(1, ("dry_run", self.labels.dry_run));
        labels
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
