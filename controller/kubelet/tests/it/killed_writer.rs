//! Writers that are killed: before every step, and at any moment.

use jiff::Timestamp;
use kubelet::volumes::atomic_writer::{AtomicWriter, Observer, Step, WriteError};
use kubelet::volumes::payload::{FileProjection, Payload};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::process::{Command, Stdio};

/// 2026-02-01T15:04:05Z.
pub(crate) const NOW: Timestamp = Timestamp::constant(1_769_958_245, 0);

/// A payload whose files all contain its version. Some files exist in even versions only, some in odd ones.
pub(crate) fn payload(version: u32) -> Payload {
    let often = ["token", "ca.crt", "deep/er/namespace", "deep/name"];
    let seldom = if version.is_multiple_of(2) { ["even", "even-deep/one"] } else { ["odd", "odd-deep/one"] };
    let file = || FileProjection { data: format!("{version}").into_bytes(), mode: 0o644, owner: None };
    often.into_iter().chain(seldom).map(|path| (path.to_owned(), file())).collect()
}

pub(crate) fn write(volume: &Path, payload: &Payload) -> Result<bool, WriteError> {
    AtomicWriter::new(volume)?.write(payload, NOW, || Ok(()))
}

/// All files behind `..data`, found by reading that link once. An error if it has changed meanwhile, as the files are
/// then removed.
pub(crate) fn content(volume: &Path) -> io::Result<Payload> {
    let link = fs::read_link(volume.join("..data"))?;
    let data = volume.join(&link);
    let mut found = Payload::new();
    let mut left = vec![String::new()];
    while let Some(within) = left.pop() {
        for entry in fs::read_dir(data.join(&within))? {
            let entry = entry?;
            let name = entry.file_name().into_string().expect("a name");
            let path = if within.is_empty() { name } else { format!("{within}/{name}") };
            if entry.file_type()?.is_dir() {
                left.push(path);
            } else {
                found.insert(path, FileProjection { data: fs::read(entry.path())?, mode: 0o644, owner: None });
            }
        }
    }
    let replaced = fs::read_link(volume.join("..data"))? != link;
    if replaced { Err(io::ErrorKind::NotFound.into()) } else { Ok(found) }
}

/// The names in the volume, without that of the directory behind `..data`.
fn names(volume: &Path) -> BTreeSet<String> {
    let data = fs::read_link(volume.join("..data")).expect("a link").into_os_string();
    let names = fs::read_dir(volume).expect("a directory").map(|entry| entry.expect("an entry").file_name());
    names.filter(|name| *name != data).map(|name| name.into_string().expect("a name")).collect()
}

/// An observer that kills a writer after a number of steps.
struct DieAfter {
    left: Cell<usize>,
    last: Cell<Option<Step>>,
}

impl Observer for &DieAfter {
    fn before(&self, step: Step) {
        self.last.set(Some(step));
        match self.left.get() {
            // The writer does nothing after this, as it has no `Drop` that would clean up.
            0 => resume_unwind(Box::new("killed")),
            left => self.left.set(left - 1),
        }
    }
}

/// Writes `payload` with a writer that is killed after `steps` steps. Returns the step it was killed before, if it was.
fn write_and_die(volume: &Path, payload: &Payload, steps: usize) -> Option<Step> {
    let observer = DieAfter { left: Cell::new(steps), last: Cell::new(None) };
    let writer = AtomicWriter::observed(volume, &observer).expect("a directory");
    match catch_unwind(AssertUnwindSafe(|| writer.write(payload, NOW, || Ok(())))) {
        Ok(written) => {
            written.expect("written");
            None
        }
        Err(_) => observer.last.take(),
    }
}

#[test]
fn killed_at_any_step_it_has_changed_all_or_nothing_and_the_next_completes_it() {
    let undisturbed = tempfile::tempdir().expect("a directory");
    write(undisturbed.path(), &payload(2)).expect("written");
    let mut deaths = BTreeSet::new();
    for steps in 0.. {
        let volume = tempfile::tempdir().expect("a directory");
        write(volume.path(), &payload(1)).expect("written");
        let Some(died) = write_and_die(volume.path(), &payload(2), steps) else { break };
        let seen = content(volume.path()).expect("a version");
        assert!([payload(1), payload(2)].contains(&seen), "mixed before {died:?}: {seen:?}");
        // The same payload, another, and the previous one: each write completes, whatever was left.
        for next in [2, 4, 1] {
            let copy = tempfile::tempdir().expect("a directory");
            write(copy.path(), &payload(1)).expect("written");
            write_and_die(copy.path(), &payload(2), steps);
            write(copy.path(), &payload(next)).expect("the next writer is not blocked");
            assert_eq!(content(copy.path()).expect("a version"), payload(next), "after {died:?}");
            if next != 1 {
                assert_eq!(names(copy.path()), names(undisturbed.path()), "after {died:?}");
            }
        }
        deaths.insert(format!("{died:?}"));
    }
    let expected = [
        "MakeDirectory",
        "WriteFile(\"ca.crt\")",
        "WriteFile(\"deep/er/namespace\")",
        "WriteFile(\"deep/name\")",
        "WriteFile(\"even\")",
        "WriteFile(\"even-deep/one\")",
        "WriteFile(\"token\")",
        "SetPermissions",
        "LinkNewData",
        "Switch",
        "Show(\"even\")",
        "Show(\"even-deep\")",
        "Remove(\"odd\")",
        "Remove(\"odd-deep\")",
    ];
    for step in expected {
        assert!(deaths.remove(step), "died before {step}");
    }
    let last: Vec<_> = deaths.into_iter().collect();
    assert!(matches!(&last[..], [old] if old.starts_with("Remove(\"..2026_02_01_15_04_05.")), "{last:?}");
}

#[test]
fn killed_twice_in_a_row_at_any_steps_the_third_completes_it() {
    // Before and after each step that leaves something behind.
    let moments = [1, 8, 9, 10, 12, 14];
    for first in moments {
        for second in moments {
            let volume = tempfile::tempdir().expect("a directory");
            write(volume.path(), &payload(1)).expect("written");
            write_and_die(volume.path(), &payload(2), first);
            write_and_die(volume.path(), &payload(3), second);
            let seen = content(volume.path()).expect("a version");
            assert!([payload(1), payload(2), payload(3)].contains(&seen), "{first} {second}: {seen:?}");
            write(volume.path(), &payload(3)).expect("written");
            assert_eq!(content(volume.path()).expect("a version"), payload(3), "{first} {second}");
            assert_eq!(names(volume.path()).len(), 6, "{first} {second}: {:?}", names(volume.path()));
        }
    }
}

const VOLUME: &str = "KILLED_WRITERS_VOLUME";
const FIRST_VERSION: &str = "KILLED_WRITERS_FIRST_VERSION";

/// Writes version after version until the process is killed, and prints each.
fn write_for_ever(volume: &Path) -> ! {
    let first: u32 = std::env::var(FIRST_VERSION).expect("a version").parse().expect("a number");
    for version in first.. {
        write(volume, &payload(version)).expect("written, whatever the last writer left");
        println!("{version}");
    }
    unreachable!("there are more versions than time")
}

/// This test starts itself as the process that it kills.
#[test]
fn killed_at_any_moment_it_never_shows_a_mixture() {
    if let Some(volume) = std::env::var_os(VOLUME) {
        write_for_ever(Path::new(&volume));
    }
    let volume = tempfile::tempdir().expect("a directory");
    let mut random = fastrand::Rng::with_seed(1);
    let mut versions_seen = BTreeSet::new();
    for life in 1..=8u32 {
        let mut writer = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "killed_writer::killed_at_any_moment_it_never_shows_a_mixture", "--nocapture"])
            .env(VOLUME, volume.path())
            .env(FIRST_VERSION, (life * 1_000_000).to_string())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program starts");
        let mut said = writer.stdout.take().expect("a pipe");
        // It lives until it has printed a random number of bytes: a random moment without a clock.
        let mut words = vec![0; random.usize(40..600)];
        let heard = std::thread::spawn(move || said.read_exact(&mut words).map(|()| said));
        while !heard.is_finished() {
            // A directory that vanishes during the read was replaced by a newer one.
            if let Ok(seen) = content(volume.path()) {
                versions_seen.insert(check_whole(&seen));
            }
            let link = fs::symlink_metadata(volume.path().join("..data"));
            assert!(link.is_ok() || versions_seen.is_empty(), "there is no moment without data: {link:?}");
        }
        let said = heard.join().expect("the reader does not panic").expect("the writer lives");
        writer.kill().expect("it is killed");
        drop(said);
        writer.wait().expect("it is dead");
        check_whole(&content(volume.path()).expect("a version"));
    }
    assert!(versions_seen.len() > 8, "the reader saw too little to judge: {versions_seen:?}");
    write(volume.path(), &payload(1)).expect("written");
    assert_eq!(content(volume.path()).expect("a version"), payload(1));
    assert_eq!(names(volume.path()).len(), 6, "{:?}", names(volume.path()));
}

/// Checks that all files have the same version, and returns it.
fn check_whole(seen: &Payload) -> u32 {
    let file = seen.values().next().expect("files");
    let version = std::str::from_utf8(&file.data).expect("text").parse().expect("a version");
    assert_eq!(*seen, payload(version));
    version
}
