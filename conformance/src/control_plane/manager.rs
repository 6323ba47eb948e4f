//! One kube-controller-manager with some of its controllers, as a client of any API server.

use super::{cache, guard, kubeconfig};
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};
use tokio::process::Child;

/// The invocation of one manager.
pub struct Invocation<'a> {
    /// Its version, as in [`cache`].
    pub version: &'a str,
    /// The names of its controllers. Use those from before 1.27, which all versions understand.
    pub controllers: &'a [&'a str],
    /// The API server's address.
    pub url: &'a str,
    /// The API server's certificate authority, PEM; also the `ca.crt` of every token secret.
    pub ca_pem: &'a str,
    /// The bearer token that it authenticates with.
    pub token: &'a str,
    /// More flags, `--name=value`.
    pub flags: &'a [&'a str],
}

/// A running kube-controller-manager. It is killed when this is dropped, and when this process ends.
pub struct Manager {
    program: Child,
}

impl Manager {
    /// Starts it with its files in `folder`, which is created, and removed when it ends. Its log is beside that folder.
    ///
    /// # Errors
    /// If it was not built, or its files cannot be written.
    pub fn start(folder: &Path, invocation: &Invocation<'_>) -> Result<Manager> {
        let program = cache::program(invocation.version, "kube-controller-manager")?;
        let file = |name: &str, text: &str| -> Result<String> {
            let path = folder.join(name);
            std::fs::write(&path, text).with_context(|| path.display().to_string())?;
            Ok(path.display().to_string())
        };
        std::fs::create_dir(folder).with_context(|| folder.display().to_string())?;
        let kubeconfig = kubeconfig::text(invocation.url, invocation.ca_pem, invocation.token);
        let mut arguments = vec![
            format!("--kubeconfig={}", file("kubeconfig", &kubeconfig)?),
            format!("--root-ca-file={}", file("ca.crt", invocation.ca_pem)?),
            format!("--controllers={}", invocation.controllers.join(",")),
            "--leader-elect=false".to_owned(),
            "--secure-port=0".to_owned(),
            // No client-side throttling.
            "--kube-api-qps=10000".to_owned(),
            "--kube-api-burst=10000".to_owned(),
        ];
        arguments.extend(invocation.flags.iter().map(ToString::to_string));
        Ok(Manager { program: guard::spawn(folder, &program, &arguments, &log(folder))? })
    }

    /// Kills it and waits until it is gone.
    ///
    /// # Errors
    /// If it cannot be waited for.
    pub async fn kill(mut self) -> Result<()> {
        drop(self.program.stdin.take());
        self.program.wait().await?;
        Ok(())
    }
}

/// The log of the manager with its files in `folder`.
pub fn log(folder: &Path) -> PathBuf {
    folder.with_extension("log")
}
