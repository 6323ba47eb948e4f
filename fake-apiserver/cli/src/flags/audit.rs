//! The flags of auditing: kube-apiserver's, in a table.

use super::option::{self, BOOL, Flag, boolean, duration, parse, path, text};
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use fake_apiserver::AuditOptions;

/// The heading of the help.
const AUDITING: &str = "Auditing";

#[rustfmt::skip]
const FLAGS: [Flag<AuditOptions>; 32] = [
    Flag { name: "audit-policy-file", value: "FILE", help: "YAML file with the policy of auditing, a Policy of audit.k8s.io/v1; by default all requests are written to the log, with their objects", set: |o, v| path(&mut o.policy_file, v) },
    Flag { name: "audit-log-path", value: "FILE", help: "Append events of audit.k8s.io/v1 to this file, one a line; - is the standard output", set: |o, v| path(&mut o.log.path, v) },
    Flag { name: "audit-log-format", value: "FORMAT", help: "Format of the log: json, or legacy, a line of text", set: |o, v| text(&mut o.log.format, v) },
    Flag { name: "audit-log-maxsize", value: "MEGABYTES", help: "Largest size of the log, beyond which a new one is begun; 100 by default, any with 0", set: |o, v| parse(&mut o.log.max_size, v) },
    Flag { name: "audit-log-maxbackup", value: "N", help: "Number of old logs that are kept; 100 by default, all with 0", set: |o, v| parse(&mut o.log.max_backups, v) },
    Flag { name: "audit-log-maxage", value: "DAYS", help: "Days for which old logs are kept; 366 by default, for ever with 0", set: |o, v| parse(&mut o.log.max_age, v) },
    Flag { name: "audit-log-compress", value: BOOL, help: "Compress old logs", set: |o, v| boolean(&mut o.log.compress, v) },
    Flag { name: "audit-log-version", value: "VERSION", help: "Version of the events in the log: audit.k8s.io/v1", set: |o, v| text(&mut o.log.version, v) },
    Flag { name: "audit-log-mode", value: "MODE", help: "When events are written: blocking, the default, blocking-strict, which refuses requests that cannot be audited, or batch", set: |o, v| text(&mut o.log.batch.mode, v) },
    Flag { name: "audit-log-batch-buffer-size", value: "N", help: "Number of events that may wait in batch mode; 10000 by default", set: |o, v| parse(&mut o.log.batch.buffer_size, v) },
    Flag { name: "audit-log-batch-max-size", value: "N", help: "Number of events that are written at once in batch mode; 1 by default", set: |o, v| parse(&mut o.log.batch.max_batch_size, v) },
    Flag { name: "audit-log-batch-max-wait", value: "DURATION", help: "Longest time for which events wait in batch mode", set: |o, v| duration(&mut o.log.batch.max_batch_wait, v) },
    Flag { name: "audit-log-batch-throttle-enable", value: BOOL, help: "Limit the rate of batches", set: |o, v| boolean(&mut o.log.batch.throttle, v) },
    Flag { name: "audit-log-batch-throttle-qps", value: "N", help: "Number of batches in a second", set: |o, v| parse(&mut o.log.batch.throttle_qps, v) },
    Flag { name: "audit-log-batch-throttle-burst", value: "N", help: "Number of batches that may be written at once after a pause", set: |o, v| parse(&mut o.log.batch.throttle_burst, v) },
    Flag { name: "audit-log-truncate-enabled", value: BOOL, help: "Leave objects out of large events", set: |o, v| boolean(&mut o.log.truncate.enabled, v) },
    Flag { name: "audit-log-truncate-max-event-size", value: "BYTES", help: "Largest size of an event with objects, if it is limited; 102400 by default", set: |o, v| parse(&mut o.log.truncate.max_event_size, v) },
    Flag { name: "audit-log-truncate-max-batch-size", value: "BYTES", help: "At least the size of an event; events are checked one by one", set: |o, v| parse(&mut o.log.truncate.max_batch_size, v) },
    Flag { name: "audit-webhook-config-file", value: "FILE", help: "Kubeconfig that names the webhook to which events are sent", set: |o, v| path(&mut o.webhook.config_file, v) },
    Flag { name: "audit-webhook-initial-backoff", value: "DURATION", help: "Pause before a call that failed is repeated; 10s by default", set: |o, v| duration(&mut o.webhook.initial_backoff, v) },
    Flag { name: "audit-webhook-batch-initial-backoff", value: "DURATION", help: "The same", set: |o, v| duration(&mut o.webhook.initial_backoff, v) },
    Flag { name: "audit-webhook-version", value: "VERSION", help: "Version of the events that are sent: audit.k8s.io/v1", set: |o, v| text(&mut o.webhook.version, v) },
    Flag { name: "audit-webhook-mode", value: "MODE", help: "When events are sent: batch, the default, blocking, or blocking-strict", set: |o, v| text(&mut o.webhook.batch.mode, v) },
    Flag { name: "audit-webhook-batch-buffer-size", value: "N", help: "Number of events that may wait in batch mode; 10000 by default", set: |o, v| parse(&mut o.webhook.batch.buffer_size, v) },
    Flag { name: "audit-webhook-batch-max-size", value: "N", help: "Number of events that are sent at once in batch mode; 400 by default", set: |o, v| parse(&mut o.webhook.batch.max_batch_size, v) },
    Flag { name: "audit-webhook-batch-max-wait", value: "DURATION", help: "Longest time for which events wait in batch mode; 30s by default", set: |o, v| duration(&mut o.webhook.batch.max_batch_wait, v) },
    Flag { name: "audit-webhook-batch-throttle-enable", value: BOOL, help: "Limit the rate of batches; true by default", set: |o, v| boolean(&mut o.webhook.batch.throttle, v) },
    Flag { name: "audit-webhook-batch-throttle-qps", value: "N", help: "Number of batches in a second; 10 by default", set: |o, v| parse(&mut o.webhook.batch.throttle_qps, v) },
    Flag { name: "audit-webhook-batch-throttle-burst", value: "N", help: "Number of batches that may be sent at once after a pause; 15 by default", set: |o, v| parse(&mut o.webhook.batch.throttle_burst, v) },
    Flag { name: "audit-webhook-truncate-enabled", value: BOOL, help: "Leave objects out of large events", set: |o, v| boolean(&mut o.webhook.truncate.enabled, v) },
    Flag { name: "audit-webhook-truncate-max-event-size", value: "BYTES", help: "Largest size of an event with objects, if it is limited; 102400 by default", set: |o, v| parse(&mut o.webhook.truncate.max_event_size, v) },
    Flag { name: "audit-webhook-truncate-max-batch-size", value: "BYTES", help: "At least the size of an event; events are checked one by one", set: |o, v| parse(&mut o.webhook.truncate.max_batch_size, v) },
];

/// The options that the flags set, as an argument group of clap.
#[derive(Debug, Clone, Default)]
pub(super) struct AuditFlags {
    pub(super) options: AuditOptions,
}

impl Args for AuditFlags {
    fn augment_args(command: Command) -> Command {
        let argument = |flag: &Flag<AuditOptions>| {
            // The first ones are what most need; the others are kube-apiserver's to the letter.
            flag.argument().hide(flag.name.contains("-batch-") || flag.name.contains("-truncate-"))
        };
        command.args(FLAGS.iter().map(|flag| argument(flag).help_heading(AUDITING)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for AuditFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut flags = AuditFlags::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        option::set_all(&FLAGS, matches, &mut self.options)
    }
}
