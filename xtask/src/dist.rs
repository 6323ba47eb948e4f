//! `cargo xtask dist`: one file to take along.
//!
//! ```text
//! target/archives/fake-apiserver-0.1.0-x86_64-unknown-linux-gnu.tar.gz         the program, licences, bill of materials
//! target/archives/fake-apiserver-0.1.0-x86_64-unknown-linux-gnu.tar.gz.sha256  its checksum, as sha256sum prints it
//! ```
//! On Linux the program is linked with glibc statically, so that it runs on any distribution, whatever its C library. Two builds of the same
//! sources are equal byte for byte, wherever the folder is: `--check` makes both and compares them.

mod archive;
mod bill;
mod build;

use anyhow::{Context as _, Result, ensure};
use aws_lc_rs::digest::{SHA256, digest};
use clap::Args;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program's name, and the crate's.
const NAME: &str = "fake-apiserver";

/// The arguments of `dist`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Also build a copy of the sources in another folder, and fail if its archive is another one
    #[arg(long)]
    check: bool,
    /// System to build for, as rustc names it; this one by default
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
}

/// Makes the archive and its checksum, and prints their paths.
pub(crate) fn run(arguments: &Arguments, root: &Path) -> Result<()> {
    let target = arguments.target.clone().map_or_else(build::host, Ok)?;
    let folder = root.join("target/archives");
    let archive = make(root, &target)?;
    let name = format!("{NAME}-{}-{target}.tar.gz", env!("CARGO_PKG_VERSION"));
    let sum = checksum(&archive);
    std::fs::create_dir_all(&folder)?;
    let write = |name: &str, bytes: &[u8]| -> Result<PathBuf> {
        let path = folder.join(name);
        std::fs::write(&path, bytes).with_context(|| path.display().to_string())?;
        Ok(path)
    };
    println!("{}", write(&name, &archive)?.display());
    println!("{}", write(&format!("{name}.sha256"), format!("{sum}  {name}\n").as_bytes())?.display());
    if arguments.check {
        let elsewhere = tempfile::tempdir()?;
        let copy = elsewhere.path().join("another-folder");
        copied(root, &copy)?;
        let other = checksum(&make(&copy, &target)?);
        ensure!(other == sum, "a build in another folder has the checksum {other}, and this one {sum}");
        println!("a build in another folder is the same, byte for byte");
    }
    Ok(())
}

/// The archive of the sources in `root`, built for `target`.
fn make(root: &Path, target: &str) -> Result<Vec<u8>> {
    let program = build::program(root, target)?;
    let packages = bill::packages(root, target)?;
    let top = format!("{NAME}-{}", env!("CARGO_PKG_VERSION"));
    let suffix = if target.contains("windows") { ".exe" } else { "" };
    let mut files = vec![
        (
            format!("{top}/{NAME}{suffix}"),
            0o755,
            std::fs::read(&program).with_context(|| program.display().to_string())?,
        ),
        (format!("{top}/LICENSE"), 0o644, std::fs::read(root.join("LICENSE"))?),
        (format!("{top}/LICENSES-OF-DEPENDENCIES.txt"), 0o644, bill::licences(&packages)?.into_bytes()),
        (format!("{top}/{NAME}.cdx.json"), 0o644, bill::document(&packages, target)?.into_bytes()),
    ];
    files.sort();
    archive::tar_gz(&files)
}

/// The SHA-256 of bytes, in hexadecimal digits.
fn checksum(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string");
        text
    })
}

/// Copies the committed and the new files of the repository.
fn copied(root: &Path, to: &Path) -> Result<()> {
    let listed = Command::new("git")
        .current_dir(root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .context("running git")?;
    ensure!(listed.status.success(), "git ls-files: {}", listed.status);
    let names = String::from_utf8(listed.stdout)?;
    for name in names.split_terminator('\0') {
        let (from, to) = (root.join(name), to.join(name));
        if !from.is_file() {
            continue;
        }
        std::fs::create_dir_all(to.parent().context("a path")?)?;
        std::fs::copy(&from, &to).with_context(|| from.display().to_string())?;
    }
    Ok(())
}
