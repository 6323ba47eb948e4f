//! The events that stop the program: a signal, the end of the standard input, the end of the process that started it.

use anyhow::Context as _;
use std::io;
#[cfg(unix)]
use std::os::unix::process::parent_id;
use std::path::Path;
#[cfg(unix)]
use std::time::Duration;
use tokio::sync::oneshot;

/// The events that stop the program besides signals.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stops {
    /// The end of the standard input.
    pub(crate) with_stdin: bool,
    /// The end of the process that started it.
    pub(crate) with_parent: bool,
}

/// Whether a folder is one that a test environment makes for a run of its own: those of controller-runtime and of etcd's in it.
pub(crate) fn is_of_a_test(folder: &Path) -> bool {
    const NAMES: [&str; 2] = ["k8s_test_framework_", "etcddata"];
    let mut names = folder.iter().filter_map(|name| name.to_str());
    names.any(|name| NAMES.iter().any(|prefix| name.starts_with(prefix)))
}

/// Whether the standard input is one that was never open: a test environment that gives none did not end.
pub(crate) fn has_null_input() -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let device = |path| std::fs::metadata(path).map(|found| found.rdev()).ok();
        device("/dev/stdin").is_some_and(|input| Some(input) == device("/dev/null"))
    }
    #[cfg(not(unix))]
    false
}

impl Stops {
    /// Listens for Ctrl-C, SIGTERM and what else stops the program. Completes at the first of them.
    pub(crate) fn signals(self) -> anyhow::Result<impl Future<Output = ()>> {
        const FAILED: &str = "unable to handle signals";
        #[cfg(unix)]
        let mut terminate = {
            use tokio::signal::unix::{SignalKind, signal};
            (signal(SignalKind::interrupt()).context(FAILED)?, signal(SignalKind::terminate()).context(FAILED)?)
        };
        #[cfg(windows)]
        let mut terminate = {
            use tokio::signal::windows::{ctrl_c, ctrl_close};
            (ctrl_c().context(FAILED)?, ctrl_close().context(FAILED)?)
        };
        let stdin = self.with_stdin.then(stdin_end).transpose()?;
        let parent = parent_id();
        Ok(async move {
            let stdin_end = async {
                match stdin {
                    // An error means the end, too.
                    Some(end) => drop(end.await),
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = terminate.0.recv() => {}
                _ = terminate.1.recv() => {}
                () = stdin_end => {}
                () = parent_end(parent), if self.with_parent => {}
            }
        })
    }
}

/// Reads the standard input to its end, on a detached thread: one of tokio's would hold up the exit.
fn stdin_end() -> anyhow::Result<oneshot::Receiver<()>> {
    let (sender, receiver) = oneshot::channel();
    let read = move || {
        io::copy(&mut io::stdin().lock(), &mut io::sink()).ok();
        sender.send(()).ok();
    };
    std::thread::Builder::new().name("stdin".into()).spawn(read).context("unable to watch the standard input")?;
    Ok(receiver)
}

/// Completes when the process is not the child of the one that started it any more.
#[cfg(unix)]
async fn parent_end(parent: u32) {
    // Where the system cannot tell of an end.
    const PAUSE: Duration = Duration::from_secs(1);
    #[cfg(target_os = "linux")]
    process_end(parent).await;
    while parent_id() == parent {
        tokio::time::sleep(PAUSE).await;
    }
}

/// Completes when the process ends, or cannot be watched. A detached thread watches it.
#[cfg(target_os = "linux")]
async fn process_end(id: u32) {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    let (sender, ended) = oneshot::channel::<()>();
    let watch = move || {
        let _sender = sender;
        let id = i32::try_from(id).ok().and_then(Pid::from_raw);
        if let Some(process) = id.and_then(|id| pidfd_open(id, PidfdFlags::empty()).ok()) {
            let mut watched = [PollFd::new(&process, PollFlags::IN)];
            while poll(&mut watched, None) == Err(rustix::io::Errno::INTR) {}
        }
    };
    if std::thread::Builder::new().name("parent".into()).spawn(watch).is_ok() {
        // An error means the end, too.
        ended.await.ok();
    }
}

#[cfg(not(unix))]
fn parent_id() -> u32 {
    0
}

/// This system does not tell.
#[cfg(not(unix))]
async fn parent_end(_: u32) {
    std::future::pending().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_tests_are_known_by_their_names() {
        for (folder, expected) in [
            ("/tmp/k8s_test_framework_123", true),
            ("/tmp/k8s_test_framework_123/certs", true),
            ("/tmp/etcddata7", true),
            ("/var/run/kubernetes", false),
            ("/home/k8s/etcd", false),
        ] {
            assert_eq!(is_of_a_test(Path::new(folder)), expected, "{folder}");
        }
    }
}
