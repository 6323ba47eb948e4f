//! The flags: kube-apiserver's, and a few of a test server's own.

mod audit;
mod build;
mod controllers;
mod gates;
mod others;
mod values;

use audit::AuditFlags;
use clap::Parser;
use controllers::Choice;
use fake_apiserver::{AuthorizationMode, git_version};
use gates::Setting;
use others::Others;
use std::ffi::OsString;
use std::io::Write;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use values::{
    ServiceAddress, clock_offset, go_bool, max_token_expiration, port_range, request_timeout, runtime_config,
    service_address,
};

/// A kube-apiserver for tests: the real wire protocol, objects in memory, and by default everything is allowed.
#[derive(Debug, Parser)]
#[command(name = "fake-apiserver", version, max_term_width = 100, args_override_self = true, after_help = after_help())]
pub struct Flags {
    /// Address to listen on
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    bind_address: IpAddr,
    /// HTTPS port; other replicas listen on those that follow. Unlike kube-apiserver, 0 takes any free port
    #[arg(long, value_name = "PORT", default_value_t = 6443)]
    secure_port: u16,
    /// Listen for plain HTTP as well, on this port and those that follow; 0 takes any free port. Told of at the end of the help:
    /// envtest takes a program for an older kube-apiserver, with a plain port, if it is listed.
    #[arg(long, value_name = "PORT", hide = true)]
    insecure_port: Option<u16>,
    /// Folder with the serving certificate: apiserver.crt and apiserver.key, which are made there if there are none
    #[arg(long, value_name = "FOLDER")]
    cert_dir: Option<PathBuf>,
    /// PEM file with the serving certificate and its chain; made at start by default
    #[arg(long, value_name = "FILE", requires = "tls_private_key_file")]
    tls_cert_file: Option<PathBuf>,
    /// PEM file with the private key of the serving certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert_file")]
    tls_private_key_file: Option<PathBuf>,

    /// CSV file with bearer tokens: token,user,uid,"group1,group2"
    #[arg(long, value_name = "FILE")]
    token_auth_file: Option<PathBuf>,
    /// PEM file with authorities of client certificates: the common name is the user, organizations are the groups
    #[arg(long, value_name = "FILE")]
    client_ca_file: Option<PathBuf>,
    /// Serve requests without credentials as system:anonymous's instead of refusing them; true by default, unless the modes of authorization are given, with AlwaysAllow among them
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool)]
    anonymous_auth: Option<bool>,
    /// Authorizers to ask, in order, separated by commas: AlwaysAllow, the default, AlwaysDeny, RBAC, Node
    #[arg(long, value_name = "MODES", value_delimiter = ',')]
    authorization_mode: Vec<AuthorizationMode>,

    /// Allow privileged containers; true by default, unlike in kube-apiserver
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool)]
    allow_privileged: Option<bool>,
    /// Admission plugins that are on besides those that are by default, separated by commas
    #[arg(long, value_name = "PLUGINS", value_delimiter = ',')]
    enable_admission_plugins: Vec<String>,
    /// Admission plugins that are off, separated by commas
    #[arg(long, value_name = "PLUGINS", value_delimiter = ',')]
    disable_admission_plugins: Vec<String>,
    /// YAML file with the configurations of admission plugins, an AdmissionConfiguration of apiserver.config.k8s.io/v1
    #[arg(long, value_name = "FILE")]
    admission_control_config_file: Option<PathBuf>,

    /// Versions and resources to serve or not: group/version=BOOL, group/version/resource=BOOL, and for many versions at once
    /// api/all, api/ga, api/beta, api/alpha; all that there are by default, which are no alpha and beta versions
    #[arg(long, value_name = "KEY=BOOL", value_delimiter = ',', value_parser = runtime_config)]
    runtime_config: Vec<(String, String)>,
    /// Time limit of requests other than watches, such as 30s; 1m by default, and at most 34s for writes
    #[arg(long, value_name = "DURATION", value_parser = request_timeout)]
    request_timeout: Option<Duration>,

    /// Feature gates of kube-apiserver, with their defaults; and BoundServiceAccountTokenVolume: false lets ServiceAccount
    /// mount token secrets, as before Kubernetes 1.21
    #[arg(long, value_name = "GATE=BOOL", value_delimiter = ',', value_parser = gates::setting)]
    feature_gates: Vec<Setting>,

    /// Range of the cluster IPs of services, or two, one of each family, separated by a comma; 10.0.0.0/24 by default
    #[arg(long, value_name = "CIDRS")]
    service_cluster_ip_range: Option<String>,
    /// Range of the node ports of services; 30000-32767 by default
    #[arg(long, value_name = "FIRST-LAST", value_parser = port_range)]
    service_node_port_range: Option<RangeInclusive<u16>>,

    /// Address, such as default/hook:443=127.0.0.1:8443, at which webhooks behind a port of a service are called; repeatable. Others are at
    /// the cluster IPs of their services
    #[arg(long, value_name = "NAMESPACE/NAME:PORT=ADDRESS", value_parser = service_address)]
    resolve_service: Vec<ServiceAddress>,

    /// Issuer of service account tokens; repeat to accept others. New tokens have the first one
    #[arg(long, value_name = "ISSUER")]
    service_account_issuer: Vec<String>,
    /// PEM file with keys, public or private, that verify service account tokens; repeatable
    #[arg(long, value_name = "FILE")]
    service_account_key_file: Vec<PathBuf>,
    /// PEM file with the private key that signs service account tokens; made at start by default
    #[arg(long, value_name = "FILE")]
    service_account_signing_key_file: Option<PathBuf>,
    /// Require that the secret of a legacy service account token still exists; true by default
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool)]
    service_account_lookup: Option<bool>,
    /// Longest lifetime of a requested service account token, such as 24h; at least 1h
    #[arg(long, value_name = "DURATION", value_parser = max_token_expiration)]
    service_account_max_token_expiration: Option<i64>,
    /// Let tokens of pods be valid for a year instead of an hour; true by default
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool)]
    service_account_extend_token_expiration: Option<bool>,
    /// Audiences of this server, separated by commas; the issuers by default
    #[arg(long, value_name = "AUDIENCES", value_delimiter = ',')]
    api_audiences: Vec<String>,

    /// Controllers to run in this process, by kube-controller-manager's names: '*' enables all, 'foo' enables foo, '-foo'
    /// disables foo. Available are namespace-controller and clusterrole-aggregation-controller, which are on by default, and
    /// serviceaccount-token, serviceaccount, root-ca-cert-publisher, legacy-service-account-token-cleaner and
    /// validatingadmissionpolicy-status-controller, which are off
    #[arg(long, value_name = "NAMES", value_delimiter = ',', allow_hyphen_values = true)]
    controllers: Vec<Choice>,
    /// Let the controller serviceaccount-token make a token secret for every service account, as up to Kubernetes 1.23;
    /// false by default
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool)]
    auto_generate_tokens: Option<bool>,

    /// Limit of concurrent requests that only read, without watches; further ones get 429. No limit by default, and with 0
    #[arg(long, value_name = "N")]
    max_requests_inflight: Option<usize>,
    /// Limit of other concurrent requests; no limit by default, and with 0
    #[arg(long, value_name = "N")]
    max_mutating_requests_inflight: Option<usize>,
    /// Limit of concurrent requests, watches included, on an HTTP/2 connection; 1000 by default, and with 0 (kube-apiserver:
    /// 100)
    #[arg(long, value_name = "N")]
    http2_max_streams_per_connection: Option<u32>,
    /// Number of connections of each port at a time; others wait until one ends. No limit by default, and with 0
    #[arg(long, value_name = "N")]
    max_connections: Option<usize>,

    #[command(flatten)]
    audit: AuditFlags,
    /// Verbosity of the log on stderr: 0 warnings, 1 information, 4 details, 6 everything
    #[arg(short, long = "v", value_name = "LEVEL", default_value_t = 0)]
    pub verbosity: u8,

    /// Write a kubeconfig for the administrator to this file, before the line that says that the server is ready
    #[arg(long, value_name = "FILE")]
    pub write_kubeconfig: Option<PathBuf>,
    /// Stop when the standard input is closed
    #[arg(long)]
    pub exit_with_stdin: bool,
    /// Number of API servers that share the objects, each with its own port and clock; 1 by default
    #[arg(long, value_name = "N")]
    replicas: Option<usize>,
    /// Offset of the clock of a replica, counted from 0, in seconds: 1=-30. Repeatable
    #[arg(long, value_name = "REPLICA=SECONDS", value_parser = clock_offset)]
    clock_offset: Vec<(usize, i64)>,
    /// Number of events that are remembered for watches and lists of the past; 10000 by default
    #[arg(long, value_name = "N")]
    history: Option<usize>,
    /// Memory of those events in bytes, beyond which the oldest are forgotten; 256 MiB by default
    #[arg(long, value_name = "BYTES")]
    history_bytes: Option<usize>,
    /// Time that each write is held before it is committed, such as 2ms, as by the storage of a real server; none by default
    #[arg(long, value_name = "DURATION", value_parser = request_timeout)]
    latency: Option<Duration>,
    /// Make uids, generated names and tokens the same on every run
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    #[command(flatten)]
    _others: Others,
    /// Called as `kube-apiserver`: its defaults, and none of the controllers of a control plane.
    #[arg(skip)]
    is_bare: bool,
}

/// The end of the help.
fn after_help() -> String {
    format!(
        "Besides: `--insecure-port=PORT` listens for plain HTTP as well, on that port and those that follow.\n\n\
         `fake-apiserver assets` makes a folder for KUBEBUILDER_ASSETS and prints it.\n\n{}",
        others::help()
    )
}

impl Flags {
    /// Whether the program is called as `kube-apiserver`.
    pub fn is_bare(&self) -> bool {
        self.is_bare
    }

    /// Parses a command line without the program's name.
    ///
    /// # Errors
    /// The program's message, on one line.
    pub fn from_arguments<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let arguments = std::iter::once("fake-apiserver").chain(arguments);
        Flags::try_parse_from(arguments).map_err(|error| one_line(&error))
    }

    /// Parses the command line of `kube-apiserver`, without the program's name, and in front of it the program's own flags, which are
    /// words in a text. On `--help` or a usage error the text is already printed.
    ///
    /// # Errors
    /// The code to exit with.
    pub fn read_bare(own: &str, arguments: Vec<OsString>) -> Result<Self, ExitCode> {
        // Where kube-apiserver knows a flag of that name no more, a plain port would be opened that was not asked for.
        let plain = arguments.iter().filter_map(|word| word.to_str()).find(|word| word.starts_with("--insecure-port"));
        if plain.is_some() {
            writeln!(std::io::stderr(), "Error: unknown flag: --insecure-port").ok();
            return Err(ExitCode::FAILURE);
        }
        if arguments.iter().any(|word| word == "--version" || word == "--version=true") {
            writeln!(std::io::stdout(), "Kubernetes {}", git_version()).ok();
            return Err(ExitCode::SUCCESS);
        }
        let own = own.split_whitespace().map(OsString::from);
        let flags = Flags::read(own.chain(arguments))?;
        Ok(Flags { is_bare: true, ..flags })
    }

    /// Parses a command line without the program's name. On `--help` or a usage error the text is already printed.
    ///
    /// # Errors
    /// The code to exit with.
    pub fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, ExitCode> {
        let arguments = std::iter::once("fake-apiserver".into()).chain(arguments);
        Flags::try_parse_from(arguments).map_err(|error| {
            // A failed write is ignored, as the exit code says the same.
            let _ = match error.use_stderr() {
                true => writeln!(std::io::stderr(), "{}", one_line(&error)),
                false => write!(std::io::stdout(), "{error}"),
            };
            if error.use_stderr() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        })
    }
}

/// clap's message without the usage.
fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let message = lines.take_while(|line| !line.starts_with("Usage: ") && !line.starts_with("For more information"));
    message
        .map(|line| if line.starts_with("tip: ") { format!("({line})") } else { line.to_string() })
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests;
