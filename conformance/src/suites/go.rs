//! Go: its packages, and a run of their tests with the programs of a folder.

use super::memory::Watch;
use super::verdicts::Run;
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where Ginkgo's report of a package goes, in the package's folder.
const REPORT: &str = "envtest-report.json";
/// The package that a test imports which is written with Ginkgo.
const GINKGO: &str = "github.com/onsi/ginkgo/v2";

/// A package with tests.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Package {
    import_path: String,
    dir: PathBuf,
    #[serde(default)]
    test_imports: Vec<String>,
    #[serde(default)]
    x_test_imports: Vec<String>,
}

impl Package {
    fn has_tests(&self) -> bool {
        !self.test_imports.is_empty() || !self.x_test_imports.is_empty()
    }

    fn has_specs(&self) -> bool {
        self.test_imports.iter().chain(&self.x_test_imports).any(|import| import == GINKGO)
    }
}

/// The packages below `folder` that have tests.
///
/// # Errors
/// If Go does not find them.
pub(super) fn packages(folder: &Path, patterns: &[String]) -> Result<Vec<Package>> {
    let go = Command::new("go")
        .current_dir(folder)
        .args(["list", "-json=ImportPath,Dir,TestImports,XTestImports"])
        .args(patterns)
        .stderr(Stdio::inherit())
        .output()
        .context("running go, which is needed")?;
    ensure!(go.status.success(), "go list {}: {}", patterns.join(" "), go.status);
    let found = serde_json::Deserializer::from_slice(&go.stdout).into_iter::<Package>();
    let mut packages = found.collect::<Result<Vec<_>, _>>().context("go list")?;
    packages.retain(Package::has_tests);
    ensure!(!packages.is_empty(), "{} have no tests", patterns.join(" "));
    Ok(packages)
}

/// A run of the tests of packages, and the most bytes that the programs of `assets` had in memory.
///
/// # Errors
/// If Go cannot be run, or a report not be read.
pub(super) fn test(folder: &Path, packages: &[Package], assets: &Path) -> Result<(Run, u64)> {
    let mut run = Run::default();
    let mut peak = 0;
    for package in packages {
        std::fs::remove_file(package.dir.join(REPORT)).ok();
    }
    let (specs, tests): (Vec<&Package>, Vec<&Package>) = packages.iter().partition(|package| package.has_specs());
    let report = format!("--ginkgo.json-report={REPORT}");
    for (packages, arguments) in [(specs, vec!["-args", &report]), (tests, Vec::new())] {
        if packages.is_empty() {
            continue;
        }
        let mut command = Command::new("go");
        command
            .current_dir(folder)
            // One package after the other: the figures are about one control plane.
            .args(["test", "-json", "-count=1", "-p=1", "-vet=off", "-timeout=30m"])
            .args(packages.iter().map(|package| &package.import_path))
            .args(arguments)
            .env("KUBEBUILDER_ASSETS", assets)
            .env_remove("TEST_ASSET_ETCD")
            .env_remove("TEST_ASSET_KUBE_APISERVER")
            .env_remove("TEST_ASSET_KUBECTL")
            .env_remove("USE_EXISTING_CLUSTER")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        let watch = Watch::begin(&mut command, assets);
        let mut go = command.spawn().context("running go, which is needed")?;
        let lines = BufReader::new(go.stdout.take().context("its output is piped")?).lines();
        lines.map_while(Result::ok).for_each(|line| run.take(&line));
        go.wait()?;
        peak = peak.max(watch.end());
    }
    for package in packages.iter().filter(|package| package.has_specs()) {
        run.take_report(&package.import_path, &package.dir.join(REPORT))?;
    }
    Ok((run, peak))
}
