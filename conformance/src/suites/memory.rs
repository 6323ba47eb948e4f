//! The memory of the programs that a suite starts, watched from outside.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The number of watches so far.
static RUNS: AtomicU64 = AtomicU64::new(0);
/// The time between two looks.
const PACE: Duration = Duration::from_millis(100);

/// The variable of the environment by which the processes that a command starts are known.
const MARK: &str = "SUITE_OF";

/// A watch over the programs of a folder that a command starts.
pub(super) struct Watch {
    peak: Arc<AtomicU64>,
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Watch {
    /// Watches the processes that the command will start, or that those start, and whose programs are those in `folder`.
    pub(super) fn begin(command: &mut Command, folder: &Path) -> Watch {
        let value = format!("{}-{}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed));
        command.env(MARK, &value);
        let mark = format!("{MARK}={value}\0").into_bytes();
        let programs: HashSet<PathBuf> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| std::fs::canonicalize(entry.ok()?.path()).ok())
            .collect();
        let peak = Arc::new(AtomicU64::new(0));
        let (stop, stopped) = channel();
        let seen = peak.clone();
        let thread = std::thread::spawn(move || {
            // It ends when the sender is dropped.
            while stopped.recv_timeout(PACE) == Err(RecvTimeoutError::Timeout) {
                seen.fetch_max(resident(&mark, &programs), Ordering::Relaxed);
            }
        });
        Watch { peak, stop, thread }
    }

    /// The most bytes that they had in memory together.
    pub(super) fn end(self) -> u64 {
        drop(self.stop);
        self.thread.join().expect("it does not panic");
        self.peak.load(Ordering::Relaxed)
    }
}

/// The bytes in memory of the marked processes that run one of the programs. Only Linux tells.
fn resident(mark: &[u8], programs: &HashSet<PathBuf>) -> u64 {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let of = |process: PathBuf| {
        let program = std::fs::read_link(process.join("exe")).ok().filter(|program| programs.contains(program));
        program?;
        let environment = std::fs::read(process.join("environ")).ok()?;
        let is_marked = environment.windows(mark.len()).any(|window| window == mark);
        let pages: u64 = std::fs::read_to_string(process.join("statm")).ok()?.split(' ').nth(1)?.parse().ok()?;
        Some(if is_marked { pages * 4096 } else { 0 })
    };
    processes.filter_map(of).sum()
}
