//! Completion indexes.
//!
//! Ports `k8s.io/kubernetes/pkg/controller/job/indexed_job_utils.go` (v1.37.1).

use super::super::facts::read;
use machinery::object::meta;
use std::collections::BTreeSet;
use std::fmt;
use tree::Value;

pub(super) const INDEX: &str = "batch.kubernetes.io/job-completion-index";
const FAILURES: &str = "batch.kubernetes.io/job-index-failure-count";
const IGNORED: &str = "batch.kubernetes.io/job-index-ignored-failure-count";

/// A set of indexes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Indexes(pub(super) BTreeSet<i64>);

impl Indexes {
    /// The indexes of a text such as `1,3-5`, below a number.
    pub(super) fn parse(text: &str, completions: i64) -> Indexes {
        let mut all = BTreeSet::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            if let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>()) {
                all.extend(first..=last.min(completions - 1));
            }
        }
        Indexes(all)
    }

    pub(super) fn len(&self) -> i64 {
        i64::try_from(self.0.len()).unwrap_or(i64::MAX)
    }

    pub(super) fn with(&self, more: impl IntoIterator<Item = i64>) -> Indexes {
        Indexes(self.0.iter().copied().chain(more).collect())
    }
}

/// Neighbours are written as `1,2`, more of them as `1-3`.
impl fmt::Display for Indexes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = self.0.iter().copied().peekable();
        let mut comma = "";
        while let Some(first) = left.next() {
            let mut last = first;
            while left.next_if_eq(&(last + 1)).is_some() {
                last += 1;
            }
            match last - first {
                0 => write!(f, "{comma}{first}")?,
                1 => write!(f, "{comma}{first},{last}")?,
                _ => write!(f, "{comma}{first}-{last}")?,
            }
            comma = ",";
        }
        Ok(())
    }
}

/// The index of a pod, if it has one.
pub(super) fn of(pod: &Value) -> Option<i64> {
    meta::annotations(pod).get(INDEX)?.parse().ok().filter(|index| *index >= 0)
}

/// The index of a pod, if it is below the number of completions.
pub(super) fn valid(pod: &Value, completions: i64) -> Option<i64> {
    of(pod).filter(|index| *index < completions)
}

fn count(pod: &Value, annotation: &str) -> i64 {
    let count = meta::annotations(pod).get(annotation).and_then(|count| count.parse::<i32>().ok());
    count.filter(|count| *count >= 0).map_or(0, i64::from)
}

/// How often pods of an index failed before this one.
pub(super) fn failures(pod: &Value) -> i64 {
    count(pod, FAILURES)
}

/// The same, with failures that a policy ignores.
pub(super) fn all_failures(pod: &Value) -> i64 {
    failures(pod) + count(pod, IGNORED)
}

/// Gives a pod an index: annotation, label, host name, variable and the beginning of its name.
pub(super) fn give(pod: &mut Value, job: &str, index: i64) {
    pod["metadata"]["annotations"][INDEX] = index.to_string().into();
    meta::set_label(pod, INDEX, &index.to_string());
    let end = format!("-{index}-");
    let base = machinery::text::beginning(job, 58 - end.len());
    meta::set(pod, "generateName", format!("{base}{end}"));
    pod["spec"]["hostname"] = format!("{job}-{index}").into();
    for list in ["initContainers", "containers"] {
        let containers = pod["spec"].get_mut(list).and_then(Value::as_array_mut);
        containers.into_iter().flatten().for_each(give_variable);
    }
}

fn give_variable(container: &mut Value) {
    const VARIABLE: &str = "JOB_COMPLETION_INDEX";
    if read::list(container, "/env").iter().any(|variable| read::text(variable, "/name") == VARIABLE) {
        return;
    }
    let mut all = read::list(container, "/env").to_vec();
    let field = format!("metadata.labels['{INDEX}']");
    all.push(tree::json!({"name": VARIABLE, "valueFrom": {"fieldRef": {"fieldPath": field}}}));
    container["env"] = all.into();
}

/// Notes how often pods of an index have failed, the replaced one included.
pub(super) fn count_failures(pod: &mut Value, replaced: Option<&Value>, counts: impl Fn(&Value) -> bool) {
    let (failures, ignored) = match replaced {
        None => (0, 0),
        Some(replaced) => {
            let (before, ignored) = (count(replaced, FAILURES), count(replaced, IGNORED));
            if counts(replaced) { (before + 1, ignored) } else { (before, ignored + 1) }
        }
    };
    pod["metadata"]["annotations"][FAILURES] = failures.to_string().into();
    if ignored > 0 {
        pod["metadata"]["annotations"][IGNORED] = ignored.to_string().into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_written_in_short() {
        for (text, written) in [("", ""), ("0", "0"), ("0,1", "0,1"), ("0,1,2,4,6-7", "0-2,4,6,7"), ("3-9", "3-7")] {
            assert_eq!(Indexes::parse(text, 8).to_string(), written);
        }
    }
}
