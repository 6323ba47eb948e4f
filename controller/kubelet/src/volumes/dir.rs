//! Open directories, and operations on the names in them.
//!
//! Every name is one segment of a path, and no link is followed: only files of the open directory are opened, made, changed
//! or removed, even while other processes rename or link files around it. (A directory that is moved while it is open
//! stays the same directory.) Only the root is opened by a path, that of the program's flags, which may contain links.

use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, OFlags, RawMode, Uid};
use rustix::io::Errno;
use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The longest name of a file (`NAME_MAX`), in bytes.
const MAX_NAME: usize = 255;
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// The flags to open a file of unknown type; `NONBLOCK` is for FIFOs.
const FILE: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

/// Whether `name` is one segment of a path that names neither the directory itself nor the one above.
pub(super) fn is_segment(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && name.len() <= MAX_NAME && !name.contains(['/', '\0'])
}

/// The type of a directory's entry; links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    Directory { mode: u32 },
    File { mode: u32 },
    Link,
    Other,
}

/// An open directory.
#[derive(Debug)]
pub(super) struct Dir {
    fd: OwnedFd,
    /// The path that led to it, for messages only.
    path: PathBuf,
}

impl Dir {
    /// The directory at `path`, which may lead through links.
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        let fd = rustix::fs::openat(CWD, path, DIRECTORY, Mode::empty())?;
        Ok(Dir { fd, path: path.to_owned() })
    }

    /// The directory at `path`, made with `mode` if it does not exist, as are its parents.
    pub(super) fn make_at(path: &Path, mode: u32) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(mode).create(path)?;
        Dir::at(path)
    }

    /// The path that led to the directory, for messages only.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a directory; a link is not a directory, whatever its target.
    pub(super) fn open(&self, name: &str) -> io::Result<Self> {
        let opened = rustix::fs::openat(&self.fd, segment(name)?, DIRECTORY | OFlags::NOFOLLOW, Mode::empty());
        let fd = opened.map_err(|error| if error == Errno::LOOP { Errno::NOTDIR } else { error })?;
        Ok(Dir { fd, path: self.path.join(name) })
    }

    /// Makes a directory unless it exists; returns whether it was made.
    pub(super) fn make(&self, name: &str, mode: u32) -> io::Result<bool> {
        match rustix::fs::mkdirat(&self.fd, segment(name)?, Mode::from_raw_mode(mode as _)) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes the directory if it does not exist, with `mode` less the umask, and opens it.
    pub(super) fn make_and_open(&self, name: &str, mode: u32) -> io::Result<Self> {
        self.make(name, mode)?;
        self.open(name)
    }

    /// The names in the directory. Those that are not UTF-8, which are never made here, come out changed.
    pub(super) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.fd)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if !matches!(&*name, "." | "..") {
                names.push(name);
            }
        }
        Ok(names)
    }

    pub(super) fn entry(&self, name: &str) -> io::Result<Entry> {
        let stat = rustix::fs::statat(&self.fd, segment(name)?, AtFlags::SYMLINK_NOFOLLOW)?;
        let mode = permissions(stat.st_mode);
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => Entry::Directory { mode },
            FileType::RegularFile => Entry::File { mode },
            FileType::Symlink => Entry::Link,
            _ => Entry::Other,
        })
    }

    /// Makes a file with exactly that mode, whatever the umask.
    pub(super) fn create_file(&self, name: &str, data: &[u8], mode: u32) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let mode = Mode::from_raw_mode(mode as _);
        let fd = rustix::fs::openat(&self.fd, segment(name)?, flags, mode)?;
        let mut file = File::from(fd);
        file.write_all(data)?;
        Ok(rustix::fs::fchmod(&file, mode)?)
    }

    /// Whether the name is a file with exactly that content.
    pub(super) fn file_is(&self, name: &str, data: &[u8]) -> io::Result<bool> {
        let fd = match rustix::fs::openat(&self.fd, segment(name)?, FILE, Mode::empty()) {
            // A link; a FIFO without a reader, or a device.
            Err(Errno::LOOP | Errno::NXIO) => return Ok(false),
            opened => opened?,
        };
        if FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode) != FileType::RegularFile {
            return Ok(false);
        }
        let mut found = Vec::new();
        File::from(fd).take(data.len() as u64 + 1).read_to_end(&mut found)?;
        Ok(found == data)
    }

    pub(super) fn link(&self, name: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(to, &self.fd, segment(name)?)?)
    }

    /// The target of a link, which may be any text.
    pub(super) fn read_link(&self, name: &str) -> io::Result<String> {
        Ok(rustix::fs::readlinkat(&self.fd, segment(name)?, Vec::new())?.to_string_lossy().into_owned())
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.fd, segment(from)?, &self.fd, segment(to)?)?)
    }

    /// The permissions of the directory itself.
    pub(super) fn mode(&self) -> io::Result<u32> {
        Ok(permissions(rustix::fs::fstat(&self.fd)?.st_mode))
    }

    /// Sets the permissions of the directory itself.
    pub(super) fn set_mode(&self, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::fchmod(&self.fd, Mode::from_raw_mode(mode as _))?)
    }

    /// Sets the group of the directory itself.
    pub(super) fn set_group(&self, group: u32) -> io::Result<()> {
        Ok(rustix::fs::fchown(&self.fd, None, Some(Gid::from_raw(group)))?)
    }

    /// Sets the permissions of a file, which must be readable.
    pub(super) fn set_mode_of(&self, name: &str, mode: u32) -> io::Result<()> {
        let fd = rustix::fs::openat(&self.fd, segment(name)?, FILE, Mode::empty())?;
        Ok(rustix::fs::fchmod(fd, Mode::from_raw_mode(mode as _))?)
    }

    /// Sets the owner and the group of the entry of that name; of a link, its own.
    pub(super) fn set_owner_of(&self, name: &str, user: Option<u32>, group: Option<u32>) -> io::Result<()> {
        let (user, group) = (user.map(Uid::from_raw), group.map(Gid::from_raw));
        Ok(rustix::fs::chownat(&self.fd, segment(name)?, user, group, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Removes the entry of that name, with all below it. A name without an entry is a success.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        match self.remove_existing(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    fn remove_existing(&self, name: &str) -> io::Result<()> {
        if !matches!(self.entry(name)?, Entry::Directory { .. }) {
            return Ok(rustix::fs::unlinkat(&self.fd, name, AtFlags::empty())?);
        }
        let directory = self.open(name)?;
        for name in directory.names()? {
            directory.remove(&name)?;
        }
        Ok(rustix::fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR)?)
    }
}

fn permissions(mode: RawMode) -> u32 {
    let bits: u32 = Mode::from_raw_mode(mode).bits() as _;
    bits & 0o7777
}

fn segment(name: &str) -> io::Result<&str> {
    let refused = || io::Error::new(ErrorKind::InvalidInput, "not one segment of a path");
    is_segment(name).then_some(name).ok_or_else(refused)
}
