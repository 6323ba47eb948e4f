//! The command line of `conformance suites`.

use super::figures;
use super::go::{Package, packages, test};
use super::list::{self, Difference, Source, Suite};
use super::module::copied;
use super::table::{Compared, HEAD, SECTION};
use crate::control_plane::cache;
use crate::pages::{self, with_rows};
use crate::sources::folders;
use crate::subject::Process;
use anyhow::{Context as _, Result, ensure};
use clap::Args;
use conformance_judge::report;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The programs of a pair that envtest starts.
const PROGRAMS: [&str; 3] = ["etcd", "kube-apiserver", "kubectl"];

/// The arguments of `suites`.
#[derive(Debug, Args)]
pub struct Options {
    /// Instead of the list's suites, packages of this checkout of a Go module
    #[arg(long, value_name = "CHECKOUT", requires = "packages", conflicts_with_all = ["only", "list"])]
    directory: Option<PathBuf>,
    /// Only suites whose project contains this; the page's table keeps the others' rows
    #[arg(long, value_name = "SUBSTRING", default_value = "")]
    only: String,
    /// Print the suites without running them
    #[arg(long)]
    list: bool,
    /// Instead of suites, measure what environments take, and write the table in its page
    #[arg(long, conflicts_with_all = ["directory", "only", "list", "junit"])]
    figures: bool,
    /// Also write the verdicts as JUnit XML
    #[arg(long, value_name = "PATH")]
    junit: Option<PathBuf>,
    /// Packages of the checkout, as `go test` takes them
    #[arg(value_name = "PACKAGE", requires = "directory")]
    packages: Vec<String>,
}

/// Runs suites with the real pair and with this program; `root` is the workspace's folder, `target` that of build results. Succeeds only
/// if all tests that pass with the real pair pass with this program, but for those that the list names.
///
/// # Errors
/// If the real pair was not built, Go is missing, or a suite cannot be had.
pub fn run(options: &Options, root: &Path, target: &Path) -> Result<ExitCode> {
    let all = list::load(&root.join("fixtures/suites.toml"))?;
    let chosen: Vec<&Suite> = all.iter().filter(|suite| suite.project.contains(&options.only)).collect();
    ensure!(!chosen.is_empty(), "no suite's project contains {:?}", options.only);
    if options.list {
        chosen.iter().for_each(|suite| println!("{}: {}", suite.project, suite.source));
        return Ok(ExitCode::SUCCESS);
    }
    let pairs = Pairs::find()?;
    if options.figures {
        let (real, fake) = (figures::measure(root, &pairs.real)?, figures::measure(root, pairs.fake.path())?);
        let table = figures::table(&real, &fake);
        print!("{table}");
        pages::write(root, pages::ENVTEST, figures::SECTION, &table)?;
        return Ok(ExitCode::SUCCESS);
    }
    let junit = options.junit.as_deref().map(std::fs::File::create).transpose().context("--junit")?;
    let results = match &options.directory {
        Some(checkout) => vec![(pairs.compare_checkout(checkout, &options.packages)?, [].as_slice())],
        None => (chosen.iter())
            .map(|&suite| Ok((pairs.compare_listed(suite, root, target)?, suite.differs.as_slice())))
            .collect::<Result<_>>()?,
    };
    let is_equal = tell(&results, junit)?;
    if options.directory.is_none() {
        let names: Vec<&str> = all.iter().map(|suite| suite.project.as_str()).collect();
        let rows: Vec<_> = results.iter().map(|(compared, _)| (compared.name.as_str(), compared.row())).collect();
        pages::rewrite(root, pages::FIDELITY, SECTION, |present| with_rows(HEAD, present, &rows, &names))?;
    }
    Ok(if is_equal { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A suite on both pairs, and what of it may differ.
type Results<'a> = Vec<(Compared, &'a [Difference])>;

/// Prints what differs and the table, and writes the verdicts as JUnit XML; whether nothing was lost.
fn tell(results: &Results<'_>, junit: Option<std::fs::File>) -> Result<bool> {
    for (compared, _) in results {
        for (test, real, fake) in compared.differing() {
            println!("{}: {test}: {real:?} on the real pair, {fake:?} here", compared.name);
        }
    }
    print!("{HEAD}");
    results.iter().for_each(|(compared, _)| print!("{}", compared.row()));
    if let Some(mut file) = junit {
        let runs: Vec<_> = results.iter().map(|(compared, listed)| compared.report(listed)).collect();
        std::io::Write::write_all(&mut file, report::junit(&runs).as_bytes())?;
    }
    Ok(results.iter().all(|(compared, listed)| compared.lost(listed).is_empty()))
}

/// The folders of both pairs.
struct Pairs {
    real: PathBuf,
    fake: tempfile::TempDir,
}

impl Pairs {
    fn find() -> Result<Pairs> {
        for program in PROGRAMS {
            cache::program(cache::VERSION, program)?;
        }
        let fake = tempfile::tempdir()?;
        let assets = Command::new(Process::find()?.binary())
            .args(["assets", "--dir"])
            .arg(fake.path())
            // The suites are given the kubectl that the real pair has.
            .env("PATH", cache::folder(cache::VERSION)?)
            .output()?;
        ensure!(assets.status.success(), "fake-apiserver assets: {}", String::from_utf8_lossy(&assets.stderr));
        Ok(Pairs { real: cache::folder(cache::VERSION)?, fake })
    }

    /// Packages of a checkout on both pairs.
    fn compare_checkout(&self, checkout: &Path, names: &[String]) -> Result<Compared> {
        let name = std::fs::canonicalize(checkout)?.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.compare(&name, checkout, &packages(checkout, names)?)
    }

    /// A suite of the list on both pairs, in a copy of its module below `target`.
    fn compare_listed(&self, suite: &Suite, root: &Path, target: &Path) -> Result<Compared> {
        let folder = match &suite.source {
            Source::Here { folder } => root.join(folder),
            Source::Module { module, sum } => {
                let to = target.join("suites").join(module.replace('/', "_"));
                let module = folders(&[(module.clone(), sum.as_str())])?.remove(0);
                copied(&module, &to).with_context(|| to.display().to_string())?;
                to
            }
        };
        self.compare(&suite.project, &folder, &packages(&folder, &suite.packages)?)
    }

    fn compare(&self, name: &str, folder: &Path, packages: &[Package]) -> Result<Compared> {
        println!("{name}: {} packages", packages.len());
        let (real, real_bytes) = test(folder, packages, &self.real)?;
        let (fake, fake_bytes) = test(folder, packages, self.fake.path())?;
        for (package, output) in real.output.iter().filter(|(package, _)| fake.output.contains_key(*package)) {
            println!("  {package} fails on both:\n{output}");
        }
        Ok(Compared { name: name.to_owned(), real, real_bytes, fake, fake_bytes })
    }
}
