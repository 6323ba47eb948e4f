//! The lines of a recording on their way to its file.

use super::pace::Stamp;
use control::recording::{Header, Line, What};
use serde::Serialize;
use serde_json::value::RawValue;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The lines of a recording on their way to its file. After an error nothing more is written.
pub(super) struct Lines {
    path: PathBuf,
    file: Option<BufWriter<File>>,
}

impl Lines {
    /// A new file that only its owner can read, with its first line.
    ///
    /// # Errors
    /// The errors of the file system.
    pub(super) fn create(path: &Path, header: &Header) -> io::Result<Lines> {
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = BufWriter::new(options.open(path)?);
        put(&mut file, header)?;
        file.flush()?;
        Ok(Lines { path: path.to_owned(), file: Some(file) })
    }

    pub(super) fn write(&mut self, stamp: Stamp, what: What, object: Option<Box<RawValue>>) {
        let Stamp { at, time, revision, cluster } = stamp;
        let cluster = cluster.map(|name| name.to_string());
        self.attempt(|file| put(file, &Line { at, time, revision, cluster, what, object }));
    }

    /// Lets the file have what was written.
    pub(super) fn flush(&mut self) {
        self.attempt(Write::flush);
    }

    fn attempt(&mut self, act: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) {
        let Some(file) = &mut self.file else { return };
        if let Err(error) = act(file) {
            tracing::error!(%error, "the recording {} ends here: it cannot be written", self.path.display());
            self.file = None;
        }
    }
}

fn put(file: &mut BufWriter<File>, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *file, line)?;
    file.write_all(b"\n")
}
