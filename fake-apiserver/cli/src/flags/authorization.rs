//! The flags of authorization besides the modes: kube-apiserver's, in a table.

use super::option::{self, Flag, USERS, duration, given, path, text};
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use fake_apiserver::AuthorizationOptions;

#[rustfmt::skip]
const FLAGS: [Flag<AuthorizationOptions>; 6] = [
    Flag { name: "authorization-config", value: "FILE", help: "YAML file with the authorizers to ask, an AuthorizationConfiguration of apiserver.config.k8s.io, in place of modes; it is read again when it changes", set: |o, v| path(&mut o.config_file, v) },
    Flag { name: "authorization-policy-file", value: "FILE", help: "File with the policies of the mode ABAC, a line each", set: |o, v| path(&mut o.policy_file, v) },
    Flag { name: "authorization-webhook-config-file", value: "FILE", help: "Kubeconfig that names the webhook of the mode Webhook", set: |o, v| path(&mut o.webhook.config_file, v) },
    Flag { name: "authorization-webhook-version", value: "VERSION", help: "Version of the SubjectAccessReviews that it is sent: v1beta1, the default, or v1", set: |o, v| given(&mut o.webhook.version, v, text) },
    Flag { name: "authorization-webhook-cache-authorized-ttl", value: "DURATION", help: "Time for which its answers are kept that allow something; 5m by default", set: |o, v| given(&mut o.webhook.authorized_ttl, v, duration) },
    Flag { name: "authorization-webhook-cache-unauthorized-ttl", value: "DURATION", help: "Time for which its other answers are kept; 30s by default", set: |o, v| given(&mut o.webhook.unauthorized_ttl, v, duration) },
];

/// The options that the flags set, as an argument group of clap.
#[derive(Debug, Clone, Default)]
pub(super) struct AuthorizationFlags {
    pub(super) options: AuthorizationOptions,
}

impl Args for AuthorizationFlags {
    fn augment_args(command: Command) -> Command {
        command.args(FLAGS.iter().map(|flag| flag.argument().help_heading(USERS)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for AuthorizationFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut flags = AuthorizationFlags::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        option::set_all(&FLAGS, matches, &mut self.options)
    }
}
