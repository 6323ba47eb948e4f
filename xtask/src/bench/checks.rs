//! Measurement of `fake-apiserver check`: from start to exit, and its memory.

use super::process::resident_memory;
use super::report::Unit;
use super::{Bench, OWN, Programs};
use anyhow::{bail, ensure};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The number of measurements.
const RUNS: usize = 5;
/// The time between two looks at the memory.
const LOOK: Duration = Duration::from_millis(2);

const DEPLOYMENTS: &str = "check of 500 deployments";
const CUSTOM: &str = "check of 5,000 objects with 200 definitions";

impl Bench<'_> {
    /// Measures the check of manifests.
    pub(super) fn checks(&mut self, programs: &Programs) -> anyhow::Result<()> {
        for (name, manifests) in [(DEPLOYMENTS, deployments as fn() -> String), (CUSTOM, custom_objects)] {
            if !self.wants(name) {
                continue;
            }
            let folder = tempfile::tempdir()?;
            let path = folder.path().join("manifests.yaml");
            std::fs::write(&path, manifests())?;
            let (mut times, mut memory) = (self.no_samples(), self.no_samples());
            for _ in 0..RUNS {
                let (time, most) = checked(&programs.own, &path)?;
                times[OWN].push(time.as_secs_f64() * 1e3);
                memory[OWN].push(most as f64 / 1e6);
            }
            self.add(name, Unit::Milliseconds, times);
            self.add(&format!("memory of a {name}"), Unit::Megabytes, memory);
        }
        Ok(())
    }
}

/// The time that a check takes, and the most bytes of memory that it was seen to have.
fn checked(program: &Path, manifests: &Path) -> anyhow::Result<(Duration, u64)> {
    let begun = Instant::now();
    let mut child = Command::new(program).args(["check", "-f"]).arg(manifests).stdout(Stdio::null()).spawn()?;
    let (process, (ended, end)) = (child.id(), mpsc::channel());
    std::thread::spawn(move || ended.send((child.wait(), begun.elapsed())));
    let mut most = 0;
    let (status, time) = loop {
        most = most.max(resident_memory(process).unwrap_or_default());
        match end.recv_timeout(LOOK) {
            Ok((status, time)) => break (status?, time),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => bail!("the check was not waited for"),
        }
    };
    ensure!(status.success(), "{status}");
    Ok((time, most))
}

fn deployments() -> String {
    let mut text = String::new();
    for number in 0..500 {
        write!(
            text,
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web-{number}, labels: {{app: web-{number}}}}}\nspec:\n  replicas: 3\n  \
             selector: {{matchLabels: {{app: web-{number}}}}}\n  template:\n    metadata: {{labels: {{app: web-{number}}}}}\n    spec:\n      \
             containers:\n      - name: web\n        image: registry.example/web:{number}\n        ports: [{{containerPort: 8080}}]\n        \
             resources: {{requests: {{cpu: 100m, memory: 64Mi}}, limits: {{memory: 128Mi}}}}\n        \
             readinessProbe: {{httpGet: {{path: /ready, port: 8080}}}}\n"
        )
        .expect("a String can be written");
    }
    text
}

fn custom_objects() -> String {
    let mut text = String::new();
    for number in 0..200 {
        write!(
            text,
            "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: kind{number}s.a.com}}\nspec:\n  \
             group: a.com\n  scope: Namespaced\n  names: {{kind: Kind{number}, plural: kind{number}s}}\n  versions:\n  - name: v1\n    \
             served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          \
             spec:\n            type: object\n            required: [size]\n            x-kubernetes-validations: [{{rule: self.size < 1000}}]\n            \
             properties: {{size: {{type: integer}}, name: {{type: string, default: none}}, tags: {{type: array, items: {{type: string}}}}}}\n"
        )
        .expect("a String can be written");
    }
    for number in 0..5_000 {
        write!(
            text,
            "---\napiVersion: a.com/v1\nkind: Kind{}\nmetadata: {{name: one-{number}}}\nspec: {{size: {}, tags: [a, b, c]}}\n",
            number % 200,
            number % 1000
        )
        .expect("a String can be written");
    }
    text
}
