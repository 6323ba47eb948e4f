//! The questions about metrics, as requests, and what their answers say: `pkg/controller/podautoscaler/metrics/client.go` (v1.37.1).

use super::metrics::{Metric, Source, milli};
use crate::act::{Act, Refusal};
use crate::kinds::Kinds;
use crate::workloads::facts::read;
use jiff::Timestamp;
use machinery::object::selector::LabelSelector;
use std::collections::BTreeMap;
use std::time::Duration;
use tree::Value;

/// The time over which a metric was measured, where it does not say so.
const WINDOW: Duration = Duration::from_secs(60);

/// A value of a pod.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sample {
    /// Thousandths.
    pub(super) value: i64,
    pub(super) at: Timestamp,
    pub(super) window: Duration,
}

/// Values by pod.
pub(super) type Samples = BTreeMap<String, Sample>;

fn ask(path: String, query: Vec<(&'static str, String)>) -> Act {
    let query = query.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    Act::Ask { path, query, review: None }
}

/// The question for a metric, of an autoscaler in a namespace whose target has that selector.
pub(super) fn question(metric: &Metric<'_>, namespace: &str, selector: &str, kinds: &Kinds) -> Act {
    let name = metric.name();
    let own = metric.own().pointer("/metric/selector").and_then(LabelSelector::structured);
    let own = own.map(|selector| selector.to_string()).unwrap_or_default();
    let selector = selector.to_owned();
    match metric.source() {
        Source::Resource => {
            let path = format!("/apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods");
            ask(path, vec![("labelSelector", selector)])
        }
        Source::Pods => {
            let path = format!("/apis/custom.metrics.k8s.io/v1beta2/namespaces/{namespace}/pods/*/{name}");
            ask(path, vec![("labelSelector", selector), ("metricLabelSelector", own)])
        }
        Source::Object => {
            let of = metric.own();
            let (version, kind) =
                (read::text(of, "/describedObject/apiVersion"), read::text(of, "/describedObject/kind"));
            let resource = kinds.kind(version, kind).map(|served| served.resource.to_string());
            let resource = resource.unwrap_or_else(|| kind.to_ascii_lowercase());
            let object = read::text(of, "/describedObject/name");
            let api = "/apis/custom.metrics.k8s.io/v1beta2";
            let path = match (version, kind) {
                ("v1", "Namespace") => format!("{api}/namespaces/{namespace}/metrics/{name}"),
                _ => format!("{api}/namespaces/{namespace}/{resource}/{object}/{name}"),
            };
            ask(path, vec![("metricLabelSelector", own)])
        }
        Source::External => {
            let path = format!("/apis/external.metrics.k8s.io/v1beta1/namespaces/{namespace}/{name}");
            ask(path, vec![("labelSelector", own)])
        }
    }
}

/// The words for a question that was refused.
pub(super) fn refused(metric: &Metric<'_>, refusal: &Refusal) -> String {
    let (api, resource) = match metric.source() {
        Source::Resource => ("resource", "pods.metrics.k8s.io".to_owned()),
        Source::Pods | Source::Object => ("custom", "*.custom.metrics.k8s.io".to_owned()),
        Source::External => ("external", format!("{}.external.metrics.k8s.io", metric.name())),
    };
    let verb = if metric.source() == Source::Resource { "get" } else { "list" };
    let why = match refusal.code == 404 && refusal.reason.is_empty() {
        true => format!("the server could not find the requested resource ({verb} {resource})"),
        false => refusal.to_string(),
    };
    format!("unable to fetch metrics from {api} metrics API: {why}")
}

/// The samples of pods in an answer.
///
/// # Errors
/// If there are none.
pub(super) fn samples(metric: &Metric<'_>, answer: &Value) -> Result<Samples, String> {
    let items = read::list(answer, "/items");
    if items.is_empty() {
        let api = if metric.source() == Source::Resource { "resource" } else { "custom" };
        return Err(format!("no metrics returned from {api} metrics API"));
    }
    let of = |item: &Value| match metric.source() {
        Source::Resource => of_resource(metric, item),
        _ => of_pod(item),
    };
    Ok(items.iter().filter_map(of).collect())
}

fn at(item: &Value) -> Timestamp {
    read::time(item, "/timestamp").unwrap_or(Timestamp::UNIX_EPOCH)
}

fn of_resource(metric: &Metric<'_>, item: &Value) -> Option<(String, Sample)> {
    let container = metric.container();
    let all = read::list(item, "/containers");
    let mut counted = all.iter().filter(|one| container.is_empty() || read::text(one, "/name") == container).peekable();
    counted.peek()?;
    let usage = |one: &Value| one.get("usage").and_then(|usage| usage.get(metric.name())).and_then(milli);
    let value = counted.map(usage).sum::<Option<i64>>()?;
    let window = read::text(item, "/window").parse::<jiff::SignedDuration>().unwrap_or_default();
    let window = Duration::try_from(window).unwrap_or_default();
    Some((read::text(item, "/metadata/name").to_owned(), Sample { value, at: at(item), window }))
}

fn of_pod(item: &Value) -> Option<(String, Sample)> {
    let window = read::number(item, "/windowSeconds").and_then(|seconds| seconds.try_into().ok());
    let value = milli(item.get("value")?)?;
    let sample = Sample { value, at: at(item), window: window.map_or(WINDOW, Duration::from_secs) };
    Some((read::text(item, "/describedObject/name").to_owned(), sample))
}

/// The values in an answer that is about no pods.
///
/// # Errors
/// If there are none, or too many.
pub(super) fn values(metric: &Metric<'_>, answer: &Value) -> Result<i64, String> {
    let items = read::list(answer, "/items");
    match metric.source() {
        Source::External if items.is_empty() => {
            return Err("no metrics returned from external metrics API".to_owned());
        }
        Source::Object if items.len() != 1 => {
            let count = items.len();
            return Err(format!(
                "unable to fetch metrics from custom metrics API: the custom metrics API server returned {count} results when we asked for \
                 exactly one"
            ));
        }
        _ => {}
    }
    let values = items.iter().filter_map(|item| milli(item.get("value")?));
    Ok(values.fold(0, i64::saturating_add))
}
