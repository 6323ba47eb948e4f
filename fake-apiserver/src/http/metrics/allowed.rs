//! The values of labels that metrics may have: all others are shown as `unexpected`.
//!
//! Follows `pkg/metrics/opts.go` and `options.go` of `k8s.io/component-base` (v0.37.1), which constrains values when they are counted.

use super::families::{Families, Family, Metric, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The value in place of those that are not allowed.
const UNEXPECTED: &str = "unexpected";

/// Allowed values, by the names of a family and of a label, with a comma between.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AllowedLabels(BTreeMap<String, BTreeSet<String>>);

impl AllowedLabels {
    /// Reads pairs such as `NAME,LABEL` and `VALUE,VALUE`.
    ///
    /// # Errors
    /// If a key is none.
    pub(crate) fn of(pairs: impl IntoIterator<Item = (String, String)>) -> Result<Self, String> {
        let mut allowed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (key, values) in pairs {
            let is_key = key.split_once(',').is_some_and(|(name, label)| is_name(name, true) && is_name(label, false));
            if !is_key {
                return Err("--allow-metric-labels must have a list of kv pair with format `metricName,labelName=labelValue, labelValue,...`".into());
            }
            allowed.entry(key).or_default().extend(values.split(',').map(str::to_owned));
        }
        Ok(AllowedLabels(allowed))
    }

    /// Shows the values that are not allowed as `unexpected`, and joins metrics that differ in nothing else.
    pub(super) fn constrain(&self, families: &mut Families) {
        if !self.0.is_empty() {
            families.each(|family| self.constrain_family(family));
        }
    }

    fn constrain_family(&self, family: &mut Family) {
        let own: Vec<(&str, &BTreeSet<String>)> = self
            .0
            .iter()
            .filter_map(|(key, values)| key.split_once(',').map(|(name, label)| (name, label, values)))
            .filter(|(name, ..)| *name == family.name)
            .map(|(_, label, values)| (label, values))
            .collect();
        if own.is_empty() {
            return;
        }
        let mut joined: Vec<Metric> = Vec::new();
        for mut metric in std::mem::take(&mut family.metrics) {
            for (label, value) in &mut metric.labels {
                let is_allowed = |(own, values): &(&str, &BTreeSet<String>)| *own != label || values.contains(value);
                if !own.iter().all(is_allowed) {
                    *value = UNEXPECTED.to_owned();
                }
            }
            match joined.iter_mut().find(|known| known.labels == metric.labels) {
                Some(known) => add(&mut known.value, metric.value),
                None => joined.push(metric),
            }
        }
        family.metrics = joined;
    }
}

/// Whether a text is the name of a family or of a label.
fn is_name(text: &str, may_have_colons: bool) -> bool {
    let is_part = |first: char| first.is_ascii_alphabetic() || first == '_' || may_have_colons && first == ':';
    text.starts_with(is_part) && text.chars().all(|one| is_part(one) || one.is_ascii_digit())
}

fn add(to: &mut Value, value: Value) {
    match (to, value) {
        (Value::Number(sum), Value::Number(number)) => *sum += number,
        (Value::Histogram(sums), Value::Histogram(histogram)) => {
            for ((_, sum), (_, count)) in sums.buckets.iter_mut().zip(histogram.buckets) {
                *sum += count;
            }
            sums.total += histogram.total;
            sums.sum += histogram.sum;
        }
        (to, value) => *to = value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::metrics::families::Kind;
    use std::collections::HashSet;

    fn pairs(pairs: &[(&str, &str)]) -> Result<AllowedLabels, String> {
        AllowedLabels::of(pairs.iter().map(|(key, values)| ((*key).to_owned(), (*values).to_owned())))
    }

    #[test]
    fn values_that_are_not_allowed_are_joined() {
        let mut families = Families::default();
        families.family("a", "", Kind::Counter);
        for (code, count) in [("200", 1.0), ("404", 2.0), ("409", 3.0)] {
            families.sample(&[("code", code), ("verb", "GET")], count);
        }
        pairs(&[("a,code", "200,201"), ("b,code", "1")]).expect("pairs").constrain(&mut families);
        let family = families.finish(&HashSet::new()).next().expect("a family");
        let told: Vec<(&str, f64)> = family
            .metrics
            .iter()
            .map(|metric| match metric.value {
                Value::Number(number) => (&*metric.labels[0].1, number),
                Value::Histogram(_) => panic!("a counter"),
            })
            .collect();
        assert_eq!(told, [("200", 1.0), (UNEXPECTED, 5.0)]);
    }

    #[test]
    fn keys_name_a_family_and_a_label() {
        for (key, expected) in [("a:b,c", true), ("a", false), ("a,b:c", false), ("1,b", false), ("a,", false)] {
            assert_eq!(pairs(&[(key, "x")]).is_ok(), expected, "{key}");
        }
    }
}
