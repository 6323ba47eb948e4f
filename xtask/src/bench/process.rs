//! Servers as child processes, with their memory and processor time.

use anyhow::{Context, bail};
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

/// Unit of times in `/proc/PID/stat`; on Linux it is the same whatever the kernel's own ticks are.
const TICKS_PER_SECOND: u64 = 100;

/// A server that stops when this is dropped.
pub(super) struct Process {
    child: Child,
    /// The standard input; the server stops when it is closed.
    stdin: Option<ChildStdin>,
    url: String,
}

impl Process {
    /// Starts a server that prints `ready URL` once it serves, and ends with its standard input.
    pub(super) fn start(command: &mut Command) -> anyhow::Result<Self> {
        let what = format!("{command:?}");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("unable to start {what}"))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let Some(url) = line.trim_end().strip_prefix("ready ") else { bail!("{what} said {line:?}, not `ready URL`") };
        let (stdin, url) = (child.stdin.take(), url.to_string());
        Ok(Process { child, stdin, url })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Memory in use, in bytes; known on Linux only.
    pub(super) fn resident_memory(&self) -> Option<u64> {
        resident_memory(self.child.id())
    }

    /// Processor time used so far, in steps of 10 ms; known on Linux only.
    pub(super) fn cpu_time(&self) -> Option<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        // The name in parentheses may hold anything; utime and stime are the 12th and 13th fields after it.
        let fields = stat.rsplit_once(") ")?.1.split(' ');
        let ticks: u64 = fields.skip(11).take(2).map_while(|field| field.parse::<u64>().ok()).sum();
        Some(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
    }
}

/// Memory that a process has in use, in bytes; known on Linux only.
pub(super) fn resident_memory(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.stdin.take());
        if let Err(error) = self.child.wait() {
            eprintln!("unable to wait for a server: {error}");
        }
    }
}
