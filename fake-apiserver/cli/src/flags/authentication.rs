//! The flags of the authenticators that ask others: kube-apiserver's, in a table.

use super::option::{self, Flag, USERS, duration, given, line, list, pair, path, text};
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use fake_apiserver::AuthenticationOptions;

#[rustfmt::skip]
const FLAGS: [Flag<AuthenticationOptions>; 19] = [
    Flag { name: "authentication-config", value: "FILE", help: "YAML file with the issuers whose tokens are good, and whether anonymous requests are served, an AuthenticationConfiguration of apiserver.config.k8s.io; it is read again when it changes", set: |o, v| path(&mut o.config_file, v) },
    Flag { name: "oidc-issuer-url", value: "URL", help: "Issuer whose tokens are good", set: |o, v| given(&mut o.oidc.issuer_url, v, text) },
    Flag { name: "oidc-client-id", value: "AUDIENCE", help: "Audience of these tokens", set: |o, v| given(&mut o.oidc.client_id, v, text) },
    Flag { name: "oidc-ca-file", value: "FILE", help: "PEM file with the authorities that vouch for the issuer; those of the system by default", set: |o, v| path(&mut o.oidc.ca_file, v) },
    Flag { name: "oidc-username-claim", value: "CLAIM", help: "Claim that is the name of the user; sub by default", set: |o, v| given(&mut o.oidc.username_claim, v, text) },
    Flag { name: "oidc-username-prefix", value: "TEXT", help: "Text before that name; by default the URL of the issuer and #, unless the claim is email; - for nothing", set: |o, v| given(&mut o.oidc.username_prefix, v, text) },
    Flag { name: "oidc-groups-claim", value: "CLAIM", help: "Claim with the groups of the user", set: |o, v| given(&mut o.oidc.groups_claim, v, text) },
    Flag { name: "oidc-groups-prefix", value: "TEXT", help: "Text before each of them", set: |o, v| given(&mut o.oidc.groups_prefix, v, text) },
    Flag { name: "oidc-signing-algs", value: "NAMES", help: "Algorithms that the tokens may be signed with, separated by commas; RS256 by default", set: |o, v| given(&mut o.oidc.signing_algorithms, v, list) },
    Flag { name: "oidc-required-claim", value: "CLAIM=VALUE", help: "Claim that a token must have with that value; repeatable", set: |o, v| pair(&mut o.oidc.required_claims, v) },
    Flag { name: "authentication-token-webhook-config-file", value: "FILE", help: "Kubeconfig that names a webhook, which is asked about tokens that nobody else knows", set: |o, v| path(&mut o.webhook.config_file, v) },
    Flag { name: "authentication-token-webhook-version", value: "VERSION", help: "Version of the TokenReviews that it is sent: v1beta1, the default, or v1", set: |o, v| text(&mut o.webhook.version, v) },
    Flag { name: "authentication-token-webhook-cache-ttl", value: "DURATION", help: "Time for which its answers are kept; 2m by default", set: |o, v| duration(&mut o.webhook.cache_ttl, v) },
    Flag { name: "requestheader-client-ca-file", value: "FILE", help: "PEM file with authorities of the certificates of front proxies, which say in headers who makes a request", set: |o, v| path(&mut o.front_proxy.client_ca_file, v) },
    Flag { name: "requestheader-allowed-names", value: "NAMES", help: "Common names of the certificates of front proxies, separated by commas; any by default", set: |o, v| line(&mut o.front_proxy.allowed_names, v) },
    Flag { name: "requestheader-username-headers", value: "HEADERS", help: "Headers with the name of the user, such as X-Remote-User", set: |o, v| line(&mut o.front_proxy.username_headers, v) },
    Flag { name: "requestheader-uid-headers", value: "HEADERS", help: "Headers with the uid of the user, X-Remote-Uid among them", set: |o, v| line(&mut o.front_proxy.uid_headers, v) },
    Flag { name: "requestheader-group-headers", value: "HEADERS", help: "Headers with groups of the user, such as X-Remote-Group", set: |o, v| line(&mut o.front_proxy.group_headers, v) },
    Flag { name: "requestheader-extra-headers-prefix", value: "PREFIXES", help: "Beginnings of headers with other attributes of the user, such as X-Remote-Extra-", set: |o, v| line(&mut o.front_proxy.extra_headers_prefix, v) },
];

/// The options that the flags set, as an argument group of clap.
#[derive(Debug, Clone, Default)]
pub(super) struct AuthenticationFlags {
    pub(super) options: AuthenticationOptions,
}

impl Args for AuthenticationFlags {
    fn augment_args(command: Command) -> Command {
        command.args(FLAGS.iter().map(|flag| flag.argument().help_heading(USERS)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for AuthenticationFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut flags = AuthenticationFlags::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        option::set_all(&FLAGS, matches, &mut self.options)
    }
}
