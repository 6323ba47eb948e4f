//! A look at an autoscaler: what was asked so far, and what is left to ask.

use super::metrics::{Metric, Source};
use super::questions::{self, Sample, Samples};
use crate::act::{Act, Refusal};
use crate::nodes::Book;
use crate::plan::View;
use crate::resource::Resource;
use crate::workloads::facts::owners::selects;
use crate::workloads::facts::pods::PODS;
use crate::workloads::facts::{conditions, read};
use machinery::object::meta;
use machinery::object::selector::LabelSelector;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tree::Value;

pub(super) type Answer = Result<Value, Refusal>;

/// The questions so far.
#[derive(Default)]
pub(super) struct Pass {
    pub(super) scale: Option<Answer>,
    /// The answers about metrics, by their place in the spec.
    pub(super) metrics: BTreeMap<usize, Answer>,
    /// The last question, unless it is about the scale.
    asked: Option<usize>,
}

/// The resource of an autoscaler's target.
pub(super) fn target(scaler: &Value, view: &View<'_>) -> Option<Resource> {
    let reference = &scaler["spec"]["scaleTargetRef"];
    let served = view.objects.kinds().kind(read::text(reference, "/apiVersion"), read::text(reference, "/kind"))?;
    let version = read::text(reference, "/apiVersion").rsplit('/').next().unwrap_or_default().to_owned();
    Some(Resource { version: version.into(), ..served.resource.clone() })
}

/// The use of pods as rules have it; `None` if no rule says anything.
pub(super) fn by_rules(metric: &Metric<'_>, pods: &[&Arc<Value>], rules: &Book, view: &View<'_>) -> Option<Samples> {
    if metric.source() != Source::Resource {
        return None;
    }
    let container = metric.container();
    let sample = |pod: &Arc<Value>| {
        let each = rules.usage(pod, metric.name(), view.objects)?;
        let all = read::list(pod, "/spec/containers").iter();
        let count = all.filter(|one| container.is_empty() || read::text(one, "/name") == container).count();
        let value = each.saturating_mul(i64::try_from(count).unwrap_or_default());
        Some((meta::name(pod).to_owned(), Sample { value, at: view.now, window: Duration::ZERO }))
    };
    let samples: Samples = pods.iter().filter_map(|pod| sample(pod)).collect();
    (!samples.is_empty()).then_some(samples)
}

impl Pass {
    /// The next question; `None` if nothing is left to ask.
    pub(super) fn question(&mut self, scaler: &Value, rules: &Book, view: &View<'_>) -> Option<Act> {
        let namespace = meta::namespace(scaler);
        let Some(scale) = &self.scale else {
            let Resource { group, version, plural } = target(scaler, view)?;
            let name = read::text(scaler, "/spec/scaleTargetRef/name");
            let api = if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
            let path = format!("{api}/namespaces/{namespace}/{plural}/{name}/scale");
            return Some(Act::Ask { path, query: Vec::new(), review: None });
        };
        let scale = scale.as_ref().ok()?;
        if !needs_metrics(scaler, scale) {
            return None;
        }
        let selector = read::text(scale, "/status/selector");
        let pods = pods(selector, namespace, view)?;
        let metrics = Metric::all(scaler);
        let is_open = |(index, metric): &(usize, &Metric<'_>)| {
            !self.metrics.contains_key(index) && by_rules(metric, &pods, rules, view).is_none()
        };
        let (index, metric) = metrics.iter().enumerate().find(is_open)?;
        self.asked = Some(index);
        Some(questions::question(metric, namespace, selector, view.objects.kinds()))
    }

    /// Takes note of the answer to the last question.
    pub(super) fn answered(&mut self, answer: Answer) {
        match self.asked.take() {
            None => self.scale = Some(answer),
            Some(index) => drop(self.metrics.insert(index, answer)),
        }
    }
}

pub(super) fn least(scaler: &Value) -> i64 {
    read::number(scaler, "/spec/minReplicas").unwrap_or(1)
}

pub(super) fn was_scaled_to_zero(scaler: &Value) -> bool {
    conditions::holds(scaler, "ScaledToZero")
}

pub(super) fn has_outer_metrics(scaler: &Value) -> bool {
    Metric::all(scaler).iter().any(|metric| matches!(metric.source(), Source::Object | Source::External))
}

/// Whether metrics decide about the size.
pub(super) fn needs_metrics(scaler: &Value, scale: &Value) -> bool {
    let (current, least) = (read::int(scale, "/spec/replicas"), least(scaler));
    match current {
        0 => was_scaled_to_zero(scaler) && (least != 0 || has_outer_metrics(scaler)),
        _ => current <= read::int(scaler, "/spec/maxReplicas") && current >= least,
    }
}

/// The pods that a selector selects; `None` if it selects none for it is empty or wrong.
pub(super) fn pods<'o>(selector: &str, namespace: &'o str, view: &'o View<'_>) -> Option<Vec<&'o Arc<Value>>> {
    let selector = LabelSelector::parse(selector).ok().filter(|selector| !selector.is_empty())?;
    let all = view.objects.within(&PODS, namespace).map(|(_, pod)| pod);
    Some(all.filter(|pod| selects(&selector, pod)).collect())
}
