//! Metrics: the counts of requests, watches and objects, served at `/metrics`.
//!
//! ```text
//!   request ─▶ Labels ─▶ Series (found once, then atomics) ─▶ families.rs ─▶ text.rs or protobuf.rs ─▶ /metrics
//! ```
//!
//! Follows `pkg/endpoints/metrics/metrics.go` of k8s.io/apiserver (v0.37.1).
//!
//! GAP: metrics: those of Go's runtime, etcd, caches, and those of priority and fairness that are sampled

mod allowed;
mod attempts;
mod exposition;
mod families;
mod flow;
mod health_checks;
mod process;
mod protobuf;
mod reloads;
mod text;
mod users;

pub(crate) use allowed::AllowedLabels;
pub(super) use exposition::{PATH, SLIS, Scrape, answer};
pub(super) use health_checks::HealthChecks;

use attempts::{Attempts, OF_AUTHENTICATION, OF_AUTHORIZATION, Users};

use super::negotiate::PAGE_GROUP;
use super::route::ResourcePath;
use crate::api::request::Query;
use crate::auth::User;
use crate::auth::authorizer::Decision;
use crate::cluster::Cluster;
use crate::error::ApiResult;
use crate::registry::{Registry, Served, Version};
use crate::store::ResourceId;
use http::Method;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;
use tokio::time::Instant;

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
/// The pages whose requests are counted: the key of their series, and the labels `group`, `version` and `resource`.
const PAGES: [(&str, [&str; 3]); 6] = [
    ("flagz", ["", "", "flagz"]),
    ("flagz/v1alpha1", [PAGE_GROUP, "v1alpha1", "flagz"]),
    ("flagz/v1beta1", [PAGE_GROUP, "v1beta1", "flagz"]),
    ("statusz", ["", "", "statusz"]),
    ("statusz/v1alpha1", [PAGE_GROUP, "v1alpha1", "statusz"]),
    ("statusz/v1beta1", [PAGE_GROUP, "v1beta1", "statusz"]),
];
/// The content type of an apply; with parameters it is a patch, as upstream.
const APPLY: &str = "application/apply-patch+yaml";
/// The version of pages that is deprecated.
const DEPRECATED_PAGE: &str = "v1alpha1";
/// The value of the label `component` for resources.
const APISERVER: &str = "apiserver";

/// The metrics of a server.
pub(crate) struct Metrics {
    series: RwLock<BTreeMap<Labels, Arc<Series>>>,
    authentications: Attempts<{ OF_AUTHENTICATION.len() }>,
    authorizations: Attempts<{ OF_AUTHORIZATION.len() }>,
    users: Users,
    started: Timestamp,
    /// The time since which requests are counted.
    since: Mutex<Timestamp>,
}

/// The labels of a series, in a form that is looked up without allocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
    /// The release in which the version is gone, if it is deprecated; "" if none is known.
    deprecated: Option<&'static str>,
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
        Metrics {
            series: RwLock::default(),
            authentications: Attempts::new(OF_AUTHENTICATION),
            authorizations: Attempts::new(OF_AUTHORIZATION),
            users: Users::default(),
            started: now,
            since: Mutex::new(now),
        }
    }

    /// The series of a request. A new one takes the place of those of versions that are gone.
    pub(super) fn series(&self, labels: Labels, served: Option<Served<'_>>, cluster: &Cluster) -> Arc<Series> {
        let known = self.series.read().unwrap_or_else(PoisonError::into_inner).get(&labels).cloned();
        known.unwrap_or_else(|| {
            let mut all = self.series.write().unwrap_or_else(PoisonError::into_inner);
            let new = all.entry(labels).or_insert_with(|| Series::new(labels, served).into()).clone();
            drop_gone(&mut all, &cluster.catalog().registry);
            new
        })
    }

    /// All series but those of what is gone.
    fn all(&self, cluster: &Cluster) -> Vec<Arc<Series>> {
        let mut all = self.series.write().unwrap_or_else(PoisonError::into_inner);
        drop_gone(&mut all, &cluster.catalog().registry);
        all.values().cloned().collect()
    }

    /// Counts an attempt of authentication that succeeded.
    pub(super) fn authenticated(&self, user: &User, elapsed: Duration) {
        self.authentications.count("success", elapsed);
        self.users.count(user);
    }

    /// Counts one that did not: there were no credentials, or bad ones.
    pub(super) fn not_authenticated(&self, has_credentials: bool, elapsed: Duration) {
        self.authentications.count(if has_credentials { "error" } else { "failure" }, elapsed);
    }

    /// Counts an attempt of authorization.
    pub(super) fn authorized(&self, decision: &ApiResult<Decision>, elapsed: Duration) {
        let result = match decision {
            Ok(decision) if decision.is_allowed() => "allowed",
            Ok(decision) if decision.error().is_some() => "error",
            Ok(decision) if decision.denies() => "denied",
            Ok(_) => "no-opinion",
            Err(_) => "error",
        };
        self.authorizations.count(result, elapsed);
    }

    pub(super) fn started(&self) -> Timestamp {
        self.started
    }

    fn since(&self) -> Timestamp {
        *lock(&self.since)
    }

    fn forget(&self, now: Timestamp) {
        *lock(&self.since) = now;
        self.series.write().unwrap_or_else(PoisonError::into_inner).retain(|_, series| {
            lock(&series.codes).clear();
            series
                .buckets
                .iter()
                .chain([&series.nanoseconds, &series.events])
                .for_each(|count| count.store(0, Ordering::Relaxed));
            series.watches.load(Ordering::Relaxed) > 0
        });
        self.authentications.forget();
        self.authorizations.forget();
        self.users.forget();
    }
}

/// Removes the series of resources and versions that are gone, as a changed definition makes others. Those of the same names take over the
/// counts. A request or a watch that goes on keeps its series.
fn drop_gone(all: &mut BTreeMap<Labels, Arc<Series>>, registry: &Registry) {
    let is_there = |(id, number, _): (ResourceId, u32, usize)| {
        registry.get(id).is_some_and(|resource| resource.versions.iter().any(|version| version.number == number))
    };
    let unused = all.iter().filter(|(_, series)| Arc::strong_count(series) == 1);
    let gone = unused.map(|(labels, _)| *labels).filter(|labels| labels.target.is_some_and(|target| !is_there(target)));
    for labels in gone.collect::<Vec<_>>() {
        let Some(series) = all.remove(&labels) else { continue };
        if let Some(other) = all.values().find(|other| other.has_names_of(&series)) {
            other.take_over(&series);
        } else if registry.path(&series.group, &series.version, &series.resource).is_some() {
            all.insert(labels, series);
        }
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

    /// The labels of a request for a page with that group, version and resource.
    pub(super) fn of_page(page: [&str; 3], method: &Method) -> Option<Self> {
        let (path, _) = PAGES.into_iter().find(|(_, labels)| *labels == page)?;
        let verb = match *method {
            Method::GET | Method::HEAD => "GET",
            Method::POST => "POST",
            Method::PUT => "PUT",
            Method::PATCH => "PATCH",
            Method::DELETE => "DELETE",
            _ => "other",
        };
        Some(Labels { target: None, component: APISERVER, path, verb, scope: "", running_scope: "", dry_run: "" })
    }
}

impl Series {
    fn new(labels: Labels, served: Option<Served<'_>>) -> Self {
        let text = |of: fn(&Version) -> &str| served.map(|served| of(served.version).to_owned()).unwrap_or_default();
        let subresource = served.and_then(|served| served.subresource).map(|subresource| subresource.name.to_string());
        let page =
            PAGES.into_iter().find(|(path, _)| *path == labels.path).map(|(_, labels)| labels.map(str::to_owned));
        let is_page = page.is_some();
        let of_version =
            || [text(|version| &version.group), text(|version| &version.name), text(|version| &version.plural)];
        let [group, version, resource] = page.unwrap_or_else(of_version);
        let subresource = subresource.unwrap_or_else(|| if is_page { "" } else { labels.path }.to_owned());
        Series {
            labels,
            deprecated: match served {
                Some(served) => served.version.deprecation.as_ref().map(|notice| notice.removed_in),
                None => (is_page && version == DEPRECATED_PAGE).then_some(""),
            },
            group,
            version,
            resource,
            subresource,
            codes: Mutex::default(),
            buckets: std::array::from_fn(|_| AtomicU64::new(0)),
            nanoseconds: AtomicU64::new(0),
            watches: AtomicU64::new(0),
            events: AtomicU64::new(0),
        }
    }

    /// Whether another one has the same labels when they are written out.
    fn has_names_of(&self, other: &Series) -> bool {
        self.labels.running_scope == other.labels.running_scope
            && self.labels_with_dry_run() == other.labels_with_dry_run()
    }

    /// Adds the counts of another one, of which no watch is open.
    fn take_over(&self, other: &Series) {
        let add = |own: &AtomicU64, other: &AtomicU64| {
            own.fetch_add(other.load(Ordering::Relaxed), Ordering::Relaxed);
        };
        self.buckets.iter().zip(&other.buckets).for_each(|(own, other)| add(own, other));
        add(&self.nanoseconds, &other.nanoseconds);
        add(&self.events, &other.events);
        for (code, count) in &*lock(&other.codes) {
            *lock(&self.codes).entry(*code).or_default() += count;
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
