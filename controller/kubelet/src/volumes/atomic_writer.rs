//! Files of a volume that change all at once.
//!
//! Follows kubernetes v1.37.1 `pkg/volume/util/atomic_writer.go`:
//!
//! ```text
//! volume/..2026_02_01_15_04_05.12345678/user/labels    the files: never changed after ..data points at them
//! volume/..data  ->  ..2026_02_01_15_04_05.12345678    replaced by a rename: the one moment of change
//! volume/user    ->  ..data/user                       what people open
//! ```
//!
//! Differences: a write completes any earlier one that was killed. Upstream a leftover `..data_tmp` makes
//! all later writes fail, and leftover directories and links to removed files stay for ever. Here names that begin
//! with `..` are the writer's own, and after a write only those above are left. A visible link is removed
//! only if it points into `..data`; other files of that name are left alone. A file may become a directory, and
//! a directory a file, where upstream would fail from then on.
//!
//! If the process may not change owners (it is not root), files keep its user, with a warning; upstream the write fails.

use super::dir::{Dir, Entry};
use super::paths::{self, InvalidPath};
use super::payload::Payload;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use tracing::{debug, warn};

const DATA_DIR: &str = "..data";
const NEW_DATA_DIR: &str = "..data_tmp";

/// An error of writing the files of a volume.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A path may not be written to; nothing was.
    #[error(transparent)]
    Path(#[from] InvalidPath),
    /// The operating system refused.
    #[error("{action} {}: {source}", path.display())]
    Io {
        /// The action that was tried.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// A change that a writer is about to make to the file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Make the directory for the new files.
    MakeDirectory,
    /// Make the file of that path in it, and what directories it needs.
    WriteFile(String),
    /// Set the owners of all files.
    SetPermissions,
    /// Make `..data_tmp` point at the new directory.
    LinkNewData,
    /// Rename that to `..data`.
    Switch,
    /// Make the new files visible under that name.
    Show(String),
    /// Remove a name that is none of the writer's, or no longer.
    Remove(String),
}

/// An observer of a writer's steps, for tests; `()` ignores them.
pub trait Observer {
    /// Called before each step.
    fn before(&self, step: Step);
}

impl Observer for () {
    fn before(&self, _: Step) {}
}

/// A writer of the files of one volume. Writes to a volume must not overlap.
#[derive(Debug)]
pub struct AtomicWriter<O = ()> {
    target: Dir,
    observer: O,
}

impl AtomicWriter {
    /// A writer for the directory `target`.
    ///
    /// # Errors
    /// If the directory does not exist.
    pub fn new(target: impl Into<PathBuf>) -> Result<Self, WriteError> {
        AtomicWriter::observed(target, ())
    }

    /// A writer for an open directory.
    pub(super) fn of(target: Dir) -> Self {
        AtomicWriter { target, observer: () }
    }
}

impl<O: Observer> AtomicWriter<O> {
    /// A writer that calls `observer` before each step.
    ///
    /// # Errors
    /// If the directory does not exist.
    pub fn observed(target: impl Into<PathBuf>, observer: O) -> Result<Self, WriteError> {
        let path = target.into();
        let target = Dir::at(&path).map_err(failed("stat", &path))?;
        Ok(AtomicWriter { target, observer })
    }

    /// Makes the volume consist of `payload`. Files that have that content already are left as they are, whatever their
    /// modes and owners. `set_permissions` is called before new files become visible. `now` becomes part of a name.
    ///
    /// Returns whether files were written.
    ///
    /// # Errors
    /// If a path is invalid or the operating system refuses. The visible files are then either all old or all new.
    pub fn write(
        &self,
        payload: &Payload,
        now: Timestamp,
        set_permissions: impl FnOnce() -> io::Result<()>,
    ) -> Result<bool, WriteError> {
        self.write_with(payload, now, |_| set_permissions())
    }

    /// [`write`](Self::write) with a `set_permissions` that gets the volume.
    pub(super) fn write_with(
        &self,
        payload: &Payload,
        now: Timestamp,
        set_permissions: impl FnOnce(&Dir) -> io::Result<()>,
    ) -> Result<bool, WriteError> {
        let payload = paths::clean(payload)?;
        let old = self.current()?;
        let up_to_date = match &old {
            Some((_, directory)) => is_up_to_date(&payload, directory)?,
            None => false,
        };
        let current = match old {
            Some((name, _)) if up_to_date => name,
            _ => self.replace(&payload, now, set_permissions)?,
        };
        let volume = self.target.path().display();
        debug!(%volume, directory = current, written = !up_to_date, "volume is up to date");
        let visible: BTreeSet<&str> = payload.keys().map(|path| paths::top_level(path)).collect();
        for name in &visible {
            self.show(name, &payload)?;
        }
        self.remove_leftovers(&current, &visible)?;
        Ok(!up_to_date)
    }

    /// The directory that `..data` points at, and its name; `None` without a valid link.
    fn current(&self) -> Result<Option<(String, Dir)>, WriteError> {
        let name = match self.target.read_link(DATA_DIR) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            name => name.map_err(failed("readlink", &self.path(DATA_DIR)))?,
        };
        if !name.starts_with("..") {
            return Ok(None);
        }
        match self.target.open(&name) {
            Ok(directory) => Ok(Some((name, directory))),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(failed("open", &self.path(&name))(error)),
        }
    }

    /// Writes the files to a new directory and makes `..data` point at it. Returns its name.
    fn replace(
        &self,
        payload: &Payload,
        now: Timestamp,
        set_permissions: impl FnOnce(&Dir) -> io::Result<()>,
    ) -> Result<String, WriteError> {
        let (name, directory) = self.make_directory(now)?;
        let written = self.fill(&directory, payload).and_then(|()| {
            self.observer.before(Step::SetPermissions);
            set_permissions(&self.target).map_err(failed("set permissions of", self.target.path()))?;
            self.switch(&name)
        });
        if let Err(error) = written {
            if let Err(error) = self.target.remove(&name) {
                warn!(directory = %directory.path().display(), %error, "error removing new data directory");
            }
            return Err(error);
        }
        Ok(name)
    }

    fn make_directory(&self, now: Timestamp) -> Result<(String, Dir), WriteError> {
        self.observer.before(Step::MakeDirectory);
        loop {
            let name = format!("{}{}", now.strftime("..%Y_%m_%d_%H_%M_%S."), fastrand::u32(..));
            let path = self.path(&name);
            if self.target.make(&name, 0o700).map_err(failed("mkdir", &path))? {
                let directory = self.target.open(&name).map_err(failed("open", &path))?;
                // Groups and others need access, whatever the umask.
                directory.set_mode(0o755).map_err(failed("chmod", &path))?;
                return Ok((name, directory));
            }
        }
    }

    fn fill(&self, directory: &Dir, payload: &Payload) -> Result<(), WriteError> {
        for (path, file) in payload {
            self.observer.before(Step::WriteFile(path.clone()));
            let whole = directory.path().join(path);
            let mut names = path.split('/');
            let name = names.next_back().unwrap_or_default();
            let mut made = None;
            for parent in names {
                let next = made.as_ref().unwrap_or(directory).make_and_open(parent, 0o777);
                made = Some(next.map_err(failed("mkdir", &whole))?);
            }
            let parent = made.as_ref().unwrap_or(directory);
            parent.create_file(name, &file.data, file.mode).map_err(failed("write", &whole))?;
            give_to(parent, name, file.owner)?;
        }
        Ok(())
    }

    fn switch(&self, name: &str) -> Result<(), WriteError> {
        let new = self.path(NEW_DATA_DIR);
        self.observer.before(Step::LinkNewData);
        self.target.remove(NEW_DATA_DIR).map_err(failed("remove", &new))?;
        self.target.link(NEW_DATA_DIR, name).map_err(failed("symlink", &new))?;
        self.observer.before(Step::Switch);
        self.target.rename(NEW_DATA_DIR, DATA_DIR).map_err(failed("rename", &new))
    }

    fn show(&self, name: &str, payload: &Payload) -> Result<(), WriteError> {
        let path = self.path(name);
        match self.target.entry(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            // An existing file stays, even if it is not a link.
            found => return found.map(|_| ()).map_err(failed("readlink", &path)),
        }
        self.observer.before(Step::Show(name.to_owned()));
        self.target.link(name, &link_to(name)).map_err(failed("symlink", &path))?;
        let first = payload.iter().find(|(path, _)| paths::top_level(path) == name);
        give_to(&self.target, name, first.and_then(|(_, file)| file.owner))
    }

    /// Removes visible links to files that are gone, then all names that begin with `..` except the current data.
    fn remove_leftovers(&self, current: &str, visible: &BTreeSet<&str>) -> Result<(), WriteError> {
        let names = self.target.names().map_err(failed("open", self.target.path()))?;
        let gone = names.iter().filter(|name| !visible.contains(&***name) && *name != current && *name != DATA_DIR);
        let (own, others): (BTreeSet<_>, BTreeSet<_>) = gone.partition(|name| name.starts_with(".."));
        let is_ours = |name: &&&String| self.target.read_link(name).is_ok_and(|to| to == link_to(name));
        for name in others.iter().filter(is_ours).chain(&own) {
            self.observer.before(Step::Remove(name.to_string()));
            self.target.remove(name).map_err(failed("remove", &self.path(name)))?;
        }
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.target.path().join(name)
    }
}

fn is_up_to_date(payload: &Payload, directory: &Dir) -> Result<bool, WriteError> {
    let old = paths_in(directory, "").map_err(failed("read", directory.path()))?;
    if paths::to_remove(&old, payload).next().is_some() {
        return Ok(false);
    }
    for (path, file) in payload {
        match holds(directory, path, &file.data) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(error) if is_absent(&error) => return Ok(false),
            Err(error) => return Err(failed("read", &directory.path().join(path))(error)),
        }
    }
    Ok(true)
}

/// Whether the file at `path` has that content.
fn holds(directory: &Dir, path: &str, data: &[u8]) -> io::Result<bool> {
    match path.split_once('/') {
        Some((first, rest)) => holds(&directory.open(first)?, rest, data),
        None => directory.file_is(path, data),
    }
}

/// All paths below `directory`, directories among them, each after `prefix`.
fn paths_in(directory: &Dir, prefix: &str) -> io::Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for name in directory.names()? {
        let path = format!("{prefix}{name}");
        if matches!(directory.entry(&name)?, Entry::Directory { .. }) {
            found.extend(paths_in(&directory.open(&name)?, &format!("{path}/"))?);
        }
        found.insert(path);
    }
    Ok(found)
}

/// Whether an error means that the file does not exist: nothing is there, or a link, or a file in place of a directory.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidInput)
}

/// The target of the visible link of that name.
fn link_to(name: &str) -> String {
    format!("{DATA_DIR}/{name}")
}

/// Changes the owner of a file, unless only root may.
fn give_to(directory: &Dir, name: &str, owner: Option<u32>) -> Result<(), WriteError> {
    let path = directory.path().join(name);
    match owner.map(|owner| directory.set_owner_of(name, Some(owner), None)) {
        Some(Err(error)) if error.kind() == ErrorKind::PermissionDenied => {
            warn!(path = %path.display(), owner, %error, "file keeps its owner: only root may change it");
            Ok(())
        }
        Some(Err(error)) => Err(failed("lchown", &path)(error)),
        _ => Ok(()),
    }
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> WriteError {
    move |source| WriteError::Io { action, path: path.to_owned(), source }
}
