//! The flags, and the server that they describe.

use anyhow::Context;
use clap::Parser;
use controller::manager::catalogue::{Choice, Kind as Controller, is_wanted};
use fake_apiserver::internals::parse_duration;
use fake_apiserver::{AuthorizationMode, Builder, FakeApiServer, StartError};
use std::io::Write;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

const CLIENT_CA_FILE: &str = "client-ca-file";
const SERVICE_ACCOUNT_KEY_FILE: &str = "service-account-key-file";
const SIGNING_KEY_FILE: &str = "service-account-signing-key-file";
const TLS_CERT_FILE: &str = "tls-cert-file";
const TLS_PRIVATE_KEY_FILE: &str = "tls-private-key-file";
const TOKEN_AUTH_FILE: &str = "token-auth-file";

/// A kube-apiserver for tests: the real wire protocol, objects in memory, and by default everything is allowed.
#[derive(Debug, Parser)]
#[command(name = "fake-apiserver", version, max_term_width = 100)]
pub struct Flags {
    /// Address to listen on
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    bind_address: IpAddr,
    /// HTTPS port; other replicas listen on those that follow. Unlike kube-apiserver, 0 takes any free port
    #[arg(long, value_name = "PORT", default_value_t = 6443)]
    secure_port: u16,
    /// Listen for plain HTTP as well, on this port and those that follow; 0 takes any free port
    #[arg(long, value_name = "PORT")]
    insecure_port: Option<u16>,
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
    /// Serve requests without credentials as system:anonymous's instead of refusing them; true by default
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool)]
    anonymous_auth: Option<bool>,
    /// Authorizers to ask, in order, separated by commas: AlwaysAllow, the default, AlwaysDeny, RBAC, Node
    #[arg(long, value_name = "MODES", value_delimiter = ',')]
    authorization_mode: Vec<AuthorizationMode>,

    /// Allow privileged containers; true by default, unlike in kube-apiserver
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = go_bool)]
    allow_privileged: Option<bool>,
    /// Admission plugins that are on besides those that always are, separated by commas
    #[arg(long, value_name = "PLUGINS", value_delimiter = ',')]
    enable_admission_plugins: Vec<String>,
    /// Admission plugins that are off, separated by commas
    #[arg(long, value_name = "PLUGINS", value_delimiter = ',')]
    disable_admission_plugins: Vec<String>,

    /// Time limit of requests other than watches, such as 30s; 1m by default, and at most 34s for writes
    #[arg(long, value_name = "DURATION", value_parser = request_timeout)]
    request_timeout: Option<Duration>,

    /// The only gate is BoundServiceAccountTokenVolume: false lets ServiceAccount mount token secrets, as before Kubernetes
    /// 1.21
    #[arg(long, value_name = "GATE=BOOL", value_delimiter = ',', value_parser = feature_gate)]
    feature_gates: Vec<bool>,

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
    /// disables foo; none by default. Available are serviceaccount-token, serviceaccount, root-ca-cert-publisher and
    /// legacy-service-account-token-cleaner
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

    /// Append all requests to this file, one audit.k8s.io/v1 Event a line
    #[arg(long, value_name = "FILE")]
    audit_log_path: Option<PathBuf>,
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
    /// Make uids, generated names and tokens the same on every run
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl Flags {
    /// Parses a command line without the program's name.
    ///
    /// # Errors
    /// The program's message, on one line.
    pub fn from_arguments<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let arguments = std::iter::once("fake-apiserver").chain(arguments);
        Flags::try_parse_from(arguments).map_err(|error| one_line(&error))
    }

    /// Parses the command line of the process. On `--help` or a usage error the text is already printed.
    ///
    /// # Errors
    /// The code to exit with.
    pub fn read() -> Result<Self, ExitCode> {
        Flags::try_parse().map_err(|error| {
            // A failed write is ignored, as the exit code says the same.
            let _ = match error.use_stderr() {
                true => writeln!(std::io::stderr(), "{}", one_line(&error)),
                false => write!(std::io::stdout(), "{error}"),
            };
            if error.use_stderr() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        })
    }

    /// A builder of the server that the flags describe, with the builder's defaults for the others.
    ///
    /// # Errors
    /// If a file that a flag names cannot be read.
    pub fn builder(&self) -> anyhow::Result<Builder> {
        let mut builder = FakeApiServer::builder().bind_address(self.bind_address).secure_port(self.secure_port);
        if let (Some(certificate), Some(key)) = (&self.tls_cert_file, &self.tls_private_key_file) {
            builder = builder.tls_identity(read(TLS_CERT_FILE, certificate)?, read(TLS_PRIVATE_KEY_FILE, key)?);
        }
        if let Some(path) = &self.token_auth_file {
            builder = builder.add_token_file(&path.to_string_lossy(), &read(TOKEN_AUTH_FILE, path)?);
        }
        if let Some(path) = &self.client_ca_file {
            builder = builder.client_ca_pem(&read(CLIENT_CA_FILE, path)?);
        }
        for path in &self.service_account_key_file {
            builder = builder.add_service_account_key_pem(read(SERVICE_ACCOUNT_KEY_FILE, path)?.as_bytes());
        }
        if let Some(path) = &self.service_account_signing_key_file {
            builder = builder.service_account_signing_key_pem(read(SIGNING_KEY_FILE, path)?.as_bytes());
        }
        builder = builder.controllers(Controller::ALL.into_iter().filter(|name| is_wanted(*name, &self.controllers)));
        builder = given(builder, self.auto_generate_tokens, Builder::auto_generate_tokens);
        for (replica, seconds) in &self.clock_offset {
            builder = builder.clock_offset(*replica, *seconds);
        }
        builder = given(builder, self.insecure_port, Builder::insecure_port);
        builder = given(builder, self.anonymous_auth, Builder::anonymous_auth);
        builder = given(builder, listed(&self.authorization_mode), Builder::authorization_mode);
        builder = given(builder, listed(&self.service_account_issuer), Builder::service_account_issuers);
        builder = given(builder, self.service_account_lookup, Builder::service_account_lookup);
        let extend = self.service_account_extend_token_expiration;
        builder = given(builder, extend, Builder::service_account_extend_token_expiration);
        let max = self.service_account_max_token_expiration;
        builder = given(builder, max, Builder::service_account_max_token_expiration);
        builder = given(builder, listed(&self.api_audiences), Builder::api_audiences);
        builder = given(builder, self.allow_privileged, Builder::allow_privileged);
        builder = builder.enable_admission_plugins(self.enable_admission_plugins.iter().cloned());
        builder = builder.disable_admission_plugins(self.disable_admission_plugins.iter().cloned());
        builder = given(builder, self.feature_gates.last().copied(), Builder::bound_service_account_token_volume);
        builder = given(builder, self.audit_log_path.as_ref(), Builder::audit_log);
        builder = given(builder, self.max_requests_inflight, Builder::max_requests_inflight);
        builder = given(builder, self.max_mutating_requests_inflight, Builder::max_mutating_requests_inflight);
        builder = given(builder, self.http2_max_streams_per_connection, Builder::http2_max_streams_per_connection);
        builder = given(builder, self.max_connections, Builder::max_connections);
        builder = given(builder, self.replicas, Builder::replicas);
        builder = given(builder, self.history, Builder::history);
        builder = given(builder, self.request_timeout, Builder::request_timeout);
        builder = given(builder, self.history_bytes, Builder::history_bytes);
        Ok(given(builder, self.seed, Builder::seed))
    }

    /// Starts the server that the flags describe.
    ///
    /// # Errors
    /// Those of [`builder`](Self::builder) and [`Builder::start`]; those about a file name it and its flag.
    pub async fn start(&self) -> anyhow::Result<FakeApiServer> {
        self.builder()?.start().await.map_err(|error| match self.culprit(&error) {
            Some((flag, path)) => anyhow::Error::new(error).context(format!("--{flag} {}", path.display())),
            None => error.into(),
        })
    }

    /// The flag and the file that an error is about.
    fn culprit(&self, error: &StartError) -> Option<(&'static str, &Path)> {
        let (flag, path) = match error {
            StartError::ClientAuthorities(_) => (CLIENT_CA_FILE, self.client_ca_file.as_ref()),
            StartError::ServiceAccountKey { index, .. } => {
                (SERVICE_ACCOUNT_KEY_FILE, self.service_account_key_file.get(*index))
            }
            StartError::ServiceAccountSigningKey(_) => {
                (SIGNING_KEY_FILE, self.service_account_signing_key_file.as_ref())
            }
            _ => return None,
        };
        Some((flag, path?))
    }
}

fn given<T>(builder: Builder, value: Option<T>, set: impl FnOnce(Builder, T) -> Builder) -> Builder {
    match value {
        Some(value) => set(builder, value),
        None => builder,
    }
}

fn listed<T: Clone>(values: &[T]) -> Option<Vec<T>> {
    (!values.is_empty()).then(|| values.to_vec())
}

fn read(flag: &str, path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("unable to read --{flag} {}", path.display()))
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

/// `strconv.ParseBool`.
fn go_bool(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("neither true nor false".into()),
    }
}

/// The value of the only feature gate.
fn feature_gate(text: &str) -> Result<bool, String> {
    match text.split_once('=') {
        Some(("BoundServiceAccountTokenVolume", value)) => go_bool(value),
        Some((gate, _)) => Err(format!("fake-apiserver does not have the feature gate {gate}")),
        None => Err("not GATE=BOOL".into()),
    }
}

/// Parses a duration to seconds, within kube-apiserver's bounds; 0 is no limit.
fn max_token_expiration(text: &str) -> Result<i64, String> {
    let duration = parse_duration(text).ok().filter(|_| !text.starts_with('-')).ok_or("not a duration such as 24h")?;
    match i64::try_from(duration.as_secs()) {
        Ok(seconds @ (0 | 3600..=0x1_0000_0000)) => Ok(seconds),
        _ => Err("must be between 1 hour and 2^32 seconds".into()),
    }
}

fn request_timeout(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok().filter(|time| !time.is_zero()).ok_or_else(|| "not a duration such as 30s".into())
}

fn clock_offset(text: &str) -> Result<(usize, i64), String> {
    let (replica, seconds) = text.split_once('=').ok_or("not REPLICA=SECONDS, such as 1=-30")?;
    let replica = replica.parse().map_err(|_| "the replica is not a number from 0 on")?;
    let seconds = seconds.parse().map_err(|_| "the offset is not a number of seconds")?;
    Ok((replica, seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Flags, String> {
        Flags::from_arguments(arguments.iter().copied())
    }

    #[test]
    fn no_flags() {
        let flags = parse(&[]).unwrap();
        assert_eq!((flags.bind_address.to_string().as_str(), flags.secure_port), ("127.0.0.1", 6443));
        assert_eq!((flags.anonymous_auth, flags.replicas, flags.verbosity), (None, None, 0));
    }

    #[test]
    fn spelled_as_for_kube_apiserver() {
        for (argument, expected) in [
            ("--anonymous-auth", Some(true)),
            ("--anonymous-auth=true", Some(true)),
            ("--anonymous-auth=false", Some(false)),
            ("--anonymous-auth=0", Some(false)),
            ("--anonymous-auth=T", Some(true)),
        ] {
            assert_eq!(parse(&[argument]).unwrap().anonymous_auth, expected, "{argument}");
        }
        for arguments in [&["-v", "4"][..], &["-v4"], &["-v=4"], &["--v=4"], &["--v", "4"]] {
            assert_eq!(parse(arguments).unwrap().verbosity, 4, "{arguments:?}");
        }
        for (text, expected) in [("1h", 3600), ("24h", 86_400), ("1h30m", 5400), ("0", 0)] {
            let flags = parse(&["--service-account-max-token-expiration", text]).unwrap();
            assert_eq!(flags.service_account_max_token_expiration, Some(expected), "{text}");
        }
        let flags = parse(&["--service-account-issuer=https://a", "--service-account-issuer", "b,c"]).unwrap();
        assert_eq!(flags.service_account_issuer, ["https://a", "b,c"]);
        assert_eq!(parse(&["--api-audiences=a,b", "--api-audiences=c"]).unwrap().api_audiences, ["a", "b", "c"]);
        let flags = parse(&["--clock-offset=0=-30", "--clock-offset", "1=+7"]).unwrap();
        assert_eq!(flags.clock_offset, [(0, -30), (1, 7)]);
        for arguments in
            [&["--authorization-mode=AlwaysDeny,AlwaysAllow"][..], &["--authorization-mode", "AlwaysDeny,AlwaysAllow"]]
        {
            let modes = parse(arguments).unwrap().authorization_mode;
            assert_eq!(modes, [AuthorizationMode::AlwaysDeny, AuthorizationMode::AlwaysAllow]);
        }
    }

    #[test]
    fn refusals_are_one_line() {
        const MODES: &str = "for '--authorization-mode <MODES>': authorization-mode";
        const EXPIRATION: &str = "for '--service-account-max-token-expiration <DURATION>'";
        for (argument, expected) in [
            ("--foo", "error: unexpected argument '--foo' found".to_string()),
            (
                "--secure-prt=1",
                "error: unexpected argument '--secure-prt' found (tip: a similar argument exists: '--secure-port')"
                    .to_string(),
            ),
            (
                "--secure-port=x",
                "error: invalid value 'x' for '--secure-port <PORT>': invalid digit found in string".into(),
            ),
            (
                "--anonymous-auth=maybe",
                "error: invalid value 'maybe' for '--anonymous-auth[=<BOOL>]': neither true nor false".into(),
            ),
            (
                "--authorization-mode=AlwaysAllow,ABAC",
                format!("error: invalid value 'ABAC' {MODES} \"ABAC\" is not supported by fake-apiserver"),
            ),
            ("--authorization-mode=rbac", format!("error: invalid value 'rbac' {MODES} \"rbac\" is not a valid mode")),
            (
                "--tls-cert-file=x",
                "error: the following required arguments were not provided: --tls-private-key-file <FILE>".into(),
            ),
            (
                "--feature-gates=BoundServiceAccountTokenVolume=false,Foo=true",
                "error: invalid value 'Foo=true' for '--feature-gates <GATE=BOOL>': \
                 fake-apiserver does not have the feature gate Foo"
                    .into(),
            ),
            (
                "--service-account-max-token-expiration=5m",
                format!("error: invalid value '5m' {EXPIRATION}: must be between 1 hour and 2^32 seconds"),
            ),
            (
                "--service-account-max-token-expiration=-1h",
                format!("error: invalid value '-1h' {EXPIRATION}: not a duration such as 24h"),
            ),
            (
                "--request-timeout=-1s",
                "error: invalid value '-1s' for '--request-timeout <DURATION>': not a duration such as 30s".into(),
            ),
            (
                "--clock-offset=1",
                "error: invalid value '1' for '--clock-offset <REPLICA=SECONDS>': not REPLICA=SECONDS, such as 1=-30"
                    .into(),
            ),
        ] {
            assert_eq!(parse(&[argument]).err(), Some(expected), "{argument}");
        }
    }

    #[tokio::test]
    async fn plugins_that_there_are_not() {
        let flags = parse(&["--enable-admission-plugins=ServiceAccount,AlwaysDeny"]).unwrap();
        let error = flags.builder().unwrap().start().await.err().unwrap();
        assert_eq!(error.to_string(), "fake-apiserver does not have the admission plugin AlwaysDeny");
    }

    #[test]
    fn files_that_cannot_be_read() {
        let error = parse(&["--token-auth-file=/nope/tokens.csv"]).unwrap().builder().err().unwrap();
        assert_eq!(
            format!("{error:#}"),
            "unable to read --token-auth-file /nope/tokens.csv: No such file or directory (os error 2)"
        );
    }
}
