//! The flags of the authenticators that ask others: kube-apiserver's, in a table.

use super::option::{self, Flag, duration, path, text};
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use fake_apiserver::AuthenticationOptions;

#[rustfmt::skip]
const FLAGS: [Flag<AuthenticationOptions>; 3] = [
    Flag { name: "authentication-token-webhook-config-file", value: "FILE", help: "Kubeconfig that names a webhook, which is asked about tokens that nobody else knows", set: |o, v| path(&mut o.webhook.config_file, v) },
    Flag { name: "authentication-token-webhook-version", value: "VERSION", help: "Version of the TokenReviews that it is sent: v1beta1, the default, or v1", set: |o, v| text(&mut o.webhook.version, v) },
    Flag { name: "authentication-token-webhook-cache-ttl", value: "DURATION", help: "Time for which its answers are kept; 2m by default", set: |o, v| duration(&mut o.webhook.cache_ttl, v) },
];

/// The options that the flags set, as an argument group of clap.
#[derive(Debug, Clone, Default)]
pub(super) struct AuthenticationFlags {
    pub(super) options: AuthenticationOptions,
}

impl Args for AuthenticationFlags {
    fn augment_args(command: Command) -> Command {
        command.args(FLAGS.iter().map(|flag| flag.argument().help_heading(super::USERS)))
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
