//! How many replicas a metric wants: `replica_calculator.go` and `metrics/utilization.go` (v1.37.1).

use super::metrics::milli;
use super::questions::{Sample, Samples};
use crate::workloads::facts::{conditions, pods, read};
use jiff::{SignedDuration, Timestamp};
use machinery::object::meta;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tree::Value;

/// The time for which a new pod's use of CPU says little: `--horizontal-pod-autoscaler-cpu-initialization-period`.
const INITIALIZATION: i64 = 5 * 60;
/// The time within which a new pod first gets ready: `--horizontal-pod-autoscaler-initial-readiness-delay`.
const READINESS_DELAY: i64 = 30;
const MOST: i64 = i32::MAX as i64;

/// The changes that are too small: how far below and above the target the use may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tolerances {
    pub(super) down: f64,
    pub(super) up: f64,
}

impl Tolerances {
    fn allow(self, ratio: f64) -> bool {
        (1.0 - self.down) <= ratio && ratio <= (1.0 + self.up)
    }
}

/// The pods that a calculation is about.
pub(super) struct Calculation<'a> {
    pub(super) current: i64,
    pub(super) pods: Vec<&'a Arc<Value>>,
    pub(super) tolerances: Tolerances,
    /// The resource, or nothing for other metrics.
    pub(super) resource: &'a str,
    pub(super) container: &'a str,
    pub(super) now: Timestamp,
}

/// The wish of a metric.
#[derive(Debug, PartialEq)]
pub(super) struct Wanted {
    pub(super) replicas: i64,
    /// The percentage of what is requested.
    pub(super) utilization: i64,
    /// The average, in thousandths.
    pub(super) average: i64,
}

/// How much is used, and how much more or less than the target.
type Use = (f64, i64, i64);

struct Groups {
    ready: i64,
    unready: BTreeSet<String>,
    missing: BTreeSet<String>,
}

fn rounded_up(number: f64) -> i64 {
    if number >= MOST as f64 { MOST } else { number.ceil() as i64 }
}

impl Calculation<'_> {
    /// For a percentage of what pods request (`GetResourceReplicas`).
    ///
    /// # Errors
    /// Upstream's words.
    pub(super) fn utilization(&self, mut samples: Samples, target: i64) -> Result<Wanted, String> {
        let groups = self.groups(&mut samples)?;
        let requests = self.requests()?;
        let ratio = |samples: &Samples| utilization(samples, &requests, target);
        let fallback = |name: &String| requests.get(name).copied().unwrap_or_default() * target.max(100) / 100;
        self.wanted(samples, &groups, ratio, fallback)
    }

    /// For an average (`calcPlainMetricReplicas`).
    ///
    /// # Errors
    /// Upstream's words.
    pub(super) fn average(&self, mut samples: Samples, target: i64) -> Result<Wanted, String> {
        let groups = self.groups(&mut samples)?;
        let ratio = |samples: &Samples| {
            let total: i64 = samples.values().map(|sample| sample.value).sum();
            let average = total / i64::try_from(samples.len()).unwrap_or(i64::MAX).max(1);
            Ok((average as f64 / target as f64, 0, average))
        };
        self.wanted(samples, &groups, ratio, |_| target)
    }

    fn wanted(
        &self,
        mut samples: Samples,
        groups: &Groups,
        ratio_of: impl Fn(&Samples) -> Result<Use, String>,
        fallback: impl Fn(&String) -> i64,
    ) -> Result<Wanted, String> {
        let (ratio, utilization, average) = ratio_of(&samples)?;
        let wanted = |replicas: i64| Ok(Wanted { replicas, utilization, average });
        let counts_unready = !groups.unready.is_empty() && ratio > 1.0;
        if !counts_unready && groups.missing.is_empty() {
            return match self.tolerances.allow(ratio) {
                true => wanted(self.current),
                false => wanted(rounded_up(ratio * groups.ready as f64)),
            };
        }
        let mut set = |name: &String, value: i64| {
            samples.insert(name.clone(), Sample { value, at: self.now, window: std::time::Duration::ZERO });
        };
        for name in &groups.missing {
            match ratio {
                below if below < 1.0 => set(name, fallback(name)),
                above if above > 1.0 => set(name, 0),
                _ => {}
            }
        }
        if counts_unready {
            groups.unready.iter().for_each(|name| set(name, 0));
        }
        let (new, ..) = ratio_of(&samples)?;
        let turns = (ratio < 1.0 && new > 1.0) || (ratio > 1.0 && new < 1.0);
        if self.tolerances.allow(new) || turns {
            return wanted(self.current);
        }
        let replicas = rounded_up(new * samples.len() as f64);
        let turns = (new < 1.0 && replicas > self.current) || (new > 1.0 && replicas < self.current);
        wanted(if turns { self.current } else { replicas })
    }

    /// `groupPods`; the samples of pods that do not count are taken away.
    fn groups(&self, samples: &mut Samples) -> Result<Groups, String> {
        if self.pods.is_empty() {
            return Err("no pods returned by selector while calculating replica count".to_owned());
        }
        let (mut ready, mut unready, mut missing, mut ignored) = (0, BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for pod in &self.pods {
            let name = meta::name(pod).to_owned();
            match samples.get(&name) {
                _ if pods::is_going(pod) || pods::phase(pod) == "Failed" => ignored.insert(name),
                _ if pods::phase(pod) == "Pending" => unready.insert(name),
                None => missing.insert(name),
                Some(sample) if self.resource == "cpu" && self.is_unready(pod, sample) => unready.insert(name),
                Some(_) => {
                    ready += 1;
                    continue;
                }
            };
        }
        samples.retain(|name, _| !ignored.contains(name) && !unready.contains(name));
        match samples.is_empty() {
            true => Err("did not receive metrics for targeted pods (pods might be unready)".to_owned()),
            false => Ok(Groups { ready, unready, missing }),
        }
    }

    fn is_unready(&self, pod: &Value, sample: &Sample) -> bool {
        let condition = conditions::get(pod, "Ready");
        let (Some(condition), Some(started)) = (condition, read::time(pod, "/status/startTime")) else { return true };
        let is_false = read::text(condition, "/status") == "False";
        let changed = read::time(condition, "/lastTransitionTime").unwrap_or(Timestamp::UNIX_EPOCH);
        if read::after(started, INITIALIZATION) > self.now {
            let window = SignedDuration::try_from(sample.window).unwrap_or_default();
            return is_false || sample.at < changed.checked_add(window).unwrap_or(Timestamp::MAX);
        }
        is_false && read::after(started, READINESS_DELAY) > changed
    }

    /// `calculateRequests`
    fn requests(&self) -> Result<BTreeMap<String, i64>, String> {
        self.pods.iter().map(|pod| Ok((meta::name(pod).to_owned(), self.request(pod)?))).collect()
    }

    fn request(&self, pod: &Value) -> Result<i64, String> {
        let Calculation { resource, container, .. } = self;
        let name = meta::name(pod);
        let request = |of: &Value| of.pointer("/resources/requests").and_then(|all| all.get(resource)).and_then(milli);
        let of_pod = pod.pointer("/spec/resources/requests").and_then(Value::as_object);
        if container.is_empty() && of_pod.is_some_and(|all| all.iter().next().is_some()) {
            let spec = pod.get("spec").and_then(request);
            return spec.ok_or_else(|| format!("missing pod-level request for {resource} in Pod {name}"));
        }
        let is_sidecar = |one: &&Value| read::text(one, "/restartPolicy") == "Always";
        let sidecars = read::list(pod, "/spec/initContainers").iter().filter(is_sidecar);
        let all = read::list(pod, "/spec/containers").iter().chain(sidecars);
        let mut counted = all.filter(|one| container.is_empty() || read::text(one, "/name") == *container).peekable();
        if counted.peek().is_none() && !container.is_empty() {
            return Err(format!("container {container} not found in Pod {name}"));
        }
        let of = |one: &Value| {
            let own = read::text(one, "/name");
            request(one).ok_or_else(|| format!("missing request for {resource} in container {own} of Pod {name}"))
        };
        counted.map(of).sum()
    }

    /// The ratio of a metric to its target, where it is not of pods (`getUsageRatioReplicaCount`).
    ///
    /// # Errors
    /// Upstream's words.
    pub(super) fn ratio(&self, ratio: f64) -> Result<i64, String> {
        if self.current == 0 {
            return Ok(rounded_up(ratio));
        }
        if self.tolerances.allow(ratio) {
            return Ok(self.current);
        }
        if self.pods.is_empty() {
            let why = "no pods returned by selector while calculating replica count";
            return Err(format!("unable to calculate ready pods: {why}"));
        }
        let is_ready = |pod: &&&Arc<Value>| pods::phase(pod) == "Running" && pods::is_ready(pod);
        Ok(rounded_up(ratio * self.pods.iter().filter(is_ready).count() as f64))
    }

    /// The replicas for a metric that is not of pods, and a target for each pod.
    pub(super) fn per_pod(&self, value: i64, target: i64, replicas: i64) -> Wanted {
        let ratio = value as f64 / (target as f64 * replicas as f64);
        let wanted = match self.tolerances.allow(ratio) {
            true => replicas,
            false => rounded_up(value as f64 / target as f64),
        };
        Wanted { replicas: wanted, utilization: 0, average: (value as f64 / replicas as f64).ceil() as i64 }
    }
}

/// `GetResourceUtilizationRatio`
fn utilization(samples: &Samples, requests: &BTreeMap<String, i64>, target: i64) -> Result<Use, String> {
    let known = samples.iter().filter_map(|(name, sample)| Some((sample.value, *requests.get(name)?)));
    let known: Vec<(i64, i64)> = known.collect();
    let total = |of: fn(&(i64, i64)) -> i64| known.iter().map(of).fold(0, i64::saturating_add);
    let (used, requested) = (total(|one| one.0), total(|one| one.1));
    if requested == 0 {
        return Err("no metrics returned matched known pods".to_owned());
    }
    let percent = used.saturating_mul(100) / requested;
    let count = i64::try_from(known.len()).unwrap_or(i64::MAX);
    Ok((percent as f64 / target as f64, percent, used / count))
}
