//! `kubectl`: the first one on PATH that is another program. There is none of our own.

use anyhow::{Context as _, bail};
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// Runs the `kubectl` on PATH in place of this process.
///
/// # Errors
/// If there is none.
pub(crate) fn main(arguments: &[OsString]) -> anyhow::Result<()> {
    let Some(kubectl) = find() else {
        bail!("there is no kubectl on PATH, and fake-apiserver brings none: install kubectl")
    };
    let mut command = Command::new(&kubectl);
    command.args(arguments);
    run(command).with_context(|| format!("unable to run {}", kubectl.display()))
}

/// The `kubectl` on PATH that is not this program.
pub(crate) fn find() -> Option<PathBuf> {
    let own = env::current_exe().and_then(std::fs::canonicalize).ok();
    let name = format!("kubectl{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).map(|folder| folder.join(&name)).find(|file| {
        let real = std::fs::canonicalize(file).ok();
        real.is_some() && real != own && is_executable(file)
    })
}

#[cfg(unix)]
fn is_executable(file: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &std::path::Path) -> bool {
    // A copy of this program, as long as it is.
    let own = env::current_exe().and_then(std::fs::metadata).map(|own| own.len()).unwrap_or_default();
    std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.len() != own)
}

#[cfg(unix)]
fn run(mut command: Command) -> std::io::Result<()> {
    Err(std::os::unix::process::CommandExt::exec(&mut command))
}

#[cfg(not(unix))]
fn run(mut command: Command) -> std::io::Result<()> {
    let status = command.status()?;
    std::process::exit(status.code().unwrap_or(1))
}
