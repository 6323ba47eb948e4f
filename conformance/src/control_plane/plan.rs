//! The plan of a control plane: each program's flags, and the files that they name. Nothing is started here.

use super::{cache, kubeconfig};
use crate::credentials::{ADMINISTRATOR, ISSUER, SCHEDULER, SIGNING_KEY, USERS, signer_flags, static_token};
use anyhow::{Context as _, Result};
use serde_json::json;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

/// The users whose calls are recorded: those that controllers and kubelets run as.
pub const RECORDED_USERS: [&str; 7] = [
    "legacy-token-cleaner",
    "root-ca",
    "service-accounts",
    "system:node:node-1",
    "system:node:node-2",
    "tokens",
    "tokens-b",
];

/// The flag of the controller manager with the names of controllers, among which [`KUBE_SCHEDULER`] may be.
const CONTROLLERS: &str = "--controllers";
/// The name of the scheduler among those of controllers, and that of its program.
pub(crate) const KUBE_SCHEDULER: &str = "kube-scheduler";
/// The controllers that the fake has on by default.
const USUAL_CONTROLLERS: [&str; 2] = ["namespace-controller", "clusterrole-aggregation-controller"];

/// The file with the scheduler's kubeconfig.
const SCHEDULER_KUBECONFIG: &str = "scheduler.kubeconfig";

/// The options of a control plane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Whether the API server has a watch cache, instead of asking etcd.
    pub watch_cache: bool,
    /// Whether RBAC authorizes; without it every request is allowed.
    pub rbac: bool,
    /// Whether the calls of controllers and kubelets are recorded.
    pub audit: bool,
    /// The API server's port; `None` is any free one.
    pub secure_port: Option<u16>,
    /// More flags of the API server, `--name=value`. They replace defaults of the same name. `--controllers` is the controller
    /// manager's, and adds to the usual ones; `kube-scheduler` in it starts a scheduler.
    pub flags: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options { watch_cache: true, rbac: true, audit: false, secure_port: None, flags: Vec::new() }
    }
}

/// A control plane to start. All its files are in one folder.
pub(super) struct Plan {
    folder: PathBuf,
    options: Options,
    etcd_port: u16,
    secure_port: u16,
    manager_port: u16,
    scheduler_port: u16,
}

/// One program and its arguments.
pub(super) struct Invocation {
    pub(super) name: &'static str,
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
}

impl Plan {
    /// Chooses ports that are free at this moment. `folder` is an absolute path.
    ///
    /// # Errors
    /// If no port is free.
    pub(super) fn new(folder: &Path, options: Options) -> Result<Plan> {
        let listeners = [(); 4].map(|()| TcpListener::bind("127.0.0.1:0"));
        // All are bound before one is let go, so that they differ.
        let port = |listener: &std::io::Result<TcpListener>| match listener {
            Ok(listener) => Ok(listener.local_addr()?.port()),
            Err(error) => Err(anyhow::anyhow!("no free port: {error}")),
        };
        let [etcd_port, manager_port, scheduler_port] =
            [port(&listeners[0])?, port(&listeners[1])?, port(&listeners[2])?];
        let secure_port = options.secure_port.map_or_else(|| port(&listeners[3]), Ok)?;
        Ok(Plan { folder: folder.to_owned(), options, etcd_port, secure_port, manager_port, scheduler_port })
    }

    /// The URL of the API server.
    pub(super) fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.secure_port)
    }

    /// The URL of etcd.
    pub(super) fn etcd_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.etcd_port)
    }

    /// The URL of the controller manager's health checks.
    pub(super) fn manager_url(&self) -> String {
        format!("https://127.0.0.1:{}", self.manager_port)
    }

    /// The URL of the scheduler's health checks.
    pub(super) fn scheduler_url(&self) -> String {
        format!("https://127.0.0.1:{}", self.scheduler_port)
    }

    /// The API server's certificate with its authority; it generates both.
    pub(super) fn ca(&self) -> PathBuf {
        self.file("certificates/apiserver.crt")
    }

    /// The certificate of the controller manager or the scheduler, with its authority.
    pub(super) fn ca_of(&self, name: &str) -> PathBuf {
        self.file(&format!("certificates/{name}.crt"))
    }

    /// A kubeconfig for the administrator.
    pub(super) fn kubeconfig(&self) -> PathBuf {
        self.file("kubeconfig")
    }

    /// The log of the program called `name`.
    pub(super) fn log(&self, name: &str) -> PathBuf {
        self.file(&format!("{name}.log"))
    }

    /// The audit log with the calls of the recorded users.
    pub(super) fn audit_log(&self) -> PathBuf {
        self.file("audit.log")
    }

    /// Writes the files that the programs read at start.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(super) fn write_files(&self) -> Result<()> {
        let user = |(user, groups): &(&str, &[&str])| {
            format!("{},{user},{user},\"{}\"\n", static_token(user), groups.join(","))
        };
        self.write("users.csv", &USERS.iter().map(user).collect::<String>())?;
        // `RequestReceived` is logged before the request is handled, so it is there once a client has the response.
        let policy = json!({
            "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["ResponseStarted"],
            "rules": [{"level": "Request", "users": RECORDED_USERS}, {"level": "None"}],
        });
        self.write("audit-policy.json", &policy.to_string())
    }

    /// Writes the kubeconfigs, which contain the API server's certificate authority.
    ///
    /// # Errors
    /// If the API server has not written its certificate yet, or the file cannot be written.
    pub(super) fn write_kubeconfig(&self) -> Result<()> {
        let ca = self.ca();
        let ca_pem = std::fs::read_to_string(&ca).with_context(|| ca.display().to_string())?;
        let text = |user| kubeconfig::text(&self.url(), &ca_pem, &static_token(user));
        self.write("kubeconfig", &text(ADMINISTRATOR))?;
        self.write(SCHEDULER_KUBECONFIG, &text(SCHEDULER))
    }

    /// The invocation of etcd, without `fsync`: the data need not survive a crash of the machine.
    pub(super) fn etcd(&self) -> Result<Invocation> {
        let url = self.etcd_url();
        invocation(
            "etcd",
            [
                format!("--data-dir={}", self.text("etcd")),
                "--unsafe-no-fsync".to_owned(),
                format!("--listen-client-urls={url}"),
                format!("--advertise-client-urls={url}"),
                // There are no peers, so any port will do.
                "--listen-peer-urls=http://127.0.0.1:0".to_owned(),
                "--log-level=warn".to_owned(),
            ],
        )
    }

    /// The API server, configured like the fake. ServiceAccount admission is off unless asked for, because no controller
    /// creates the accounts that it needs.
    pub(super) fn apiserver(&self) -> Result<Invocation> {
        let Options { watch_cache, rbac, audit, ref flags, .. } = self.options;
        let mut arguments = vec![
            format!("--etcd-servers={}", self.etcd_url()),
            "--etcd-compaction-interval=0".to_owned(),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={}", self.secure_port),
            format!("--cert-dir={}", self.text("certificates")),
            format!("--token-auth-file={}", self.text("users.csv")),
            format!("--authorization-mode={}", if rbac { "RBAC" } else { "AlwaysAllow" }),
            "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
            format!("--service-account-issuer={ISSUER}"),
            format!("--service-account-key-file={SIGNING_KEY}"),
            format!("--service-account-signing-key-file={SIGNING_KEY}"),
            format!("--watch-cache={watch_cache}"),
        ];
        let enabled = |flag: &String| name(flag) == "--enable-admission-plugins" && flag.contains("ServiceAccount");
        if !flags.iter().any(enabled) {
            arguments.push("--disable-admission-plugins=ServiceAccount".to_owned());
        }
        let replaced = |flag: &String, usual: &str| {
            let by_file = (name(flag), usual) == ("--authorization-config", "--authorization-mode");
            by_file || name(flag) == usual
        };
        arguments.retain(|usual| !flags.iter().any(|flag| replaced(flag, name(usual))));
        arguments.extend(flags.iter().filter(|flag| name(flag) != CONTROLLERS).cloned());
        if audit {
            if !flags.iter().any(|flag| name(flag) == "--audit-policy-file") {
                arguments.push(format!("--audit-policy-file={}", self.text("audit-policy.json")));
            }
            arguments.push(format!("--audit-log-path={}", self.audit_log().display()));
        }
        invocation("kube-apiserver", arguments)
    }

    /// The controller manager with the controllers that the fake has on by default, and those that are asked for.
    pub(super) fn controller_manager(&self) -> Result<Invocation> {
        let more = self.wanted().filter(|name| *name != KUBE_SCHEDULER);
        let controllers = USUAL_CONTROLLERS.into_iter().chain(more).collect::<Vec<_>>().join(",");
        let [certificate, key] = signer_flags();
        // Each controller is a user of its own, as on most clusters, but where others are asked about users: they would tell of these, too.
        let are_told = self.options.flags.iter().any(|flag| flag.starts_with("--auth"));
        invocation(
            "kube-controller-manager",
            [
                format!("--use-service-account-credentials={}", !are_told),
                format!("--kubeconfig={}", self.kubeconfig().display()),
                format!("{CONTROLLERS}={controllers}"),
                "--leader-elect=false".to_owned(),
                // A run deletes hundreds of namespaces, each of which takes a hundred requests.
                "--concurrent-namespace-syncs=50".to_owned(),
                "--kube-api-qps=10000".to_owned(),
                "--kube-api-burst=10000".to_owned(),
                "--bind-address=127.0.0.1".to_owned(),
                format!("--secure-port={}", self.manager_port),
                format!("--cert-dir={}", self.text("certificates")),
                certificate,
                key,
            ],
        )
    }

    /// The scheduler, if one is asked for, as a user of its own.
    pub(super) fn scheduler(&self) -> Result<Option<Invocation>> {
        let arguments = || {
            [
                format!("--kubeconfig={}", self.text(SCHEDULER_KUBECONFIG)),
                "--leader-elect=false".to_owned(),
                "--kube-api-qps=10000".to_owned(),
                "--kube-api-burst=10000".to_owned(),
                "--bind-address=127.0.0.1".to_owned(),
                format!("--secure-port={}", self.scheduler_port),
                format!("--cert-dir={}", self.text("certificates")),
            ]
        };
        let is_wanted = self.wanted().any(|name| name == KUBE_SCHEDULER);
        is_wanted.then(|| invocation(KUBE_SCHEDULER, arguments())).transpose()
    }

    /// The names of controllers that are asked for.
    fn wanted(&self) -> impl Iterator<Item = &str> {
        let names = self.options.flags.iter().filter_map(|flag| flag.strip_prefix(CONTROLLERS)?.strip_prefix('='));
        names.flat_map(|names| names.split(','))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn text(&self, name: &str) -> String {
        self.file(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.file(name);
        std::fs::write(&path, text).with_context(|| path.display().to_string())
    }
}

fn name(flag: &str) -> &str {
    flag.split_once('=').map_or(flag, |(name, _)| name)
}

fn invocation(name: &'static str, arguments: impl IntoIterator<Item = String>) -> Result<Invocation> {
    Ok(Invocation { name, program: cache::program(cache::VERSION, name)?, arguments: arguments.into_iter().collect() })
}
