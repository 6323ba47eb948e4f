//! A log file that is set aside when it gets too large. Old ones are compressed, and removed, if that is wanted.
//!
//! ```text
//!   audit.log ── full ──▶ audit-2030-01-02T03-04-05.678.log ──▶ ….log.gz ── too many, too old ──▶ removed
//! ```
//! Ports `lumberjack.go` of `gopkg.in/natefinch/lumberjack.v2` (v2.2.1).

use crate::clock::{Clock, plus};
use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// The form of the times in the names of old files (`backupTimeFormat`), in UTC.
const TIME: &str = "%Y-%m-%dT%H-%M-%S.%3f";
/// The end of the names of compressed files.
const COMPRESSED: &str = ".gz";
const MEGABYTE: u64 = 1024 * 1024;
const HOURS_A_DAY: i64 = 24;

/// The limits of a log, and what is done with its old files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// The most megabytes of a file; with 0 there is one file, however large.
    pub(super) megabytes: u64,
    /// The most old files; with 0 any number.
    pub(super) backups: usize,
    /// The days after which old files are removed; with 0 they are not.
    pub(super) days: u32,
    /// Whether old files are compressed.
    pub(super) compress: bool,
}

/// A log file.
pub(super) struct RotatingFile {
    old: OldFiles,
    clock: Arc<dyn Clock>,
    file: File,
    bytes: u64,
    /// The thread that deals with old files.
    tidying: Option<JoinHandle<()>>,
}

/// The old files of a log.
#[derive(Clone)]
struct OldFiles {
    /// The path of the log.
    path: PathBuf,
    limits: Limits,
}

impl RotatingFile {
    /// Opens the file for appending; a new one is only for its owner, as it has the bodies of requests (`ensureLogFile`).
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn open(path: &Path, limits: Limits, clock: Arc<dyn Clock>) -> io::Result<Self> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            private_folder(folder)?;
        }
        let file = append(path)?;
        let bytes = file.metadata()?.len();
        let old = OldFiles { path: path.to_owned(), limits };
        let mut opened = RotatingFile { old, clock, file, bytes, tidying: None };
        opened.tidy_up();
        Ok(opened)
    }

    /// Writes a line, into a new file if there is no room in this one.
    ///
    /// # Errors
    /// Those of the file system; or the line is longer than a file may be.
    pub(super) fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let (length, most) = (line.len() as u64, self.old.limits.megabytes.saturating_mul(MEGABYTE));
        if most > 0 && length > most {
            return Err(io::Error::other(format!("write length {length} exceeds maximum file size {most}")));
        }
        if most > 0 && self.bytes + length > most {
            self.rotate()?;
        }
        self.file.write_all(line)?;
        self.bytes += length;
        Ok(())
    }

    /// Sets the file aside and begins a new one, with the same permissions.
    fn rotate(&mut self) -> io::Result<()> {
        let permissions = self.file.metadata()?.permissions();
        // It may have been removed by others.
        if self.old.path.exists() {
            fs::rename(&self.old.path, self.old.path_at(self.clock.now()))?;
        }
        self.file = append(&self.old.path)?;
        self.file.set_permissions(permissions)?;
        self.bytes = 0;
        self.tidy_up();
        Ok(())
    }

    /// Deals with old files in a thread of its own, after the one before.
    fn tidy_up(&mut self) {
        self.settle();
        let Limits { backups, days, compress, .. } = self.old.limits;
        if backups > 0 || days > 0 || compress {
            let (old, now) = (self.old.clone(), self.clock.now());
            self.tidying = Some(thread::spawn(move || old.tidy_up(now)));
        }
    }

    /// Waits until old files are dealt with.
    fn settle(&mut self) {
        if self.tidying.take().is_some_and(|tidying| tidying.join().is_err()) {
            tracing::error!("the thread that tidies up old audit logs has failed");
        }
    }
}

impl Drop for RotatingFile {
    fn drop(&mut self) {
        self.settle();
    }
}

impl OldFiles {
    /// The folder, and the name before and behind the time.
    fn parts(&self) -> (&Path, String, String) {
        let text = |part: Option<&OsStr>| part.map(|part| part.to_string_lossy().into_owned()).unwrap_or_default();
        let extension = self.path.extension().map(|own| format!(".{}", text(Some(own)))).unwrap_or_default();
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        (folder.unwrap_or(Path::new(".")), text(self.path.file_stem()) + "-", extension)
    }

    /// The path of a file that is set aside at that time.
    fn path_at(&self, time: Timestamp) -> PathBuf {
        let (folder, prefix, extension) = self.parts();
        folder.join(format!("{prefix}{}{extension}", time.strftime(TIME)))
    }

    /// Compresses and removes files. What fails is told in the log (`millRunOnce`).
    fn tidy_up(&self, now: Timestamp) {
        let Limits { backups, days, compress, .. } = self.limits;
        let all = match self.all() {
            Ok(all) => all,
            Err(error) => return tracing::error!(%error, "unable to read the folder of the audit log"),
        };
        let oldest = plus(now, SignedDuration::from_hours(-HOURS_A_DAY * i64::from(days)));
        let mut counted = BTreeSet::new();
        for (time, path) in all {
            // A file may be there both compressed and not.
            counted.insert(time);
            let done = if backups > 0 && counted.len() > backups || days > 0 && time < oldest {
                fs::remove_file(&path)
            } else if compress && !is_compressed(&path) {
                compressed(&path)
            } else {
                Ok(())
            };
            if let Err(error) = done {
                tracing::error!(%error, path = %path.display(), "unable to tidy up an old audit log");
            }
        }
    }

    /// The files, newest first.
    fn all(&self) -> io::Result<Vec<(Timestamp, PathBuf)>> {
        let (folder, prefix, extension) = self.parts();
        let time = |name: &str| {
            let rest = name.strip_prefix(&*prefix)?;
            let rest = rest.strip_suffix(COMPRESSED).unwrap_or(rest);
            let time = DateTime::strptime(TIME, rest.strip_suffix(&*extension)?).ok()?;
            time.to_zoned(TimeZone::UTC).ok().map(|time| time.timestamp())
        };
        let mut all = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let time = entry.file_name().to_str().and_then(time);
            all.extend(time.filter(|_| entry.path().is_file()).map(|time| (time, entry.path())));
        }
        all.sort_by(|one, other| other.cmp(one));
        Ok(all)
    }
}

/// Opens a file for appending; a new one is only for its owner.
fn append(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Creates a folder, and those above it, only for their owner.
fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn is_compressed(path: &Path) -> bool {
    path.as_os_str().to_string_lossy().ends_with(COMPRESSED)
}

/// Puts a compressed file in the place of one (`compressLogFile`).
fn compressed(path: &Path) -> io::Result<()> {
    let mut target = path.as_os_str().to_owned();
    target.push(COMPRESSED);
    let mut from = File::open(path)?;
    let to = File::create(&target)?;
    to.set_permissions(from.metadata()?.permissions())?;
    let mut to = GzEncoder::new(to, Compression::default());
    io::copy(&mut from, &mut to)?;
    to.finish()?;
    fs::remove_file(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;
    use std::io::Read;

    const HALF: usize = 600 * 1024;

    /// The names of the files in a folder, sorted.
    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn clock() -> ManualClock {
        ManualClock::new("2030-01-02T03:04:05.678Z".parse().unwrap())
    }

    #[test]
    fn a_full_file_is_set_aside_and_old_ones_go() {
        let folder = tempfile::tempdir().unwrap();
        let clock = clock();
        let limits = Limits { megabytes: 1, backups: 2, days: 1, compress: false };
        let path = folder.path().join("logs/audit.log");
        let mut log = RotatingFile::open(&path, limits, Arc::new(clock.clone())).unwrap();
        let folder = path.parent().unwrap();
        fs::write(folder.join("audit-other.log"), "").unwrap();
        for letter in ["a", "b", "c", "d"] {
            log.write(letter.repeat(HALF).as_bytes()).unwrap();
            clock.advance(SignedDuration::from_secs(1));
        }
        log.settle();
        assert_eq!(
            names(folder),
            ["audit-2030-01-02T03-04-07.678.log", "audit-2030-01-02T03-04-08.678.log", "audit-other.log", "audit.log"]
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "d".repeat(HALF));
        assert_eq!(fs::read_to_string(folder.join("audit-2030-01-02T03-04-08.678.log")).unwrap(), "c".repeat(HALF));
        clock.advance(SignedDuration::from_hours(25));
        log.write("e".repeat(HALF).as_bytes()).unwrap();
        log.settle();
        assert_eq!(names(folder), ["audit-2030-01-03T04-04-09.678.log", "audit-other.log", "audit.log"]);
        let error = log.write(&vec![0; 2 * HALF]).unwrap_err();
        assert_eq!(error.to_string(), "write length 1228800 exceeds maximum file size 1048576");
    }

    #[test]
    fn a_file_is_appended_to_and_kept_if_it_may_have_any_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        let limits = Limits { megabytes: 0, backups: 1, days: 1, compress: true };
        for letter in ["a", "b", "c"] {
            let mut log = RotatingFile::open(&path, limits, Arc::new(clock())).unwrap();
            log.write(letter.repeat(HALF).as_bytes()).unwrap();
        }
        assert_eq!(names(folder.path()), ["audit"]);
        assert_eq!(path.metadata().unwrap().len(), 3 * HALF as u64);
    }

    #[test]
    fn old_files_are_compressed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        let limits = Limits { megabytes: 1, backups: 0, days: 0, compress: true };
        let mut log = RotatingFile::open(&path, limits, Arc::new(clock())).unwrap();
        for letter in ["a", "b"] {
            log.write(letter.repeat(HALF).as_bytes()).unwrap();
        }
        drop(log);
        assert_eq!(names(folder.path()), ["audit", "audit-2030-01-02T03-04-05.678.gz"]);
        let mut text = String::new();
        let old = File::open(folder.path().join("audit-2030-01-02T03-04-05.678.gz")).unwrap();
        flate2::read::GzDecoder::new(old).read_to_string(&mut text).unwrap();
        assert_eq!(text, "a".repeat(HALF));
    }
}
