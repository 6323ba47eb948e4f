//! The flags of `controller-manager`, named as kube-controller-manager names them.

use crate::client_go::leader_election::ElectionConfig;
use crate::manager::catalogue::{Choice, Kind, is_wanted};
use clap::{ArgAction, Parser};
use jiff::SignedDuration;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Runs ported Kubernetes controllers against an API server.
#[derive(Debug, Clone, Parser)]
#[command(name = "controller-manager", version, about)]
pub struct Flags {
    /// Path to the kubeconfig of the API server. Without it: the in-cluster configuration of a pod.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// Wait for the kubeconfig until it is there, instead of ending with an error.
    #[arg(long, requires = "kubeconfig")]
    pub wait_for_kubeconfig: bool,

    /// Controllers to run: '*' enables all, 'foo' enables foo, '-foo' disables foo.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "*", allow_hyphen_values = true)]
    pub controllers: Vec<Choice>,

    /// Key to sign service account tokens with: PEM, RSA or ECDSA. Without it no such tokens are created.
    #[arg(long, value_name = "FILE")]
    pub service_account_private_key_file: Option<PathBuf>,

    /// CA bundle to publish in every token secret and, as a config map, in every namespace: PEM, taken verbatim. Without it: that of the kubeconfig.
    #[arg(long, value_name = "FILE")]
    pub root_ca_file: Option<PathBuf>,

    /// Time after which an unused legacy token is marked invalid, and after which it is then deleted.
    #[arg(long, value_name = "DURATION", default_value = "8760h", value_parser = duration)]
    pub legacy_service_account_token_clean_up_period: Duration,

    /// Number of service accounts, and of token secrets, that are synced at a time.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    pub concurrent_serviceaccount_token_syncs: u16,

    /// Create a token secret for every service account, as Kubernetes did up to 1.23.
    #[arg(long, default_value_t = true, default_missing_value = "true", num_args = 0..=1, require_equals = true)]
    #[arg(action = ArgAction::Set, value_name = "BOOL")]
    pub auto_generate_tokens: bool,

    /// HTTPS port for /healthz and /metrics. 0 serves nothing, which unlike in kube-controller-manager is the default.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub secure_port: u16,

    /// Address to serve on.
    #[arg(long, value_name = "IP", default_value = "0.0.0.0")]
    pub bind_address: IpAddr,

    /// Certificate to serve with, and its chain: PEM. Without it: a self-signed one, generated at start and not written to
    /// disk.
    #[arg(long, value_name = "FILE", requires = "tls_private_key_file")]
    pub tls_cert_file: Option<PathBuf>,

    /// Private key of that certificate: PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert_file")]
    pub tls_private_key_file: Option<PathBuf>,

    /// Paths without authorization. For others the API server is asked, with the credentials of the kubeconfig.
    #[arg(long, value_name = "PATHS", value_delimiter = ',', default_value = "/healthz,/readyz,/livez")]
    pub authorization_always_allow_paths: Vec<String>,

    /// Run controllers only while holding a Lease, so that one of several managers is active at a time.
    #[arg(long, default_value_t = true, default_missing_value = "true", num_args = 0..=1, require_equals = true)]
    #[arg(action = ArgAction::Set, value_name = "BOOL")]
    pub leader_elect: bool,

    /// Time without a renewal after which other candidates take the Lease.
    #[arg(long, value_name = "DURATION", default_value = "15s", value_parser = duration)]
    pub leader_elect_lease_duration: Duration,

    /// Time for which the leader tries to renew the Lease before it gives up.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    pub leader_elect_renew_deadline: Duration,

    /// The pause between attempts to get or renew the Lease.
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = duration)]
    pub leader_elect_retry_period: Duration,

    /// The name of the Lease. That of kube-controller-manager is kube-controller-manager: with it, only one of the two works at a time.
    #[arg(long, value_name = "NAME", default_value = "controller-manager")]
    pub leader_elect_resource_name: String,

    /// The namespace of the Lease.
    #[arg(long, value_name = "NAME", default_value = "kube-system")]
    pub leader_elect_resource_namespace: String,

    /// Verbosity of the logs: 4 and up is for debugging, 8 and up is everything.
    #[arg(short = 'v', long = "v", value_name = "LEVEL", default_value_t = 0)]
    pub verbosity: u8,
}

impl Flags {
    /// Whether the flags enable the controller.
    pub fn is_enabled(&self, kind: Kind) -> bool {
        is_wanted(kind, &self.controllers)
    }

    /// The configuration of the election with the candidate `identity`.
    pub fn election(&self, identity: String) -> ElectionConfig {
        ElectionConfig {
            identity,
            namespace: self.leader_elect_resource_namespace.clone(),
            name: self.leader_elect_resource_name.clone(),
            lease_duration: self.leader_elect_lease_duration,
            renew_deadline: self.leader_elect_renew_deadline,
            retry_period: self.leader_elect_retry_period,
            clock: crate::clock::system_clock(),
        }
    }
}

/// A Go duration like `1m30s`.
fn duration(text: &str) -> Result<Duration, String> {
    let duration: SignedDuration = text.parse().map_err(|error: jiff::Error| error.to_string())?;
    duration.try_into().map_err(|_| "must not be negative".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controllers::legacy_token_cleaner::DEFAULT_CLEAN_UP_PERIOD;

    fn parse(arguments: &[&str]) -> Result<Flags, String> {
        let arguments = std::iter::once(&"controller-manager").chain(arguments);
        Flags::try_parse_from(arguments).map_err(|error| error.to_string())
    }

    #[test]
    fn all_controllers_run_unless_told_otherwise() {
        for (arguments, enabled) in [
            (&[][..], [true, true, true, true]),
            (&["--controllers=serviceaccount-token,root-ca-cert-publisher"], [true, false, true, false]),
            (&["--controllers=*,-serviceaccount"], [true, false, true, true]),
            (&["--controllers", "-serviceaccount-token-controller"], [false; 4]),
            (&["--controllers=serviceaccount-token", "--controllers=serviceaccount"], [true, true, false, false]),
        ] {
            let flags = parse(arguments).expect("valid flags");
            assert_eq!(Kind::ALL.map(|kind| flags.is_enabled(kind)), enabled, "{arguments:?}");
        }
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (argument, named) in [
            ("--controllers=*,-deployment", r#""deployment" is not in the list of known controllers"#),
            ("--leader-elect-lease-duration=soon", "soon"),
            ("--leader-elect-lease-duration=-15s", "must not be negative"),
            ("--concurrent-serviceaccount-token-syncs=0", "concurrent-serviceaccount-token-syncs"),
            ("--legacy-service-account-token-clean-up-period=-1h", "must not be negative"),
            ("--leader-elect=perhaps", "perhaps"),
            ("--tls-cert-file=a", "--tls-private-key-file"),
            ("--cluster-cidr=10.0.0.0/8", "cluster-cidr"),
        ] {
            let error = parse(&[argument]).expect_err(argument);
            assert!(error.contains(named), "{argument}: {error}");
        }
    }

    #[test]
    fn values_are_written_as_upstream_writes_them() {
        let flags = parse(&[
            "--leader-elect=false",
            "--auto-generate-tokens=false",
            "--leader-elect-lease-duration=1m30s",
            "-v=4",
        ]);
        let flags = flags.expect("valid flags");
        assert!(!flags.leader_elect && !flags.auto_generate_tokens);
        assert_eq!(flags.leader_elect_lease_duration, Duration::from_secs(90));
        assert_eq!(flags.verbosity, 4);
        assert_eq!(
            parse(&["-v", "2", "--leader-elect"]).map(|flags| (flags.verbosity, flags.leader_elect)),
            Ok((2, true))
        );
        assert_eq!(parse(&["--v=2"]).map(|flags| flags.verbosity), Ok(2));
    }

    #[test]
    fn defaults_are_upstreams() {
        let flags = parse(&[]).expect("no flag is required");
        assert!(flags.leader_elect && flags.auto_generate_tokens);
        assert_eq!(flags.concurrent_serviceaccount_token_syncs, 5);
        assert_eq!(flags.legacy_service_account_token_clean_up_period, DEFAULT_CLEAN_UP_PERIOD);
        assert_eq!((flags.secure_port, flags.bind_address.to_string().as_str()), (0, "0.0.0.0"));
        assert_eq!(flags.authorization_always_allow_paths, ["/healthz", "/readyz", "/livez"]);
        let election = flags.election("me".into());
        assert_eq!((election.namespace.as_str(), election.name.as_str()), ("kube-system", "controller-manager"));
        let durations = [election.lease_duration, election.renew_deadline, election.retry_period];
        assert_eq!(durations.map(|duration| duration.as_secs()), [15, 10, 2]);
    }
}
