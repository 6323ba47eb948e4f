//! One kube-controller-manager with some of its controllers, or one kube-scheduler, as a client of any API server.

use super::plan::KUBE_SCHEDULER;
use super::{cache, guard, kubeconfig};
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};
use tokio::process::Child;

/// An API server, and a user of it.
#[derive(Clone, Copy)]
pub struct Access<'a> {
    /// The API server's address.
    pub url: &'a str,
    /// The API server's certificate authority, PEM; also the `ca.crt` of every token secret.
    pub ca_pem: &'a str,
    /// The bearer token to authenticate with.
    pub token: &'a str,
}

/// The invocation of one manager.
pub struct Invocation<'a> {
    /// Its version, as in [`cache`].
    pub version: &'a str,
    /// The names of its controllers. Use those from before 1.27, which all versions understand.
    pub controllers: &'a [&'a str],
    /// Its API server.
    pub server: Access<'a>,
    /// More flags, `--name=value`.
    pub flags: &'a [&'a str],
}

/// A running kube-controller-manager or kube-scheduler. It is killed when this is dropped, and when this process ends.
pub struct Manager {
    program: Child,
}

impl Manager {
    /// Starts a kube-controller-manager with its files in `folder`, which is created, and removed when it ends. Its log is beside that folder.
    ///
    /// # Errors
    /// If it was not built, or its files cannot be written.
    pub fn start(folder: &Path, invocation: &Invocation<'_>) -> Result<Manager> {
        let program = cache::program(invocation.version, "kube-controller-manager")?;
        let flags = [
            format!("--root-ca-file={}", folder.join(CA).display()),
            format!("--controllers={}", invocation.controllers.join(",")),
        ];
        let more = invocation.flags.iter().map(ToString::to_string);
        spawn(folder, &program, invocation.server, flags.into_iter().chain(more))
    }

    /// Starts a kube-scheduler of the emulated version, likewise.
    ///
    /// # Errors
    /// As [`Manager::start`].
    pub fn scheduler(folder: &Path, server: Access<'_>) -> Result<Manager> {
        spawn(folder, &cache::program(cache::VERSION, KUBE_SCHEDULER)?, server, [])
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

/// The file with the API server's certificate authority.
const CA: &str = "ca.crt";

fn spawn(
    folder: &Path,
    program: &Path,
    server: Access<'_>,
    flags: impl IntoIterator<Item = String>,
) -> Result<Manager> {
    std::fs::create_dir(folder).with_context(|| folder.display().to_string())?;
    let kubeconfig = kubeconfig::text(server.url, server.ca_pem, server.token);
    for (name, text) in [("kubeconfig", kubeconfig.as_str()), (CA, server.ca_pem)] {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| path.display().to_string())?;
    }
    let mut arguments = vec![
        format!("--kubeconfig={}", folder.join("kubeconfig").display()),
        "--leader-elect=false".to_owned(),
        "--secure-port=0".to_owned(),
        // No client-side throttling.
        "--kube-api-qps=10000".to_owned(),
        "--kube-api-burst=10000".to_owned(),
    ];
    arguments.extend(flags);
    Ok(Manager { program: guard::spawn(folder, program, &arguments, &log(folder))? })
}

/// The log of the program with its files in `folder`.
pub fn log(folder: &Path) -> PathBuf {
    folder.with_extension("log")
}
