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
//! What differs: whatever a writer left when it was killed, the next one completes. Upstream a left `..data_tmp` lets
//! all later writes fail, left directories stay for ever, and so do links to files that are gone. Here names that begin
//! with `..` are the writer's own, and after a write none of them is left but those above. A visible link is removed
//! only if it points into `..data`; anything else of that name is somebody else's. And a file may become a directory, or
//! a directory a file, where upstream would fail from then on.
//!
//! A user that may not change owners (all but root) keeps the files, with a warning; upstream the write fails.

use super::paths::{self, InvalidPath};
use super::payload::Payload;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, lchown, symlink};
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

/// Is told before every step. To nobody, in production.
pub trait Observer {
    /// That step comes next.
    fn before(&self, step: Step);
}

impl Observer for () {
    fn before(&self, _: Step) {}
}

/// Writes the files of one volume. Only one at a time may.
#[derive(Debug)]
pub struct AtomicWriter<O = ()> {
    target: PathBuf,
    observer: O,
}

impl AtomicWriter {
    /// A writer for the directory `target`.
    ///
    /// # Errors
    /// If there is no such directory.
    pub fn new(target: impl Into<PathBuf>) -> Result<Self, WriteError> {
        AtomicWriter::observed(target, ())
    }
}

impl<O: Observer> AtomicWriter<O> {
    /// A writer that tells `observer` what it does.
    ///
    /// # Errors
    /// If there is no such directory.
    pub fn observed(target: impl Into<PathBuf>, observer: O) -> Result<Self, WriteError> {
        let target = target.into();
        fs::metadata(&target).map_err(failed("stat", &target))?;
        Ok(AtomicWriter { target, observer })
    }

    /// Makes the volume consist of `payload`. If its files have that content already, they are left as they are,
    /// whatever their modes and owners. `set_permissions` is called before new files are seen. `now` becomes part of a
    /// name.
    ///
    /// Returns whether files were written.
    ///
    /// # Errors
    /// If a path is invalid or the operating system refuses. What people see has not changed then, or has changed
    /// whole.
    pub fn write(
        &self,
        payload: &Payload,
        now: Timestamp,
        set_permissions: impl FnOnce() -> io::Result<()>,
    ) -> Result<bool, WriteError> {
        let payload = paths::clean(payload)?;
        let old = self.read_link(DATA_DIR)?;
        let up_to_date = match &old {
            Some(name) => self.is_up_to_date(&payload, &self.target.join(name))?,
            None => false,
        };
        let current = match old {
            Some(name) if up_to_date => name,
            _ => self.replace(&payload, now, set_permissions)?,
        };
        debug!(volume = %self.target.display(), directory = current, written = !up_to_date, "volume is up to date");
        let visible: BTreeSet<&str> = payload.keys().map(|path| paths::top_level(path)).collect();
        for name in &visible {
            self.show(name, &payload)?;
        }
        self.remove_leftovers(&current, &visible)?;
        Ok(!up_to_date)
    }

    fn is_up_to_date(&self, payload: &Payload, directory: &Path) -> Result<bool, WriteError> {
        let Some(old) = self.files_in(directory)? else { return Ok(false) };
        if paths::to_remove(&old, payload).next().is_some() {
            return Ok(false);
        }
        for (path, file) in payload {
            let path = directory.join(path);
            match fs::read(&path) {
                Ok(content) if content == file.data => {}
                Ok(_) => return Ok(false),
                Err(error) => match error.kind() {
                    // Not there, or where a directory became a file or a file a directory.
                    ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::IsADirectory => return Ok(false),
                    _ => return Err(failed("read", &path)(error)),
                },
            }
        }
        Ok(true)
    }

    /// All paths below `directory`, directories among them; `None` if it does not exist.
    fn files_in(&self, directory: &Path) -> Result<Option<BTreeSet<String>>, WriteError> {
        let mut found = BTreeSet::new();
        let mut left = vec![String::new()];
        while let Some(within) = left.pop() {
            let path = directory.join(&within);
            let entries = match fs::read_dir(&path) {
                Err(error) if within.is_empty() && error.kind() == ErrorKind::NotFound => return Ok(None),
                entries => entries.map_err(failed("open", &path))?,
            };
            for entry in entries {
                let entry = entry.map_err(failed("read", &path))?;
                let name = entry.file_name().to_string_lossy().into_owned();
                let within = if within.is_empty() { name } else { format!("{within}/{name}") };
                if entry.file_type().map_err(failed("stat", &entry.path()))?.is_dir() {
                    left.push(within.clone());
                }
                found.insert(within);
            }
        }
        Ok(Some(found))
    }

    /// Writes the files to a new directory and makes `..data` point at it. Returns its name.
    fn replace(
        &self,
        payload: &Payload,
        now: Timestamp,
        set_permissions: impl FnOnce() -> io::Result<()>,
    ) -> Result<String, WriteError> {
        let name = self.make_directory(now)?;
        let directory = self.target.join(&name);
        let written = self.fill(&directory, payload).and_then(|()| {
            self.observer.before(Step::SetPermissions);
            set_permissions().map_err(failed("set permissions of", &self.target))?;
            self.switch(&name)
        });
        if let Err(error) = written {
            if let Err(error) = fs::remove_dir_all(&directory) {
                warn!(directory = %directory.display(), %error, "error removing new data directory");
            }
            return Err(error);
        }
        Ok(name)
    }

    fn make_directory(&self, now: Timestamp) -> Result<String, WriteError> {
        self.observer.before(Step::MakeDirectory);
        loop {
            let name = format!("{}{}", now.strftime("..%Y_%m_%d_%H_%M_%S."), fastrand::u32(..));
            let path = self.target.join(&name);
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {
                    // Whatever the umask, groups and others are to find their way through.
                    fs::set_permissions(&path, Permissions::from_mode(0o755)).map_err(failed("chmod", &path))?;
                    return Ok(name);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed("mkdir", &path)(error)),
            }
        }
    }

    fn fill(&self, directory: &Path, payload: &Payload) -> Result<(), WriteError> {
        for (path, file) in payload {
            self.observer.before(Step::WriteFile(path.clone()));
            let path = directory.join(path);
            let parent = path.parent().unwrap_or(directory);
            fs::create_dir_all(parent).map_err(failed("mkdir", parent))?;
            let create = File::options().write(true).create_new(true).mode(file.mode).open(&path);
            create.and_then(|mut created| created.write_all(&file.data)).map_err(failed("write", &path))?;
            // Whatever the umask.
            fs::set_permissions(&path, Permissions::from_mode(file.mode)).map_err(failed("chmod", &path))?;
            give_to(&path, file.owner)?;
        }
        Ok(())
    }

    fn switch(&self, name: &str) -> Result<(), WriteError> {
        let [new, data] = [NEW_DATA_DIR, DATA_DIR].map(|name| self.target.join(name));
        self.observer.before(Step::LinkNewData);
        match fs::remove_file(&new) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed("remove", &new)(error)),
            _ => symlink(name, &new).map_err(failed("symlink", &new))?,
        }
        self.observer.before(Step::Switch);
        fs::rename(&new, &data).map_err(failed("rename", &new))
    }

    fn show(&self, name: &str, payload: &Payload) -> Result<(), WriteError> {
        let path = self.target.join(name);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            // What is there already stays, even if it is no link.
            found => return found.map(|_| ()).map_err(failed("readlink", &path)),
        }
        self.observer.before(Step::Show(name.to_owned()));
        symlink(Path::new(DATA_DIR).join(name), &path).map_err(failed("symlink", &path))?;
        let first = payload.iter().find(|(path, _)| paths::top_level(path) == name);
        give_to(&path, first.and_then(|(_, file)| file.owner))
    }

    /// Removes visible links to what is no longer there, then whatever begins with `..` but the current data.
    fn remove_leftovers(&self, current: &str, visible: &BTreeSet<&str>) -> Result<(), WriteError> {
        let (mut links, mut own) = (BTreeSet::new(), BTreeSet::new());
        for entry in fs::read_dir(&self.target).map_err(failed("open", &self.target))? {
            let entry = entry.map_err(failed("read", &self.target))?;
            match entry.file_name().to_str() {
                None | Some(DATA_DIR) => {}
                Some(name) if name == current || visible.contains(name) => {}
                Some(name) if name.starts_with("..") => {
                    own.insert(name.to_owned());
                }
                Some(name) => {
                    if fs::read_link(entry.path()).is_ok_and(|link| link == Path::new(DATA_DIR).join(name)) {
                        links.insert(name.to_owned());
                    }
                }
            }
        }
        for name in links.into_iter().chain(own) {
            let path = self.target.join(&name);
            self.observer.before(Step::Remove(name));
            let is_directory = fs::symlink_metadata(&path).map_err(failed("stat", &path))?.is_dir();
            let removed = if is_directory { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(failed("remove", &path))?;
        }
        Ok(())
    }

    /// Where a link of the volume points, if it is there.
    fn read_link(&self, name: &str) -> Result<Option<String>, WriteError> {
        let path = self.target.join(name);
        match fs::read_link(&path) {
            Ok(to) => Ok(Some(to.to_string_lossy().into_owned())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("readlink", &path)(error)),
        }
    }
}

/// Changes the owner of `path`, unless only root may.
fn give_to(path: &Path, owner: Option<u32>) -> Result<(), WriteError> {
    match owner.map(|owner| lchown(path, Some(owner), None)) {
        Some(Err(error)) if error.kind() == ErrorKind::PermissionDenied => {
            warn!(path = %path.display(), owner, %error, "file keeps its owner: only root may change it");
            Ok(())
        }
        Some(Err(error)) => Err(failed("lchown", path)(error)),
        _ => Ok(()),
    }
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> WriteError {
    move |source| WriteError::Io { action, path: path.to_owned(), source }
}
