//! Stopping at a signal of the operating system.

use std::io;
use tokio_util::sync::CancellationToken;

/// A token that is cancelled by the first SIGTERM or Ctrl-C. The second one ends the process at once, with code 1.
///
/// Call it within a tokio runtime.
///
/// # Errors
/// If signals cannot be listened to.
pub fn stop_on_signal() -> io::Result<CancellationToken> {
    let stop = CancellationToken::new();
    let mut signals = Signals::listen()?;
    tokio::spawn({
        let stop = stop.clone();
        async move {
            signals.next().await;
            stop.cancel();
            signals.next().await;
            std::process::exit(1);
        }
    });
    Ok(stop)
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals(tokio::signal::windows::CtrlC);

#[cfg(not(unix))]
impl Signals {
    fn listen() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Signals)
    }

    async fn next(&mut self) {
        self.0.recv().await;
    }
}
