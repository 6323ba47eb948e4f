//! The text format of Prometheus (0.0.4).

use super::families::{Family, Metric, Value};
use go_text::float;
use std::fmt::Write as _;

/// Writes a family.
pub(super) fn write(text: &mut String, family: &Family) {
    let (name, help, word) = (&family.name, &family.help, family.kind.word());
    writeln!(text, "# HELP {name} {help}\n# TYPE {name} {word}").expect("writing to a String cannot fail");
    for metric in &family.metrics {
        write_metric(text, name, metric);
    }
}

fn write_metric(text: &mut String, name: &str, metric: &Metric) {
    let labels: Vec<(&str, &str)> = metric.labels.iter().map(|(label, value)| (&**label, &**value)).collect();
    let histogram = match &metric.value {
        Value::Number(value) => return sample(text, name, &labels, *value),
        Value::Histogram(histogram) => histogram,
    };
    for (bound, count) in histogram.buckets.iter().copied().chain([(f64::INFINITY, histogram.total)]) {
        let bound = float(bound);
        let labels: Vec<(&str, &str)> = labels.iter().copied().chain([("le", &*bound)]).collect();
        sample(text, &format!("{name}_bucket"), &labels, count as f64);
    }
    sample(text, &format!("{name}_sum"), &labels, histogram.sum);
    sample(text, &format!("{name}_count"), &labels, histogram.total as f64);
}

fn sample(text: &mut String, name: &str, labels: &[(&str, &str)], value: f64) {
    text.push_str(name);
    for (number, (label, value)) in labels.iter().enumerate() {
        let value = value.replace('\\', "\\\\").replace('\n', "\\n").replace('"', "\\\"");
        let before = if number == 0 { '{' } else { ',' };
        write!(text, "{before}{label}=\"{value}\"").expect("writing to a String cannot fail");
    }
    let after = if labels.is_empty() { "" } else { "}" };
    writeln!(text, "{after} {}", float(value)).expect("writing to a String cannot fail");
}

#[cfg(test)]
mod tests {
    use super::super::families::{Families, Kind};
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn samples() {
        let mut families = Families::default();
        families.family("a_seconds", "[STABLE] Help.", Kind::Histogram);
        families.histogram(&[("verb", "\"x\\\n")], &[0.5, 1.0], &[1, 0, 2], 4.7531e-5);
        families.family("nothing", "[ALPHA] Help.", Kind::Counter);
        let expected = "# HELP a_seconds [STABLE] Help.\n# TYPE a_seconds histogram\n\
                        a_seconds_bucket{verb=\"\\\"x\\\\\\n\",le=\"0.5\"} 1\n\
                        a_seconds_bucket{verb=\"\\\"x\\\\\\n\",le=\"1\"} 1\n\
                        a_seconds_bucket{verb=\"\\\"x\\\\\\n\",le=\"+Inf\"} 3\n\
                        a_seconds_sum{verb=\"\\\"x\\\\\\n\"} 4.7531e-05\n\
                        a_seconds_count{verb=\"\\\"x\\\\\\n\"} 3\n";
        let mut text = String::new();
        families.finish(&HashSet::new()).for_each(|family| write(&mut text, &family));
        assert_eq!(text, expected);
    }
}
