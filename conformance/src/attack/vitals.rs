//! The resources of a process, as reported by Linux: memory, descriptors, threads.

use anyhow::{Context as _, Result};
use std::path::PathBuf;

/// The resources of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Vitals {
    /// Memory in use (`VmRSS`), MiB.
    pub memory: u64,
    /// The highest memory since the last reset (`VmHWM`), MiB.
    pub peak: u64,
    /// Open descriptors.
    pub descriptors: u64,
    /// Threads.
    pub threads: u64,
}

/// A process that is observed.
#[derive(Debug, Clone, Copy)]
pub struct Patient {
    id: u32,
}

impl Patient {
    /// The process with that id.
    pub fn new(id: u32) -> Patient {
        Patient { id }
    }

    /// Its current resources.
    ///
    /// # Errors
    /// If it has ended.
    pub fn vitals(&self) -> Result<Vitals> {
        let status = std::fs::read_to_string(self.file("status")).context("the process has ended")?;
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
            number.with_context(|| format!("the process has ended: it has no {name}"))
        };
        Ok(Vitals {
            memory: number("VmRSS:")? / 1024,
            peak: number("VmHWM:")? / 1024,
            threads: number("Threads:")?,
            descriptors: std::fs::read_dir(self.file("fd"))?.count() as u64,
        })
    }

    /// Its CPU time, in ticks of a hundredth of a second.
    ///
    /// # Errors
    /// If it has ended.
    pub fn ticks(&self) -> Result<u64> {
        let text = std::fs::read_to_string(self.file("stat")).context("the process has ended")?;
        let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
        let times: Vec<u64> = fields.skip(11).take(2).map(str::parse).collect::<Result<_, _>>()?;
        Ok(times.iter().sum())
    }

    /// Resets the peak.
    ///
    /// # Errors
    /// If it has ended.
    pub fn forget_peak(&self) -> Result<()> {
        std::fs::write(self.file("clear_refs"), "5").context("the process has ended")
    }

    fn file(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_threads_and_descriptors() {
        let patient = Patient::new(std::process::id());
        let vitals = patient.vitals().unwrap();
        assert!(vitals.memory > 0 && vitals.peak >= vitals.memory && vitals.threads > 0 && vitals.descriptors > 2);
        patient.forget_peak().unwrap();
        patient.ticks().unwrap();
        assert!(Patient::new(u32::MAX).vitals().is_err());
    }
}
