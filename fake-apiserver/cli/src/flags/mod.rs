//! The flags: kube-apiserver's, and a few of a test server's own.

mod audit;
mod authentication;
mod authorization;
mod bare;
mod build;
mod control;
mod controllers;
mod csv;
mod endpoints;
mod gates;
mod given;
mod go_values;
mod option;
mod others;
mod pflag;
mod shell;
mod table;
mod told;
mod values;

pub use bare::OWN_FLAGS;

use crate::errors;
use ::control::recording::Moment;
use audit::AuditFlags;
use authentication::AuthenticationFlags;
use authorization::AuthorizationFlags;
use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser};
use clap_complete::Shell;
use control::ControlFlags;
use controllers::Choice;
use fake_apiserver::{AuthorizationMode, Controller, PodRules, git_version};
use gates::Setting;
use option::USERS;
use others::Others;
use std::ffi::OsString;
use std::io::Write;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::LazyLock;
use std::time::Duration;
use values::{
    Listed, ServiceAddress, clock_offset, go_bool, listed, max_token_expiration, port_range, request_timeout,
    runtime_config, service_address, transport_security,
};

/// The forms of the command.
const USAGE: &str = "fake-apiserver [FLAGS]\n       fake-apiserver run [FLAGS] -- COMMAND    run a command beside a server\n       fake-apiserver ensure [--seed SEED]    a cluster of its own for each test process\n       fake-apiserver check -f FILES    would a cluster admit these objects?\n       fake-apiserver capture -o FILE    read what decides about that in a cluster\n       fake-apiserver test FOLDER    tests of policies\n       fake-apiserver report FILE    draw a recorded run, as a page of HTML\n       fake-apiserver replay FILE --at MOMENT [FLAGS]    serve the objects of a moment of it\n       fake-apiserver cover FILES    what have tests never tried?\n       fake-apiserver assets [FLAGS]    make the folder for KUBEBUILDER_ASSETS\n       fake-apiserver completion bash | zsh | fish\n       fake-apiserver help | version";

/// The headings of the help.
const FIRST: &str = "Used most";
const SERVING: &str = "Serving";
const API: &str = "What is served";
const TOKENS: &str = "Tokens of service accounts";
const LIMITS: &str = "Limits and time";

/// A kube-apiserver for tests: the real wire protocol, objects in memory, and by default everything is allowed.
#[derive(Debug, Parser)]
#[command(name = "fake-apiserver", version = VERSION.as_str(), max_term_width = 100, override_usage = USAGE, args_override_self = true, after_help = after_help())]
pub struct Flags {
    /// Write a kubeconfig for the administrator to this file, before the line that says that the server is ready
    #[arg(help_heading = FIRST, long, value_name = "FILE")]
    pub write_kubeconfig: Option<PathBuf>,
    /// HTTPS port; other replicas listen on those that follow. Unlike kube-apiserver, 0 takes any free port
    #[arg(help_heading = FIRST, long, value_name = "PORT", default_value_t = 6443)]
    secure_port: u16,
    /// Authorizers to ask, in order, separated by commas: AlwaysAllow, the default, AlwaysDeny, RBAC, Node, ABAC, Webhook
    #[arg(help_heading = FIRST, long, value_name = "MODES", value_delimiter = ',')]
    authorization_mode: Vec<AuthorizationMode>,
    /// Admission plugins that are on besides those that are by default, separated by commas
    #[arg(help_heading = FIRST, long, value_name = "PLUGINS", value_delimiter = ',')]
    enable_admission_plugins: Vec<String>,
    /// Controllers to run in this process, by kube-controller-manager's names: '*' enables all that are built and not disabled by default there,
    /// 'foo' enables foo, '-foo' disables foo. By default namespace-controller and clusterrole-aggregation-controller are on
    #[arg(help_heading = FIRST, long, value_name = "NAMES", value_delimiter = ',', allow_hyphen_values = true)]
    controllers: Vec<Choice>,
    /// Live as a real cluster does: all controllers that are built, kube-scheduler and kubelet, but for those that --controllers disables
    #[arg(help_heading = FIRST, long)]
    like_a_cluster: bool,
    /// Rules by which pods run: 'app=web: ready after 2s; image=*:bad: ImagePullBackOff; job/*: fail 1 of 3'; by default they are ready at once
    #[arg(help_heading = FIRST, long, value_name = "RULES")]
    pods: Option<PodRules>,
    /// YAML file with Stage objects of kwok, by which nodes, and the pods that no rule is about, go through their lives if the kubelet runs
    #[arg(help_heading = FIRST, long, value_name = "FILE")]
    stages: Option<PathBuf>,
    /// Nodes that the kubelet registers, separated by commas; node-1 by default
    #[arg(help_heading = FIRST, long, value_name = "NAMES", value_delimiter = ',')]
    nodes: Vec<String>,
    /// PEM file with the authority by which certificatesigningrequest-signing-controller signs; made at start by default, and then a client CA
    #[arg(help_heading = FIRST, long, value_name = "FILE", requires = "cluster_signing_key_file")]
    cluster_signing_cert_file: Option<PathBuf>,
    /// PEM file with its private key
    #[arg(help_heading = FIRST, long, value_name = "FILE", requires = "cluster_signing_cert_file")]
    cluster_signing_key_file: Option<PathBuf>,
    /// CSV file with bearer tokens: token,user,uid,"group1,group2"
    #[arg(help_heading = FIRST, long, value_name = "FILE")]
    token_auth_file: Option<PathBuf>,
    /// Number of API servers that share the objects, each with its own port and clock; 1 by default
    #[arg(help_heading = FIRST, long, value_name = "N")]
    replicas: Option<usize>,
    /// Make uids, generated names and tokens the same on every run
    #[arg(help_heading = FIRST, long, value_name = "N")]
    seed: Option<u64>,
    /// Verbosity of the log on stderr: 0 warnings, 1 what it does, 3 a line a request, 4 details, 6 everything
    #[arg(help_heading = FIRST, short, long = "v", value_name = "LEVEL", default_value_t = 0)]
    pub verbosity: u32,

    /// Address to listen on
    #[arg(help_heading = SERVING, long, value_name = "IP", default_value = "127.0.0.1")]
    bind_address: IpAddr,
    /// Listen for plain HTTP as well, on this port and those that follow; 0 takes any free port. Told of at the end of the help:
    /// envtest takes a program for an older kube-apiserver, with a plain port, if it is listed.
    #[arg(help_heading = SERVING, long, value_name = "PORT", hide = true)]
    insecure_port: Option<u16>,
    /// Folder with the serving certificate: apiserver.crt and apiserver.key, which are made there if there are none
    #[arg(help_heading = SERVING, long, value_name = "FOLDER")]
    pub cert_dir: Option<PathBuf>,
    /// PEM file with the serving certificate and its chain; made at start by default
    #[arg(help_heading = SERVING, long, value_name = "FILE", requires = "tls_private_key_file")]
    tls_cert_file: Option<PathBuf>,
    /// PEM file with the private key of the serving certificate
    #[arg(help_heading = SERVING, long, value_name = "FILE", requires = "tls_cert_file")]
    tls_private_key_file: Option<PathBuf>,
    /// Names and addresses in the serving certificate that is made at start, besides the usual ones; repeatable
    #[arg(help_heading = SERVING, long, value_name = "NAME")]
    tls_san: Vec<String>,
    /// Address by which others reach the server: in that certificate, in the endpoints of the service kubernetes, and in kubeconfigs
    #[arg(help_heading = SERVING, long, value_name = "IP")]
    advertise_address: Option<IpAddr>,
    /// Who writes the endpoints of the service kubernetes: lease, the default, or master-count, this server; none, nobody
    #[arg(help_heading = SERVING, long, value_name = "TYPE")]
    endpoint_reconciler_type: Option<String>,
    /// Name by which others reach the server: in that certificate, in discovery, and in kubeconfigs
    #[arg(help_heading = SERVING, long, value_name = "NAME")]
    external_hostname: Option<String>,
    /// Directives of the header Strict-Transport-Security, separated by commas: max-age=SECONDS, includeSubDomains, preload
    #[arg(help_heading = SERVING, long, value_name = "DIRECTIVES", value_delimiter = ',', value_parser = transport_security)]
    strict_transport_security_directives: Vec<String>,
    /// Origins of web pages elsewhere that may use the server (CORS), separated by commas: regular expressions that have ^ or // and $ or :, such as
    /// ^https://example\.com(:|$)
    #[arg(help_heading = SERVING, long, value_name = "EXPRESSIONS", value_parser = listed)]
    cors_allowed_origins: Vec<Listed>,
    /// Part of the HTTP/2 requests after which the client is told to open another connection (GOAWAY), from 0, the default, to 0.02
    #[arg(help_heading = SERVING, long, value_name = "CHANCE")]
    goaway_chance: Option<f64>,
    /// URL of an `etcd` of `fake-apiserver assets`, which keeps the objects while no server runs
    #[arg(help_heading = SERVING, long, value_name = "URL", value_delimiter = ',')]
    pub etcd_servers: Vec<String>,
    /// Name under which it keeps them; /registry by default
    #[arg(help_heading = SERVING, long, value_name = "PREFIX")]
    pub etcd_prefix: Option<String>,
    /// Begin with the objects of a cluster, from the file that `fake-apiserver capture` has written, with their uids, revisions and statuses
    #[arg(help_heading = SERVING, long, value_name = "FILE")]
    load: Option<PathBuf>,
    /// Stop when the standard input is closed
    #[arg(help_heading = SERVING, long)]
    pub exit_with_stdin: bool,
    /// Stop when the process ends that started this one
    #[arg(help_heading = SERVING, long)]
    pub exit_with_parent: bool,

    /// PEM file with authorities of client certificates: the common name is the user, organizations are the groups
    #[arg(help_heading = USERS, long, value_name = "FILE")]
    client_ca_file: Option<PathBuf>,
    /// Serve requests without credentials as system:anonymous's instead of refusing them; true by default, unless the modes of authorization are given, with AlwaysAllow among them
    #[arg(help_heading = USERS, long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool)]
    anonymous_auth: Option<bool>,
    /// Allow privileged containers; true by default, unlike in kube-apiserver
    #[arg(help_heading = USERS, long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool)]
    allow_privileged: Option<bool>,
    /// Admission plugins that are off, separated by commas
    #[arg(help_heading = USERS, long, value_name = "PLUGINS", value_delimiter = ',')]
    disable_admission_plugins: Vec<String>,
    /// YAML file with the configurations of admission plugins, an AdmissionConfiguration of apiserver.config.k8s.io/v1
    #[arg(help_heading = USERS, long, value_name = "FILE")]
    admission_control_config_file: Option<PathBuf>,

    /// Versions and resources to serve or not: group/version=BOOL, group/version/resource=BOOL, and for many versions at once
    /// api/all, api/ga, api/beta, api/alpha; all that there are by default, which are no alpha and beta versions
    #[arg(help_heading = API, long, value_name = "KEY=BOOL", value_delimiter = ',', value_parser = runtime_config)]
    runtime_config: Vec<(String, String)>,
    /// Feature gates of kube-apiserver, with their defaults; and BoundServiceAccountTokenVolume: false lets ServiceAccount
    /// mount token secrets, as before Kubernetes 1.21
    #[arg(help_heading = API, long, value_name = "GATE=BOOL", value_delimiter = ',', value_parser = gates::setting)]
    feature_gates: Vec<Setting>,
    /// Time limit of requests other than watches, such as 30s; 1m by default, and at most 34s for writes
    #[arg(help_heading = API, long, value_name = "DURATION", value_parser = request_timeout)]
    request_timeout: Option<Duration>,
    /// Range of the cluster IPs of services, or two, one of each family, separated by a comma; 10.0.0.0/24 by default
    #[arg(help_heading = API, long, value_name = "CIDRS")]
    service_cluster_ip_range: Option<String>,
    /// Range of the node ports of services; 30000-32767 by default
    #[arg(help_heading = API, long, value_name = "FIRST-LAST", value_parser = port_range)]
    service_node_port_range: Option<RangeInclusive<u16>>,
    /// Address, such as default/hook:443=127.0.0.1:8443, at which webhooks, and API servers of API services, are found that are behind a port
    /// of a service; repeatable. Others are at the cluster IPs of their services
    #[arg(help_heading = API, long, value_name = "NAMESPACE/NAME:PORT=ADDRESS", value_parser = service_address)]
    resolve_service: Vec<ServiceAddress>,
    /// Certificate by which API servers that extend this one know it, in a file; with --proxy-client-key-file
    #[arg(help_heading = API, long, value_name = "FILE", requires = "proxy_client_key_file")]
    proxy_client_cert_file: Option<PathBuf>,
    /// Key of that certificate, in a file
    #[arg(help_heading = API, long, value_name = "FILE", requires = "proxy_client_cert_file")]
    proxy_client_key_file: Option<PathBuf>,

    /// Issuer of service account tokens; repeat to accept others. New tokens have the first one
    #[arg(help_heading = TOKENS, long, value_name = "ISSUER")]
    service_account_issuer: Vec<String>,
    /// PEM file with keys, public or private, that verify service account tokens; repeatable
    #[arg(help_heading = TOKENS, long, value_name = "FILE")]
    service_account_key_file: Vec<PathBuf>,
    /// PEM file with the private key that signs service account tokens; made at start by default
    #[arg(help_heading = TOKENS, long, value_name = "FILE")]
    service_account_signing_key_file: Option<PathBuf>,
    /// Require that the secret of a legacy service account token still exists; true by default
    #[arg(help_heading = TOKENS, long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool)]
    service_account_lookup: Option<bool>,
    /// Longest lifetime of a requested service account token, such as 24h; at least 1h
    #[arg(help_heading = TOKENS, long, value_name = "DURATION", value_parser = max_token_expiration)]
    service_account_max_token_expiration: Option<i64>,
    /// Let tokens of pods be valid for a year instead of an hour; true by default
    #[arg(help_heading = TOKENS, long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool)]
    service_account_extend_token_expiration: Option<bool>,
    /// Audiences of this server, separated by commas; the issuers by default
    #[arg(help_heading = TOKENS, long, value_name = "AUDIENCES", value_delimiter = ',')]
    api_audiences: Vec<String>,
    /// Let the controller serviceaccount-token make a token secret for every service account, as up to Kubernetes 1.23;
    /// false by default
    #[arg(help_heading = TOKENS, long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool)]
    auto_generate_tokens: Option<bool>,

    /// Seconds after which a watch that asks for no end is ended, at the earliest; it may last twice as long. 1800 by default
    #[arg(help_heading = LIMITS, long, value_name = "SECONDS")]
    min_request_timeout: Option<u32>,
    /// Let flow schemas and priority levels decide which requests are served at once, which wait, and which get 429; true by default.
    /// The seats that the levels share are then the sum of --max-requests-inflight and --max-mutating-requests-inflight
    #[arg(help_heading = LIMITS, long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool)]
    enable_priority_and_fairness: Option<bool>,
    /// Limit of concurrent requests that only read, without watches; further ones get 429. 400 by default; without priority and
    /// fairness 0 means no limit
    #[arg(help_heading = LIMITS, long, value_name = "N")]
    max_requests_inflight: Option<usize>,
    /// Limit of other concurrent requests; 200 by default
    #[arg(help_heading = LIMITS, long, value_name = "N")]
    max_mutating_requests_inflight: Option<usize>,
    /// Limit of concurrent requests, watches included, on an HTTP/2 connection; 1000 by default, and with 0 (kube-apiserver:
    /// 100)
    #[arg(help_heading = LIMITS, long, value_name = "N")]
    http2_max_streams_per_connection: Option<u32>,
    /// Values that a label of a metric may have, such as apiserver_request_total,code=200,201; others are shown as unexpected; repeatable
    #[arg(help_heading = LIMITS, long, value_name = "METRIC,LABEL=VALUES")]
    allow_metric_labels: Vec<String>,
    /// Number of connections of each port at a time; others wait until one ends. No limit by default, and with 0
    #[arg(help_heading = LIMITS, long, value_name = "N")]
    max_connections: Option<usize>,
    /// Number of events that are remembered for watches and lists of the past; 10000 by default
    #[arg(help_heading = LIMITS, long, value_name = "N")]
    history: Option<usize>,
    /// Memory of those events in bytes, beyond which the oldest are forgotten; 256 MiB by default
    #[arg(help_heading = LIMITS, long, value_name = "BYTES")]
    history_bytes: Option<usize>,
    /// Offset of the clock of a replica, counted from 0, such as 1=-30s or 0=2m; a number is one of
    /// seconds. Repeatable
    #[arg(help_heading = LIMITS, long, value_name = "REPLICA=DURATION", value_parser = clock_offset)]
    clock_offset: Vec<(usize, i64)>,
    /// Time that each write is held before it is committed, such as 2ms, as by the storage of a real
    /// server; none by default
    #[arg(help_heading = LIMITS, long, value_name = "DURATION", value_parser = request_timeout)]
    latency: Option<Duration>,

    /// The flags of the control port.
    #[command(flatten)]
    pub control: ControlFlags,
    #[command(flatten)]
    authentication: AuthenticationFlags,
    #[command(flatten)]
    authorization: AuthorizationFlags,
    #[command(flatten)]
    audit: AuditFlags,
    /// List the flags of kube-apiserver that are accepted without an effect, or refused
    #[arg(long)]
    help_flags: bool,
    #[command(flatten)]
    _others: Others,
    /// Called as `kube-apiserver`: its defaults, and none of the controllers of a control plane.
    #[arg(skip)]
    is_bare: bool,
    /// The moment that the server begins with.
    #[arg(skip)]
    replayed: Option<Moment>,
    /// The words that were given for each flag.
    #[arg(skip)]
    given: given::Given,
}

/// The program's version, the emulated one and, if the build knew it, the commit.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let commit = option_env!("FAKE_APISERVER_COMMIT").map(|commit| format!(", commit {commit}")).unwrap_or_default();
    format!("{} (Kubernetes {}{commit})", env!("CARGO_PKG_VERSION"), git_version())
});

/// The end of the help.
fn after_help() -> String {
    format!(
        "Besides: `--insecure-port=PORT` listens for plain HTTP as well, on that port and those that follow. `--help-flags` lists the flags of \
         kube-apiserver that have no effect or are refused.\n\n\
         Called as `kube-apiserver`, the program is one with that program's defaults and messages, and reads flags of its own from {OWN_FLAGS}."
    )
}

impl Flags {
    /// The choice of controllers.
    fn choices(&self) -> Vec<Choice> {
        let of_cluster = [Choice::All, Choice::With(Controller::Scheduler), Choice::With(Controller::Kubelet)];
        let of_cluster = of_cluster.into_iter().filter(|_| self.like_a_cluster);
        self.controllers.iter().copied().chain(of_cluster).collect()
    }

    /// The same server, but it begins with a recorded moment, at which its clock stands still.
    ///
    /// # Errors
    /// If a flag says something else about that.
    pub fn replaying(mut self, moment: Moment) -> Result<Self, String> {
        let others = [
            (self.control.has_clock(), "--clock"),
            (self.load.is_some(), "--load"),
            (!self.etcd_servers.is_empty(), "--etcd-servers"),
        ];
        if let Some((_, flag)) = others.into_iter().find(|(given, _)| *given) {
            return Err(format!(
                "{flag} does not go with a replay, which has the objects and the clock of a recorded moment"
            ));
        }
        self.replayed = Some(moment);
        Ok(self)
    }

    /// Whether the program is called as `kube-apiserver`.
    pub fn is_bare(&self) -> bool {
        self.is_bare
    }

    /// The script by which a shell completes command lines: bash, zsh or fish.
    ///
    /// # Errors
    /// If there is none for that shell.
    pub fn completion(shell: &str) -> Result<Vec<u8>, String> {
        let generator = match shell {
            "bash" => Shell::Bash,
            "zsh" => Shell::Zsh,
            "fish" => Shell::Fish,
            _ => return Err(format!("no completion for the shell {shell:?}: there are bash, zsh and fish")),
        };
        let mut script = Vec::new();
        clap_complete::generate(generator, &mut Flags::command(), "fake-apiserver", &mut script);
        Ok(script)
    }

    /// Parses a command line without the program's name.
    ///
    /// # Errors
    /// The program's message, on one line.
    pub fn from_arguments<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let arguments = std::iter::once("fake-apiserver").chain(arguments);
        Flags::parse_words(arguments).map_err(|error| one_line(&error))
    }

    /// Parses a command line with the program's name.
    fn parse_words<W: Into<OsString> + Clone>(words: impl IntoIterator<Item = W>) -> Result<Self, clap::Error> {
        let mut matches = Flags::command().try_get_matches_from(words)?;
        let given = given::given(&Flags::command(), &matches);
        let flags = Flags::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut Flags::command()))?;
        Ok(Flags { given, ..flags })
    }

    /// Parses a command line without the program's name. On `--help` or a usage error the text is already printed.
    ///
    /// # Errors
    /// The code to exit with.
    pub fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, ExitCode> {
        let arguments = std::iter::once("fake-apiserver".into()).chain(arguments);
        // A failed write is ignored, as the exit code says the same.
        match Flags::parse_words(arguments) {
            Ok(flags) if flags.help_flags => {
                write!(std::io::stdout(), "{}", others::help()).ok();
                Err(ExitCode::SUCCESS)
            }
            Ok(flags) => Ok(flags),
            Err(error) if error.use_stderr() => {
                let (message, tip) = parts(&error);
                errors::print(message.trim_start_matches("error: "), tip.as_deref());
                Err(ExitCode::FAILURE)
            }
            Err(error) => {
                write!(std::io::stdout(), "{error}").ok();
                Err(ExitCode::SUCCESS)
            }
        }
    }
}

/// clap's message without the usage, and what to do next.
fn parts(error: &clap::Error) -> (String, Option<String>) {
    let line = one_line(error);
    match line.split_once(" (tip: ") {
        Some((message, tips)) => {
            let tips = tips.trim_end_matches(')').replace(") (tip: ", "; ");
            (message.to_owned(), Some(tips))
        }
        None if error.kind() == ErrorKind::UnknownArgument => (
            line,
            Some("--help lists the flags, and --help-flags those of kube-apiserver without an effect".to_owned()),
        ),
        None => (line, None),
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
mod configurations;
#[cfg(test)]
mod tests;
