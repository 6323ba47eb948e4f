//! Child processes that end with this one, however it ends.
//!
//! ```text
//! this process ──pipe──▶ sh ──▶ program
//!                         └──▶ sh: waits for the pipe's end, then kills the program and removes the folder
//! ```
//!
//! The system closes this end of the pipe when the process ends, by `SIGKILL` too. (Linux could send a signal at the parent's
//! death; asking for it takes unsafe code.)

use anyhow::{Context as _, Result};
use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use tokio::process::{Child, Command};

/// The shell script. Its arguments are the folder, the program and the program's arguments; its exit status is the program's.
const SCRIPT: &str = r#"
folder=$1; shift
exec 3<&0
"$@" 3<&- </dev/null & program=$!
{ read -r _; trap '' TERM; kill -9 "$program"; rm -rf "$folder"; } <&3 & watch=$!
exec 3<&-
wait "$program"; status=$?
{ kill "$watch"; wait "$watch"; } 2>/dev/null
exit "$status"
"#;

/// Starts `program`; its output goes to `log`. It is killed, and `folder` removed, when the result's standard input is
/// closed, at the latest by the end of this process.
///
/// # Errors
/// If the log cannot be written, or `sh` does not exist.
pub(super) fn spawn(folder: &Path, program: &Path, arguments: &[String], log: &Path) -> Result<Child> {
    let log = File::create(log).with_context(|| log.display().to_string())?;
    Command::new("sh")
        .args(["-c", SCRIPT, "guard"])
        .args([folder, program])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(log.try_clone()?)
        .stderr(log)
        // Ctrl-C ends this process, and with it the program.
        .process_group(0)
        .spawn()
        .with_context(|| format!("starting {}", program.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn start(folder: &Path, script: &str) -> Child {
        let sh = PathBuf::from("/bin/sh");
        let log = folder.with_extension("log");
        spawn(folder, &sh, &["-c".to_owned(), script.to_owned()], &log).unwrap()
    }

    #[tokio::test]
    async fn a_program_is_killed_and_its_folder_removed_when_the_pipe_closes() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("folder");
        std::fs::create_dir(&folder).unwrap();
        let mut child = start(&folder, "trap '' TERM INT HUP; while :; do read -r line; done < /dev/zero");
        assert!(child.try_wait().unwrap().is_none());
        drop(child.stdin.take());
        let status = child.wait().await.unwrap();
        assert_eq!(status.code(), Some(128 + 9));
        assert!(!folder.exists());
    }

    #[tokio::test]
    async fn a_program_that_ends_by_itself_leaves_its_folder_and_its_status() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("folder");
        std::fs::create_dir(&folder).unwrap();
        let mut child = start(&folder, "echo why; exit 7");
        let stdin = child.stdin.take();
        assert_eq!(child.wait().await.unwrap().code(), Some(7));
        assert_eq!(std::fs::read_to_string(folder.with_extension("log")).unwrap(), "why\n");
        drop(stdin);
        assert!(folder.exists());
    }
}
