//! The size that the metrics of an autoscaler want: the largest of those that each wants.

use super::calculate::{Calculation, Tolerances, Wanted};
use super::decision::Decision;
use super::metrics::{Metric, Source, milli};
use super::pass::{Answer, Pass, by_rules, pods};
use super::questions::{self, Samples};
use super::report;
use crate::act::Act;
use crate::workloads::facts::owners::selects;
use crate::workloads::facts::{read, template};
use machinery::object::meta;
use machinery::object::selector::LabelSelector;
use std::sync::Arc;
use tree::{Value, json};

/// The wishes of metrics.
pub(super) struct Proposal {
    pub(super) replicas: i64,
    /// The metric that wants it, in words.
    pub(super) name: String,
    /// The entries about all of them.
    pub(super) statuses: Vec<Value>,
}

/// The wish of one metric, its name, and its current value.
type Single = (i64, String, Value);

/// The proposal (`computeReplicasForMetrics`); or why there is none, with what is said of those metrics that are there.
pub(super) fn of(
    decision: &mut Decision<'_>,
    pass: &Pass,
    scale: &Value,
    status: &mut Value,
    acts: &mut Vec<Act>,
) -> Result<Proposal, (String, Vec<Value>)> {
    let scaler = decision.scaler;
    let pods = selected(decision, scale, status, acts).map_err(|why| (why, Vec::new()))?;
    let metrics = Metric::all(scaler);
    let (mut best, mut statuses, mut failed): (Option<(i64, String)>, _, Vec<_>) = (None, Vec::new(), Vec::new());
    for (index, metric) in metrics.iter().enumerate() {
        match single(decision, metric, pass.metrics.get(&index), scale, &pods) {
            Ok((replicas, name, current)) => {
                if best.as_ref().is_none_or(|(most, _)| replicas > *most) {
                    best = Some((replicas, name));
                }
                statuses.push(metric.status(current));
            }
            Err(why) => {
                acts.push(template::event(scaler, true, metric.failure(), why.clone()));
                failed.push((metric, why));
                statuses.push(json!({"type": ""}));
            }
        }
    }
    let current = read::int(scale, "/spec/replicas");
    let (replicas, name) = best.unwrap_or_default();
    if let Some((metric, why)) = failed.first().filter(|_| failed.len() >= metrics.len() || replicas < current) {
        let message = format!("the HPA was unable to compute the replica count: {why}");
        decision.active(status, false, metric.failure(), &message);
        let (count, all, first) = (failed.len(), metrics.len(), metric.failed(why));
        return Err((format!("invalid metrics ({count} invalid out of {all}), first error is: {first}"), statuses));
    }
    let message = format!("the HPA was able to successfully calculate a replica count from {name}");
    decision.active(status, true, "ValidMetricFound", &message);
    Ok(Proposal { replicas, name, statuses })
}

/// The pods that the target's selector selects, if no other autoscaler is about them (`validateAndParseSelector`).
fn selected<'a>(
    decision: &mut Decision<'a>,
    scale: &Value,
    status: &mut Value,
    acts: &mut Vec<Act>,
) -> Result<Vec<&'a Arc<Value>>, String> {
    let (scaler, view, key) = (decision.scaler, decision.view, decision.key);
    let text = read::text(scale, "/status/selector");
    let mut refuse = |decision: &Decision<'_>, event, reason, why: String, message: &str| {
        acts.push(template::event(scaler, true, event, why.clone()));
        decision.active(status, false, reason, message);
        Err(why)
    };
    if text.is_empty() {
        let why = "selector is required".to_owned();
        return refuse(
            decision,
            "SelectorRequired",
            "InvalidSelector",
            why,
            "the HPA target's scale is missing a selector",
        );
    }
    let selector = match LabelSelector::parse(text) {
        Ok(selector) => selector,
        Err(error) => {
            let error = error.to_string();
            let why = format!("couldn't convert selector into a corresponding internal selector object: {error}");
            return refuse(decision, "InvalidSelector", "InvalidSelector", why.clone(), &why);
        }
    };
    decision.selectors.insert(key.clone(), selector);
    let pods = pods(text, meta::namespace(scaler), view).unwrap_or_default();
    let of_namespace = decision.selectors.iter().filter(|(other, _)| other.namespace == key.namespace);
    let of_pods = of_namespace.filter(|(_, other)| pods.iter().any(|pod| selects(other, pod)));
    let keys: Vec<String> = of_pods.map(|(key, _)| format!("{{{} {}}}", key.name, key.namespace)).take(2).collect();
    if keys.len() > 1 {
        let keys = keys.join(" ");
        let why = format!("pods by selector {text} are controlled by more than one HPA (e.g. [{keys}])");
        return refuse(decision, "AmbiguousSelector", "AmbiguousSelector", why.clone(), &why);
    }
    Ok(pods)
}

/// The tolerances of an autoscaler (`tolerancesForHpa`).
fn tolerances(scaler: &Value) -> Tolerances {
    const DEFAULT: f64 = 0.1;
    let own = |at: &str| scaler.pointer(at).and_then(milli).map_or(DEFAULT, |milli| milli as f64 / 1000.0);
    Tolerances { down: own("/spec/behavior/scaleDown/tolerance"), up: own("/spec/behavior/scaleUp/tolerance") }
}

/// The wish of one metric (`computeReplicasForMetric`).
fn single(
    decision: &Decision<'_>,
    metric: &Metric<'_>,
    answer: Option<&Answer>,
    scale: &Value,
    pods: &[&Arc<Value>],
) -> Result<Single, String> {
    let is_resource = metric.source() == Source::Resource;
    let calculation = Calculation {
        current: read::int(scale, "/spec/replicas"),
        pods: pods.to_vec(),
        tolerances: tolerances(decision.scaler),
        resource: if is_resource { metric.name() } else { "" },
        container: metric.container(),
        now: decision.view.now,
    };
    let answered = || match answer {
        Some(Ok(answer)) => Ok(answer),
        Some(Err(refusal)) => Err(questions::refused(metric, refusal)),
        None => Err("it was not asked for".to_owned()),
    };
    match metric.source() {
        Source::Resource => {
            let ruled = by_rules(metric, pods, decision.rules, decision.view);
            let samples = ruled.map_or_else(|| questions::samples(metric, answered()?), Ok);
            of_resource(metric, &calculation, samples)
        }
        Source::Pods => of_pods(metric, &calculation, answered().and_then(|answer| questions::samples(metric, answer))),
        Source::Object | Source::External => {
            let value = answered().and_then(|answer| questions::values(metric, answer));
            of_another(metric, &calculation, value, decision, scale)
        }
    }
}

fn of_resource(
    metric: &Metric<'_>,
    calculation: &Calculation<'_>,
    samples: Result<Samples, String>,
) -> Result<Single, String> {
    let name = metric.name();
    let samples = samples.map_err(|why| format!("unable to get metrics for resource {name}: {why}"));
    let average = |wanted: &Wanted| report::quantity(name, wanted.average);
    if let Some(target) = metric.target("averageValue") {
        let wanted = samples.and_then(|samples| calculation.average(samples, target));
        let wanted = wanted.map_err(|why| format!("failed to get {name} usage: {why}"))?;
        return Ok((wanted.replicas, format!("{name} resource"), json!({"averageValue": average(&wanted)})));
    }
    let Some(target) = metric.utilization() else {
        let why = "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set";
        return Err(why.to_owned());
    };
    let wanted = samples.and_then(|samples| calculation.utilization(samples, target));
    let wanted = wanted.map_err(|why| format!("failed to get {name} utilization: {why}"))?;
    let of = if metric.kind == "ContainerResource" { "container resource" } else { "resource" };
    let current = json!({"averageUtilization": wanted.utilization, "averageValue": average(&wanted)});
    Ok((wanted.replicas, format!("{name} {of} utilization (percentage of request)"), current))
}

fn of_pods(
    metric: &Metric<'_>,
    calculation: &Calculation<'_>,
    samples: Result<Samples, String>,
) -> Result<Single, String> {
    let name = metric.name();
    let samples = samples.map_err(|why| format!("unable to get metric {name}: {why}"))?;
    let wanted = calculation.average(samples, metric.target("averageValue").unwrap_or_default())?;
    let current = json!({"averageValue": report::quantity("", wanted.average)});
    Ok((wanted.replicas, format!("pods metric {name}"), current))
}

/// The size for a metric that is not of pods.
fn of_another(
    metric: &Metric<'_>,
    calculation: &Calculation<'_>,
    value: Result<i64, String>,
    decision: &Decision<'_>,
    scale: &Value,
) -> Result<Single, String> {
    let (name, namespace) = (metric.name(), meta::namespace(decision.scaler));
    let of_object = metric.source() == Source::Object;
    let (kind, object) =
        (read::text(metric.own(), "/describedObject/kind"), read::text(metric.own(), "/describedObject/name"));
    let failed = |why: String| match of_object {
        true => format!("unable to get metric {name} on {kind} {namespace}/{object}: {why}"),
        false => format!("unable to get external metric {namespace}/{name}/nil: {why}"),
    };
    let value = value.map_err(failed)?;
    if let Some(target) = metric.target("averageValue") {
        let wanted = calculation.per_pod(value, target, read::int(scale, "/status/replicas"));
        let current = json!({"averageValue": report::quantity("", wanted.average)});
        return Ok((wanted.replicas, format!("external metric {name}(nil)"), current));
    }
    let Some(target) = metric.target("value") else {
        let kind = if of_object { "object" } else { "external" };
        return Err(format!(
            "invalid {kind} metric source: neither a value target nor an average value target was set"
        ));
    };
    let replicas = calculation.ratio(value as f64 / target as f64)?;
    let said = if of_object { format!("{kind} metric {name}") } else { format!("external metric {name}(nil)") };
    Ok((replicas, said, json!({"value": report::quantity("", value)})))
}
