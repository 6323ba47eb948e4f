//! `kubectl`: one that is installed. Our own can only look for a namespace, and change kubeconfigs.

mod config;
mod stub;

use anyhow::{Context as _, bail};
use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{self, Command};

/// The folders that are searched behind those of PATH, which tests may run without.
const USUAL: [&str; 7] = [
    "/usr/local/bin",
    "/usr/bin",
    "/bin",
    "/snap/bin",
    "/opt/homebrew/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/usr/local/kubebuilder/bin",
];
/// The variable with the id of the process in which this program runs a `kubectl`: one that turns out to be this program in disguise finds
/// its own id there.
const GUARD: &str = "FAKE_APISERVER_RUNS_KUBECTL";

/// Runs the `kubectl` that is installed in place of this process.
///
/// # Errors
/// If there is none, and our own does not know the command.
pub(crate) fn main(arguments: &[OsString]) -> anyhow::Result<()> {
    let id = process::id().to_string();
    let found = find().filter(|_| env::var_os(GUARD).is_none_or(|guard| guard != *id));
    let Some(kubectl) = found else {
        let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        if let Some(done) = stub::main(&words) {
            return done;
        }
        if let Some(done) = config::main(&words) {
            // As of any program: who does not read it does not want it.
            io::stdout().write_all(done?.as_bytes()).ok();
            return Ok(());
        }
        let usual = USUAL.join(", ");
        bail!(
            "there is no kubectl on PATH or in {usual}, and that of fake-apiserver knows only `get namespace NAME` and `config current-context`, \
             `set-cluster`, `set-credentials`, `set-context`, `use-context` and `unset`, not `{}`: install kubectl, then run `fake-apiserver assets` again",
            words.join(" ")
        )
    };
    let mut command = Command::new(&kubectl);
    command.args(arguments).env(GUARD, id);
    run(command).with_context(|| format!("unable to run {}", kubectl.display()))
}

/// The `kubectl` on PATH, or in one of the usual folders, that is not this program.
pub(crate) fn find() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    first_in(env::split_paths(&path).chain(USUAL.map(PathBuf::from)))
}

/// The first `kubectl` in those folders, less those that `fake-apiserver assets` has made, by whichever build of this program.
fn first_in(folders: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    let own = env::current_exe().and_then(fs::canonicalize).ok();
    let mut files =
        folders.filter(|folder| !is_of_assets(folder)).map(|folder| folder.join(format!("kubectl{EXE_SUFFIX}")));
    let file = files.find(|file| is_executable(file) && fs::canonicalize(file).ok() != own)?;
    std::path::absolute(file).ok()
}

/// Whether a folder has one program as both kube-apiserver and etcd. In others they are of different lengths.
fn is_of_assets(folder: &Path) -> bool {
    let length = |name: &str| fs::metadata(folder.join(format!("{name}{EXE_SUFFIX}"))).map(|found| found.len()).ok();
    length("kube-apiserver").is_some_and(|own| length("etcd") == Some(own))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    // A copy of this program, as long as it is.
    let own = env::current_exe().and_then(fs::metadata).map(|own| own.len()).unwrap_or_default();
    fs::metadata(file).is_ok_and(|found| found.is_file() && found.len() != own)
}

#[cfg(unix)]
fn run(mut command: Command) -> std::io::Result<()> {
    Err(std::os::unix::process::CommandExt::exec(&mut command))
}

#[cfg(not(unix))]
fn run(mut command: Command) -> std::io::Result<()> {
    let status = command.status()?;
    process::exit(status.code().unwrap_or(1))
}
