//! The verdicts of a run: of `go test -json`, and of Ginkgo's reports, whose specs are tests within one.

use anyhow::{Context as _, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The verdict on a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    Failed,
    Skipped,
}

/// The verdicts by name: the package, then the test.
pub(super) type Verdicts = BTreeMap<String, Verdict>;

/// A line of `go test -json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    test: Option<String>,
    #[serde(default)]
    elapsed: f64,
    #[serde(default)]
    output: String,
}

/// A suite in a report of Ginkgo.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Report {
    spec_reports: Option<Vec<Spec>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Spec {
    container_hierarchy_texts: Option<Vec<String>>,
    leaf_node_type: String,
    leaf_node_text: String,
    state: String,
}

/// The result of a run of `go test`.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) verdicts: Verdicts,
    /// Seconds that the packages' programs ran, without their compilation.
    pub(super) seconds: f64,
    /// The end of the output of packages that failed as a whole.
    pub(super) output: BTreeMap<String, String>,
}

/// The most bytes of a package's output that are kept.
const KEPT: usize = 1500;

impl Run {
    /// Takes a line of `go test -json`; others are passed over.
    pub(super) fn take(&mut self, line: &str) {
        let Ok(event) = serde_json::from_str::<Event>(line) else { return };
        let verdict = match event.action.as_str() {
            "pass" => Verdict::Passed,
            "fail" => Verdict::Failed,
            "skip" => Verdict::Skipped,
            "output" | "build-output" => {
                let output = self.output.entry(event.package).or_default();
                output.push_str(&event.output);
                if let Some(cut) = output.len().checked_sub(KEPT).filter(|cut| output.is_char_boundary(*cut)) {
                    output.drain(..cut);
                }
                return;
            }
            _ => return,
        };
        match event.test {
            Some(test) => {
                self.verdicts.insert(format!("{} {test}", event.package), verdict);
            }
            None => {
                self.seconds += event.elapsed;
                if verdict != Verdict::Failed {
                    self.output.remove(&event.package);
                } else {
                    // Also if it did not come to its tests.
                    self.verdicts.insert(event.package, verdict);
                }
            }
        }
    }

    /// Takes the report of Ginkgo in the file at `path` for a package; without one the package did not come to its specs.
    ///
    /// # Errors
    /// If it is not a report.
    pub(super) fn take_report(&mut self, package: &str, path: &Path) -> Result<()> {
        if !path.exists() {
            return Ok(());
        }
        let read = || Ok::<_, anyhow::Error>(serde_json::from_slice::<Vec<Report>>(&std::fs::read(path)?)?);
        let reports = read().with_context(|| path.display().to_string())?;
        for spec in reports.into_iter().filter_map(|report| report.spec_reports).flatten() {
            let verdict = match spec.state.as_str() {
                _ if spec.leaf_node_type != "It" => continue,
                "passed" => Verdict::Passed,
                "skipped" | "pending" => Verdict::Skipped,
                _ => Verdict::Failed,
            };
            let texts = spec.container_hierarchy_texts.unwrap_or_default();
            let name = texts.iter().chain([&spec.leaf_node_text]).map(|text| text.trim()).collect::<Vec<_>>().join(" ");
            let (mut key, mut number) = (format!("{package} {name}"), 1);
            while self.verdicts.contains_key(&key) {
                number += 1;
                key = format!("{package} {name} ({number})");
            }
            self.verdicts.insert(key, verdict);
        }
        Ok(())
    }

    /// The number of tests with that verdict.
    pub(super) fn count(&self, verdict: Verdict) -> usize {
        self.verdicts.values().filter(|one| **one == verdict).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_packages_have_verdicts() {
        let mut run = Run::default();
        for line in [
            r#"{"Action":"run","Package":"a","Test":"TestOne"}"#,
            r#"{"Action":"pass","Package":"a","Test":"TestOne","Elapsed":0.5}"#,
            r#"{"Action":"skip","Package":"a","Test":"TestTwo","Elapsed":0}"#,
            r#"{"Action":"pass","Package":"a","Elapsed":1.5}"#,
            r#"{"Action":"output","Package":"b","Output":"panic: no\n"}"#,
            r#"{"Action":"fail","Package":"b","Elapsed":0.25}"#,
            "not json",
        ] {
            run.take(line);
        }
        let count = |verdict| run.count(verdict);
        assert_eq!([count(Verdict::Passed), count(Verdict::Failed), count(Verdict::Skipped)], [1, 1, 1]);
        assert_eq!((run.seconds, run.output["b"].as_str()), (1.75, "panic: no\n"));
    }

    #[test]
    fn specs_are_tests() {
        let report = r#"[{"SpecReports": [
            {"ContainerHierarchyTexts": ["a", "b "], "LeafNodeType": "It", "LeafNodeText": "works", "State": "passed"},
            {"ContainerHierarchyTexts": ["a", "b"], "LeafNodeType": "It", "LeafNodeText": "works", "State": "panicked"},
            {"ContainerHierarchyTexts": null, "LeafNodeType": "BeforeSuite", "LeafNodeText": "", "State": "passed"}]}]"#;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, report).unwrap();
        let mut run = Run::default();
        run.take_report("p", file.path()).unwrap();
        let expected = [("p a b works", Verdict::Passed), ("p a b works (2)", Verdict::Failed)];
        assert_eq!(run.verdicts, expected.map(|(name, verdict)| (name.to_owned(), verdict)).into());
    }
}
