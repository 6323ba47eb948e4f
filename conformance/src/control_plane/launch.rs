//! The start of a control plane, one program after the other, and one that lives as long as its owner.
//!
//! ```text
//! etcd ─▶ kube-apiserver ─ /readyz ─▶ kube-controller-manager ─ /healthz ─▶ kube-scheduler, if asked for ─ /readyz ─▶ ready
//! ```

use super::guard;
use super::plan::{Invocation, KUBE_SCHEDULER, Options, Plan};
use crate::client::Endpoint;
use crate::credentials::{ADMINISTRATOR, static_token};
use anyhow::{Context as _, Result, bail, ensure};
use bytes::Bytes;
use http::header::AUTHORIZATION;
use http_body_util::{BodyExt as _, Full};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::{Child, Command};

/// Time for a program to get ready. It takes seconds unless the machine is busy.
const DEADLINE: Duration = Duration::from_secs(120);
/// Pause between two checks whether a program is ready.
const PAUSE: Duration = Duration::from_millis(50);
/// The number of attempts to start: another process may take a port before the program that it was chosen for does.
const ATTEMPTS: usize = 3;
/// Number of log lines shown of a program that did not start.
const LAST_LINES: usize = 15;

/// The lifetime of the programs that are started.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// They are killed, and the folder is removed, when this process ends.
    Ours,
    /// They outlive this process. Their process ids are in files beside their logs.
    TheirOwn,
}

/// A control plane that ends, and whose files are removed, when this is dropped or this process ends.
pub struct ControlPlane {
    plan: Plan,
    ca_pem: String,
    _programs: Vec<Child>,
    _folder: TempDir,
}

impl ControlPlane {
    /// Starts etcd, kube-apiserver, kube-controller-manager and, if asked for, kube-scheduler, and waits until they are ready.
    ///
    /// # Errors
    /// If they were not built, or one of them does not start; the error shows the end of its log.
    pub async fn start(options: Options) -> Result<ControlPlane> {
        let mut attempt = 1;
        loop {
            let folder = tempfile::tempdir()?;
            let plan = Plan::new(folder.path(), options.clone())?;
            match launch(&plan, folder.path(), Life::Ours).await {
                Ok(programs) => {
                    let ca_pem = std::fs::read_to_string(plan.ca())?;
                    return Ok(ControlPlane { plan, ca_pem, _programs: programs, _folder: folder });
                }
                Err(error) if attempt < ATTEMPTS && format!("{error:#}").contains("address already in use") => {
                    attempt += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The URL of the API server.
    pub fn url(&self) -> String {
        self.plan.url()
    }

    /// The certificate authority of the API server, PEM.
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// The URL of etcd, without TLS.
    pub fn etcd_url(&self) -> String {
        self.plan.etcd_url()
    }

    /// The path of a kubeconfig for the administrator.
    pub fn kubeconfig(&self) -> PathBuf {
        self.plan.kubeconfig()
    }

    /// The log of the API server.
    pub fn apiserver_log(&self) -> PathBuf {
        self.plan.log("kube-apiserver")
    }

    /// The recorded calls, one event a line.
    pub fn audit_log(&self) -> PathBuf {
        self.plan.audit_log()
    }
}

/// Starts the programs of `plan`. If one fails, detached ones that did start keep running.
pub(super) async fn launch(plan: &Plan, folder: &Path, life: Life) -> Result<Vec<Child>> {
    plan.write_files()?;
    let mut etcd = start(plan, &plan.etcd()?, folder, life)?;
    let mut apiserver = start(plan, &plan.apiserver()?, folder, life)?;
    // Without RBAC the API server has anonymous authentication off.
    let token = static_token(ADMINISTRATOR);
    // Without etcd the API server never gets ready, and its log says less about the reason.
    let programs = &mut [("etcd", &mut etcd), ("kube-apiserver", &mut apiserver)];
    ready(plan, programs, &Check { url: plan.url(), ca: plan.ca(), path: "/readyz", token: Some(&token), says: "ok" })
        .await?;
    plan.write_kubeconfig()?;
    let mut manager = start(plan, &plan.controller_manager()?, folder, life)?;
    let name = "kube-controller-manager";
    // The controller is listed once it is running.
    let (path, says) = ("/healthz?verbose", "[+]namespace-controller ok");
    let check = Check { url: plan.manager_url(), ca: plan.ca_of(name), path, token: None, says };
    ready(plan, &mut [(name, &mut manager)], &check).await?;
    let mut programs = vec![etcd, apiserver, manager];
    if let Some(invocation) = plan.scheduler()? {
        let mut scheduler = start(plan, &invocation, folder, life)?;
        let ca = plan.ca_of(KUBE_SCHEDULER);
        let check = Check { url: plan.scheduler_url(), ca, path: "/readyz", token: None, says: "ok" };
        ready(plan, &mut [(KUBE_SCHEDULER, &mut scheduler)], &check).await?;
        programs.push(scheduler);
    }
    Ok(programs)
}

fn start(plan: &Plan, invocation: &Invocation, folder: &Path, life: Life) -> Result<Child> {
    let Invocation { name, program, arguments } = invocation;
    let log = plan.log(name);
    if life == Life::Ours {
        return guard::spawn(folder, program, arguments, &log);
    }
    let log = File::create(&log).with_context(|| log.display().to_string())?;
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .process_group(0)
        .spawn()
        .with_context(|| format!("starting {}", program.display()))?;
    let id = child.id().with_context(|| format!("{name} is gone"))?;
    std::fs::write(folder.join(format!("{name}.pid")), format!("{id}\n"))?;
    Ok(child)
}

/// A readiness check: `path` of the server at `url` answers 200 with a body that contains `says`.
struct Check<'a> {
    url: String,
    ca: PathBuf,
    path: &'static str,
    token: Option<&'a str>,
    says: &'static str,
}

/// Waits until the check passes; fails if one of `programs` ends before that.
async fn ready(plan: &Plan, programs: &mut [(&str, &mut Child)], check: &Check<'_>) -> Result<()> {
    let end = |name: &str| last_lines(&plan.log(name));
    let mut last = String::new();
    let asking = async {
        loop {
            for (name, program) in programs.iter_mut() {
                if let Some(status) = program.try_wait()? {
                    bail!("{name} ended with {status}:\n{}", end(name));
                }
            }
            match check.pass().await {
                Ok(()) => return Ok(()),
                Err(error) => last = format!("{error:#}"),
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    match tokio::time::timeout(DEADLINE, asking).await {
        Ok(result) => result,
        Err(_) => {
            let ends = programs.iter().map(|(name, _)| format!("\n{name}:\n{}", end(name)));
            let Check { url, path, .. } = check;
            bail!("{url}{path} is not well after {DEADLINE:?}: {last}{}", ends.collect::<String>())
        }
    }
}

impl Check<'_> {
    /// Fails while the certificate file is missing or incomplete, no server answers, or the response is another one.
    async fn pass(&self) -> Result<()> {
        let endpoint = Endpoint::new(&self.url, Some(&std::fs::read_to_string(&self.ca)?))?;
        let mut request = http::Request::get(self.path);
        if let Some(token) = self.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        let answer = endpoint.send(request.body(Full::new(Bytes::new()))?).await?;
        let status = answer.status();
        let body = answer.into_body().collect().await?.to_bytes();
        let text = String::from_utf8_lossy(&body);
        ensure!(status == http::StatusCode::OK && text.contains(self.says), "{status} {text}");
        Ok(())
    }
}

fn last_lines(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_else(|error| format!("{}: {error}", log.display()));
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
}
