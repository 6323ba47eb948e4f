//! The command line of `conformance suites`.

use super::go::{Package, packages, test};
use super::list::{self, Suite};
use super::table::{Compared, SECTION, table};
use crate::control_plane::cache;
use crate::pages;
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
    /// Only suites whose project contains this; a run of all writes the table in its page
    #[arg(long, value_name = "SUBSTRING", default_value = "")]
    only: String,
    /// Print the suites without running them
    #[arg(long)]
    list: bool,
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
        chosen.iter().for_each(|suite| println!("{}: {suite}", suite.project));
        return Ok(ExitCode::SUCCESS);
    }
    let pairs = Pairs::find()?;
    let mut junit = options.junit.as_deref().map(std::fs::File::create).transpose().context("--junit")?;
    let mut results = Vec::new();
    let mut is_equal = true;
    if let Some(checkout) = &options.directory {
        let name = std::fs::canonicalize(checkout)?.file_name().unwrap_or_default().to_string_lossy().into_owned();
        results.push((pairs.compare(&name, checkout, &packages(checkout, &options.packages)?)?, [].as_slice()));
    } else {
        let pins: Vec<(String, &str)> = chosen.iter().map(|suite| (suite.to_string(), suite.sum.as_str())).collect();
        for (suite, module) in chosen.iter().zip(folders(&pins)?) {
            let folder = target.join("suites").join(suite.to_string().replace('/', "_"));
            copy(&module, &folder).with_context(|| folder.display().to_string())?;
            let found = packages(&folder, &suite.packages)?;
            results.push((pairs.compare(&suite.project, &folder, &found)?, suite.differs.as_slice()));
        }
    }
    for (compared, listed) in &results {
        for (test, real, fake) in compared.differing() {
            println!("{}: {test}: {real:?} on the real pair, {fake:?} here", compared.name);
        }
        is_equal &= compared.lost(listed).is_empty();
    }
    let (compared, listed): (Vec<Compared>, Vec<_>) = results.into_iter().unzip();
    print!("{}", table(&compared));
    if let Some(file) = &mut junit {
        let runs: Vec<_> = compared.iter().zip(&listed).map(|(one, listed)| one.report(listed)).collect();
        std::io::Write::write_all(file, report::junit(&runs).as_bytes())?;
    }
    if options.directory.is_none() && chosen.len() == all.len() {
        pages::write(root, pages::FIDELITY, SECTION, &table(&compared))?;
    }
    Ok(if is_equal { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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

/// Copies a module out of Go's cache, where nothing may be written, unless it was before.
fn copy(module: &Path, folder: &Path) -> std::io::Result<()> {
    if folder.join("go.mod").exists() {
        return Ok(());
    }
    std::fs::create_dir_all(folder)?;
    for entry in std::fs::read_dir(module)? {
        let entry = entry?;
        let to = folder.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &to)?,
            // Not with the mode: files of the cache are read-only, and no program is one there.
            false => {
                std::fs::write(&to, std::fs::read(entry.path())?)?;
                #[cfg(unix)]
                if to.extension().is_some_and(|extension| extension == "sh") {
                    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                    std::fs::set_permissions(&to, mode)?;
                }
            }
        }
    }
    Ok(())
}
