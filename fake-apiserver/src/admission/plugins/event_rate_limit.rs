//! The plugin `EventRateLimit`: events that come too fast are refused.
//!
//! Follows `plugin/pkg/admission/eventratelimit/{admission,limitenforcer,cache}.go` (v1.37.1) and the token bucket of
//! `golang.org/x/time/rate`.

use crate::admission::{Attributes, Immediate, Operation, Plugin};
use crate::admission::{Config, PluginError};
use crate::configuration::Strictness;
use crate::error::{ApiError, ApiResult, Errors, FieldError, Path, aggregate};
use crate::registry::{items, number, text};
use jiff::Timestamp;
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use tree::Value;

const NAME: &str = "EventRateLimit";
const KINDS: [(&str, &str); 1] = [("eventratelimit.admission.k8s.io/v1alpha1", "Configuration")];
/// The number of buckets where the configuration says nothing (`defaultCacheSize`).
const DEFAULT_BUCKETS: usize = 4096;

/// The events that share a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LimitType {
    Server,
    Namespace,
    User,
    SourceAndObject,
}

impl LimitType {
    /// All of them by name.
    const NAMES: [(&str, LimitType); 4] = [
        ("Server", LimitType::Server),
        ("Namespace", LimitType::Namespace),
        ("User", LimitType::User),
        ("SourceAndObject", LimitType::SourceAndObject),
    ];

    fn name(self) -> &'static str {
        Self::NAMES[self as usize].0
    }

    /// The key of an event's bucket.
    fn key(self, write: &Attributes<'_>, event: &Value) -> String {
        match self {
            LimitType::Server => String::new(),
            LimitType::Namespace => write.namespace.to_owned(),
            LimitType::User => write.user.name.clone(),
            LimitType::SourceAndObject => {
                const PARTS: [&str; 7] = [
                    "/source/component",
                    "/source/host",
                    "/involvedObject/kind",
                    "/involvedObject/namespace",
                    "/involvedObject/name",
                    "/involvedObject/uid",
                    "/involvedObject/apiVersion",
                ];
                PARTS.map(|part| text(event, part)).concat()
            }
        }
    }
}

/// A limit of events.
struct Limit {
    kind: LimitType,
    /// The events that are allowed in a second, on average.
    rate: f64,
    /// The events that are allowed at once.
    burst: f64,
    buckets: Mutex<Buckets>,
}

/// The buckets in use: the least recently used one is dropped when there are too many.
struct Buckets {
    most: usize,
    by_key: HashMap<String, Bucket>,
    /// The keys by the number of their last use.
    by_use: BTreeMap<u64, String>,
    uses: u64,
}

#[derive(Clone, Copy)]
struct Bucket {
    tokens: f64,
    at: Timestamp,
    used: u64,
}

impl Limit {
    /// A limit of `rate` events in a second and `burst` at once, with at most so many buckets.
    fn new(kind: LimitType, rate: i64, burst: i64, buckets: usize) -> Limit {
        let buckets = Buckets { most: buckets, by_key: HashMap::new(), by_use: BTreeMap::new(), uses: 0 };
        Limit { kind, rate: rate as f64, burst: burst as f64, buckets: Mutex::new(buckets) }
    }

    /// Takes a token for an event, if there is one.
    fn accepts(&self, key: &str, now: Timestamp) -> bool {
        let mut buckets = self.buckets.lock().expect("no code that runs under this lock panics");
        let full = Bucket { tokens: self.burst, at: now, used: 0 };
        let mut bucket = buckets.by_key.get(key).copied().unwrap_or(full);
        let seconds = now.duration_since(bucket.at).as_secs_f64().max(0.0);
        let tokens = (bucket.tokens + seconds * self.rate).min(self.burst);
        let accepted = tokens >= 1.0;
        // A refusal takes nothing, and leaves the bucket as it was.
        if accepted {
            (bucket.tokens, bucket.at) = (tokens - 1.0, now);
        }
        buckets.put(key, bucket);
        accepted
    }
}

impl Buckets {
    fn put(&mut self, key: &str, bucket: Bucket) {
        self.by_use.remove(&bucket.used);
        self.uses += 1;
        self.by_use.insert(self.uses, key.to_owned());
        self.by_key.insert(key.to_owned(), Bucket { used: self.uses, ..bucket });
        if self.by_key.len() > self.most
            && let Some((_, oldest)) = self.by_use.pop_first()
        {
            self.by_key.remove(&oldest);
        }
    }
}

/// The plugin `EventRateLimit`.
pub(super) struct EventRateLimit(Vec<Limit>);

impl EventRateLimit {
    /// The plugin with its configuration, which has to have limits.
    ///
    /// # Errors
    /// If that is wrong.
    pub(super) fn configured(config: &Config) -> Result<Box<dyn Plugin>, PluginError> {
        let configuration = config.decoded(NAME, &KINDS, Strictness::Lenient)?.unwrap_or_default();
        let mut limits = Vec::new();
        let errors = Errors::of(|errors| {
            let (sent, list) = (items(&configuration, "/limits"), Path::new("limits"));
            if sent.is_empty() {
                errors.invalid(list, Value::Null, "must not be empty");
            }
            let names = LimitType::NAMES.map(|(name, _)| name);
            for (index, limit) in sent.iter().enumerate() {
                let at = list.index(index);
                let kind = LimitType::NAMES.iter().find(|(name, _)| *name == text(limit, "/type"));
                if kind.is_none() {
                    errors.push(FieldError::unsupported(at.child("type"), &text(limit, "/type").into(), &names));
                }
                let [rate, burst, buckets] =
                    ["/qps", "/burst", "/cacheSize"].map(|field| number(limit, field).unwrap_or_default());
                for (field, value) in [("burst", burst), ("qps", rate)].into_iter().filter(|(_, value)| *value <= 0) {
                    errors.invalid(at.child(field), value, "must be positive");
                }
                let kind = kind.map(|(_, kind)| *kind);
                if buckets < 0 && kind != Some(LimitType::Server) {
                    errors.invalid(at.child("cacheSize"), buckets, "must not be negative");
                }
                let buckets = usize::try_from(buckets).ok().filter(|most| *most > 0).unwrap_or(DEFAULT_BUCKETS);
                limits.extend(kind.map(|kind| Limit::new(kind, rate, burst, buckets)));
            }
        });
        match errors.is_empty() {
            true => Ok(Box::new(EventRateLimit(limits))),
            false => Err(PluginError::not_made(NAME, aggregate(errors.iter().map(ToString::to_string)))),
        }
    }
}

impl Immediate for EventRateLimit {
    fn check(&self, write: &Attributes<'_>, event: &Value) -> ApiResult<()> {
        let is_event = write.kind.kind == "Event" && write.kind.group.is_empty();
        let is_counted = is_event && matches!(write.operation, Operation::Create | Operation::Update);
        if !is_counted || write.options.dry_run() {
            return Ok(());
        }
        let now = write.server.clock.now();
        let refusals = self.0.iter().filter_map(|limit| {
            let key = limit.kind.key(write, event);
            let why = || format!("limit reached on type {} for key {key}", limit.kind.name());
            (!limit.accepts(&key, now)).then(why)
        });
        let refusals: Vec<String> = refusals.collect();
        match refusals.is_empty() {
            true => Ok(()),
            false => Err(ApiError::too_many_requests(format!("Too many requests: {}", aggregate(refusals)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_fill_with_time() {
        let limit = Limit::new(LimitType::Namespace, 2, 3, 2);
        let at = |millis: i64| Timestamp::from_millisecond(1_000_000 + millis).expect("it is a time");
        let accepted = |key: &str, time: i64| limit.accepts(key, at(time));
        assert_eq!([0, 0, 0, 0].map(|time| accepted("a", time)), [true, true, true, false]);
        assert_eq!([400, 500, 600, 1000].map(|time| accepted("a", time)), [false, true, false, true]);
        assert!(accepted("b", 1000));
        assert!(!accepted("a", 1100));
        // The third bucket takes the place of the one that was not used for the longest time.
        assert!(accepted("c", 1100));
        assert_eq!([1100; 3].map(|time| accepted("b", time)), [true, true, true]);
    }
}
