//! Waiting for a file that another program writes.

use std::path::Path;
use std::time::Duration;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::info;

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(100);

/// Waits until the file is there, or until `stop`. It says so, if it has to wait.
pub async fn wait_for(file: Option<&Path>, stop: &CancellationToken) {
    let Some(file) = file.filter(|file| !file.exists()) else { return };
    info!(file = %file.display(), "waiting for a file");
    let there = async {
        while !file.exists() {
            sleep(PAUSE).await;
        }
    };
    stop.run_until_cancelled(there).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_ends_with_the_file_or_when_it_is_told_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, stop) = (folder.path().join("kubeconfig"), CancellationToken::new());
        let write = async {
            sleep(PAUSE).await;
            std::fs::write(&file, "").expect("a file");
        };
        tokio::join!(wait_for(Some(&file), &stop), write);
        assert!(file.exists());
        stop.cancel();
        wait_for(Some(&folder.path().join("another")), &stop).await;
        wait_for(None, &stop).await;
    }
}
