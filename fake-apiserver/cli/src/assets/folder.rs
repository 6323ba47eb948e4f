//! The folder of the programs.

use crate::kubectl;
use anyhow::Context as _;
use controller::program;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// Makes the folder, or completes it.
///
/// # Errors
/// If it cannot be written to.
pub(super) fn make(program: &Path, folder: &Path) -> anyhow::Result<()> {
    let is_new_folder = !folder.exists();
    fs::create_dir_all(folder).with_context(|| format!("unable to make {}", folder.display()))?;
    let kubectl = kubectl::find();
    if kubectl.is_none() {
        program::say("There is no kubectl on PATH: the one in the folder only knows `get namespace NAME`.");
    }
    let kubectl = kubectl.as_deref().unwrap_or(program);
    let mut made = Vec::new();
    for (name, program) in [("etcd", program), ("kube-apiserver", program), ("kubectl", kubectl)] {
        let file = folder.join(format!("{name}{}", env::consts::EXE_SUFFIX));
        let is_new = fs::symlink_metadata(&file).is_err();
        let placed = place(program, &file);
        placed
            .inspect_err(|_| undo(is_new_folder.then_some(folder), &made))
            .with_context(|| format!("unable to make {}", file.display()))?;
        made.extend(is_new.then_some(file));
    }
    Ok(())
}

/// Removes the files that were made, and the folder if it was. What cannot be removed stays.
fn undo(folder: Option<&Path>, made: &[PathBuf]) {
    made.iter().for_each(|file| drop(fs::remove_file(file)));
    folder.map(fs::remove_dir);
}

/// The first of the variables that names an absolute path.
fn named(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The user's cache directory (`os.UserCacheDir` of Go).
pub(super) fn cache() -> Option<PathBuf> {
    match env::consts::OS {
        "windows" => named("LocalAppData"),
        "macos" => named("HOME").map(|home| home.join("Library/Caches")),
        _ => named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache"))),
    }
}

/// The user's folder for data, as setup-envtest finds it (`DefaultStore` of its package `store`).
pub(super) fn data() -> Option<PathBuf> {
    match env::consts::OS {
        "windows" => named("LocalAppData"),
        "macos" => named("HOME").map(|home| home.join("Library/Application Support")),
        _ => named("XDG_DATA_HOME").or_else(|| named("HOME").map(|home| home.join(".local/share"))),
    }
}

/// The folder of a program in the cache directory.
pub(super) fn of_program(program: &Path) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    (program, env!("CARGO_PKG_VERSION")).hash(&mut hasher);
    ["fake-apiserver", "assets", &format!("{:016x}", hasher.finish())].iter().collect()
}

/// Puts a program under another name, unless it is there. Others may do the same at the same time: it never is there half.
#[cfg(unix)]
fn place(program: &Path, file: &Path) -> io::Result<()> {
    if fs::read_link(file).is_ok_and(|target| target == program) {
        return Ok(());
    }
    let temporary = temporary(file);
    std::os::unix::fs::symlink(program, &temporary)?;
    fs::rename(&temporary, file).inspect_err(|_| drop(fs::remove_file(&temporary)))
}

#[cfg(not(unix))]
fn place(program: &Path, file: &Path) -> io::Result<()> {
    let (new, old) = (fs::metadata(program)?, fs::metadata(file));
    if old.is_ok_and(|old| old.len() == new.len() && old.modified().ok() >= new.modified().ok()) {
        return Ok(());
    }
    let temporary = temporary(file);
    fs::copy(program, &temporary)?;
    fs::rename(&temporary, file).inspect_err(|_| drop(fs::remove_file(&temporary)))
}

/// A path beside `file` that no other process uses.
fn temporary(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.unfinished", process::id()));
    file.with_file_name(name)
}
