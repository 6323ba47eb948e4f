//! The build of the program: stripped, static where that is possible, and the same from every folder.

use super::NAME;
use anyhow::{Context as _, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The system that this one is, as rustc names it.
pub(super) fn host() -> Result<String> {
    let rustc = Command::new("rustc").arg("-vV").output().context("running rustc")?;
    let text = String::from_utf8(rustc.stdout)?;
    text.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned).context("rustc names its host")
}

/// Builds the program from the sources in `root`, and returns its path.
pub(super) fn program(root: &Path, target: &str) -> Result<PathBuf> {
    let root = std::fs::canonicalize(root)?;
    let home = cargo_home()?;
    let replaced = [(root.as_path(), "/src"), (home.as_path(), "/cargo")];
    let mut flags: Vec<String> = vec!["-Clink-arg=-Wl,--build-id=none".to_owned()];
    flags.extend(replaced.iter().map(|(path, name)| format!("--remap-path-prefix={}={name}", path.display())));
    if target.contains("linux-gnu") {
        flags.push("-Ctarget-feature=+crt-static".to_owned());
    } else if !target.contains("linux") {
        flags.remove(0);
    }
    let c_flags: Vec<String> =
        replaced.iter().map(|(path, name)| format!("-ffile-prefix-map={}={name}", path.display())).collect();
    let folder = root.join("target");
    let status = Command::new("cargo")
        .current_dir(&root)
        .args(["build", "--locked", "--profile", "dist", "--package", "fake-apiserver-cli", "--target", target])
        .arg("--target-dir")
        .arg(&folder)
        // Not RUSTFLAGS, which paths with spaces do not survive.
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"))
        .env("CFLAGS", if target.contains("msvc") { String::new() } else { quoted(&c_flags) })
        // So that a quoted space is a part of its flag.
        .env("CC_SHELL_ESCAPED_FLAGS", "1")
        // Assemblers and archivers that write the time.
        .env("SOURCE_DATE_EPOCH", "0")
        .env("ZERO_AR_DATE", "1")
        .env("CARGO_INCREMENTAL", "0")
        .status()
        .context("running cargo")?;
    ensure!(status.success(), "cargo build: {status}");
    let suffix = if target.contains("windows") { ".exe" } else { "" };
    Ok(folder.join(target).join("dist").join(format!("{NAME}{suffix}")))
}

/// Flags for a shell.
fn quoted(flags: &[String]) -> String {
    flags.iter().map(|flag| flag.replace(' ', "\\ ")).collect::<Vec<_>>().join(" ")
}

/// Cargo's folder, where the sources of dependencies are.
fn cargo_home() -> Result<PathBuf> {
    let home = || std::env::home_dir().map(|home| home.join(".cargo"));
    std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home).context("cargo has no folder")
}
