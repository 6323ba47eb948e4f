//! The text format of Prometheus (0.0.4).

use super::super::version;
use std::fmt::Write as _;

/// Metrics, as text.
#[derive(Default)]
pub(super) struct Text(String);

impl Text {
    /// Begins a family of metrics.
    pub(super) fn family(&mut self, name: &str, help: &str, type_: &str) {
        writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {type_}").expect("writing to a String cannot fail");
    }

    /// A value with its labels, which are sorted.
    pub(super) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        self.0.push_str(name);
        for (number, (label, value)) in labels.iter().enumerate() {
            let value = value.replace('\\', "\\\\").replace('\n', "\\n").replace('"', "\\\"");
            let before = if number == 0 { '{' } else { ',' };
            write!(self.0, "{before}{label}=\"{value}\"").expect("writing to a String cannot fail");
        }
        let after = if labels.is_empty() { "" } else { "}" };
        writeln!(self.0, "{after} {}", number(value)).expect("writing to a String cannot fail");
    }

    /// A histogram, given the number of values in each bucket and in that above all bounds, and their sum.
    pub(super) fn histogram(&mut self, name: &str, labels: &[(&str, &str)], bounds: &[f64], counts: &[u64], sum: f64) {
        let mut total = 0;
        for (number, count) in counts.iter().enumerate() {
            total += count;
            let bound = bounds.get(number).map_or_else(|| "+Inf".to_owned(), |bound| self::number(*bound));
            let labels: Vec<(&str, &str)> = labels.iter().copied().chain([("le", &*bound)]).collect();
            self.sample(&format!("{name}_bucket"), &labels, total as f64);
        }
        self.sample(&format!("{name}_sum"), labels, sum);
        self.sample(&format!("{name}_count"), labels, total as f64);
    }

    /// The version of this server.
    pub(super) fn build_info(&mut self) {
        const NAME: &str = "kubernetes_build_info";
        self.family(NAME, "[BETA] A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.", "gauge");
        let labels = version::labels();
        let labels: Vec<(&str, &str)> = labels.iter().map(|(label, value)| (*label, &**value)).collect();
        self.sample(NAME, &labels, 1.0);
    }

    /// The versions with which this server is compatible.
    pub(super) fn version_info(&mut self) {
        const NAME: &str = "version_info";
        self.family(NAME, "[ALPHA] Provides the compatibility version info of the component. The component label is the name of the component, usually kube, but is relevant for aggregated-apiservers.", "gauge");
        let labels = version::compatibility();
        let labels: Vec<(&str, &str)> = labels.iter().map(|(label, value)| (*label, &**value)).collect();
        self.sample(NAME, &labels, 1.0);
    }

    pub(super) fn finish(self) -> String {
        self.0
    }
}

/// A number as Go's `strconv.FormatFloat` prints it with the format `g`, in as few digits as needed.
fn number(value: f64) -> String {
    let scientific = format!("{value:e}");
    match scientific.split_once('e').and_then(|(digits, exponent)| Some((digits, exponent.parse::<i32>().ok()?))) {
        Some((digits, exponent @ ..-4)) => format!("{digits}e-{:02}", -exponent),
        Some((digits, exponent @ 6..)) => format!("{digits}e+{exponent:02}"),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let numbers = [0.0, 1.0, 0.005, 1.25, 123_456.0, 1_000_000.0, 326_205_502.0, u64::MAX as f64, 4.7531e-5];
        let expected = "0 1 0.005 1.25 123456 1e+06 3.26205502e+08 1.8446744073709552e+19 4.7531e-05";
        assert_eq!(numbers.map(number).join(" "), expected);
    }

    #[test]
    fn samples() {
        let mut text = Text::default();
        text.family("a_seconds", "[STABLE] Help.", "histogram");
        text.histogram("a_seconds", &[("verb", "\"x\\\n")], &[0.5, 1.0], &[1, 0, 2], 4.7531e-5);
        let expected = "# HELP a_seconds [STABLE] Help.\n# TYPE a_seconds histogram\n\
                        a_seconds_bucket{verb=\"\\\"x\\\\\\n\",le=\"0.5\"} 1\n\
                        a_seconds_bucket{verb=\"\\\"x\\\\\\n\",le=\"1\"} 1\n\
                        a_seconds_bucket{verb=\"\\\"x\\\\\\n\",le=\"+Inf\"} 3\n\
                        a_seconds_sum{verb=\"\\\"x\\\\\\n\"} 4.7531e-05\n\
                        a_seconds_count{verb=\"\\\"x\\\\\\n\"} 3\n";
        assert_eq!(text.finish(), expected);
    }
}
