//! The options of auditing: kube-apiserver's flags `--audit-*`, with its defaults.
//!
//! Ports `pkg/server/options/audit.go` of `k8s.io/apiserver` (v0.37.1).

use std::path::PathBuf;
use std::time::Duration;

/// `ModeBatch`
pub(super) const BATCH: &str = "batch";
/// `ModeBlockingStrict`
pub(super) const BLOCKING_STRICT: &str = "blocking-strict";
/// `AllowedModes`
const MODES: [&str; 3] = [BATCH, "blocking", BLOCKING_STRICT];
/// `FormatLegacy`
pub(super) const LEGACY: &str = "legacy";
/// `AllowedFormats`
const FORMATS: [&str; 2] = [LEGACY, "json"];
/// The version of events.
const VERSION: &str = "audit.k8s.io/v1";
/// `defaultBatchBufferSize`
const BUFFER_SIZE: i64 = 10_000;

/// The options of auditing. Without a policy a log has all requests with the objects in them, and a webhook nothing.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct AuditOptions {
    /// `--audit-policy-file`: the file with the policy, which says what is audited.
    pub policy_file: Option<PathBuf>,
    /// The log.
    pub log: AuditLogOptions,
    /// The webhook.
    pub webhook: AuditWebhookOptions,
}

/// The options of the audit log.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AuditLogOptions {
    /// `--audit-log-path`: the file; `-` is the standard output. Without one there is no log.
    pub path: Option<PathBuf>,
    /// `--audit-log-maxage`: the days after which old files are removed; with 0 they are not.
    pub max_age: i64,
    /// `--audit-log-maxbackup`: the most old files; with 0 any number.
    pub max_backups: i64,
    /// `--audit-log-maxsize`: the most megabytes of a file; with 0 it may have any size.
    pub max_size: i64,
    /// `--audit-log-format`: `json` or `legacy`.
    pub format: String,
    /// `--audit-log-compress`: whether old files are compressed.
    pub compress: bool,
    /// When events are written.
    pub batch: AuditBatchOptions,
    /// The treatment of large events.
    pub truncate: AuditTruncateOptions,
    /// `--audit-log-version`: `audit.k8s.io/v1`.
    pub version: String,
}

/// The options of the audit webhook.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AuditWebhookOptions {
    /// `--audit-webhook-config-file`: the kubeconfig that names it. Without one there is no webhook.
    pub config_file: Option<PathBuf>,
    /// `--audit-webhook-initial-backoff`: the pause before a call that failed is repeated for the first time.
    pub initial_backoff: Duration,
    /// When events are sent.
    pub batch: AuditBatchOptions,
    /// The treatment of large events.
    pub truncate: AuditTruncateOptions,
    /// `--audit-webhook-version`: `audit.k8s.io/v1`.
    pub version: String,
}

/// The options of the moment when events are written or sent. All but the mode are about `batch`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AuditBatchOptions {
    /// `--audit-*-mode`: `blocking`, while the request waits; `blocking-strict`, which refuses a request that cannot be audited; `batch`,
    /// later.
    pub mode: String,
    /// `--audit-*-batch-buffer-size`: the most events that wait; further ones are lost.
    pub buffer_size: i64,
    /// `--audit-*-batch-max-size`: the most events of a batch.
    pub max_batch_size: i64,
    /// `--audit-*-batch-max-wait`: the longest time until an incomplete batch is sent.
    pub max_batch_wait: Duration,
    /// `--audit-*-batch-throttle-enable`: whether the rate of batches is limited.
    pub throttle: bool,
    /// `--audit-*-batch-throttle-qps`: the batches in a second.
    pub throttle_qps: f32,
    /// `--audit-*-batch-throttle-burst`: the batches that may be sent at once after a pause.
    pub throttle_burst: i64,
}

/// The options of the treatment of large events.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AuditTruncateOptions {
    /// `--audit-*-truncate-enabled`: whether large events lose their objects, and are lost if that is not enough.
    pub enabled: bool,
    /// `--audit-*-truncate-max-batch-size`, in bytes. Events are checked one by one, so that it has no effect.
    pub max_batch_size: i64,
    /// `--audit-*-truncate-max-event-size`, in bytes.
    pub max_event_size: i64,
}

impl Default for AuditLogOptions {
    fn default() -> Self {
        AuditLogOptions {
            path: None,
            max_age: 366,
            max_backups: 100,
            max_size: 100,
            format: FORMATS[1].into(),
            compress: false,
            batch: AuditBatchOptions {
                mode: MODES[1].into(),
                buffer_size: BUFFER_SIZE,
                max_batch_size: 1,
                max_batch_wait: Duration::ZERO,
                throttle: false,
                throttle_qps: 0.0,
                throttle_burst: 0,
            },
            truncate: AuditTruncateOptions::default(),
            version: VERSION.into(),
        }
    }
}

impl Default for AuditWebhookOptions {
    fn default() -> Self {
        AuditWebhookOptions {
            config_file: None,
            initial_backoff: Duration::from_secs(10),
            batch: AuditBatchOptions {
                mode: BATCH.into(),
                buffer_size: BUFFER_SIZE,
                max_batch_size: 400,
                max_batch_wait: Duration::from_secs(30),
                throttle: true,
                throttle_qps: 10.0,
                throttle_burst: 15,
            },
            truncate: AuditTruncateOptions::default(),
            version: VERSION.into(),
        }
    }
}

impl Default for AuditTruncateOptions {
    fn default() -> Self {
        AuditTruncateOptions { enabled: false, max_batch_size: 10 * 1024 * 1024, max_event_size: 100 * 1024 }
    }
}

impl AuditOptions {
    /// The findings about the options, in the real server's words (`Validate`).
    pub(super) fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        if self.log.path.is_some() {
            let AuditLogOptions { batch, truncate, version, format, .. } = &self.log;
            findings.extend(batch.finding("log"));
            findings.extend(truncate.finding("log"));
            findings.extend(version_finding(version));
            if !FORMATS.contains(&&**format) {
                let known = FORMATS.join(",");
                findings.push(format!("invalid audit log format {format}, allowed formats are {known:?}"));
            }
            let AuditLogOptions { max_age, max_backups, max_size, .. } = self.log;
            for (flag, value) in [("maxage", max_age), ("maxbackup", max_backups), ("maxsize", max_size)] {
                if value < 0 {
                    findings.push(format!("--audit-log-{flag} {value} can't be a negative number"));
                }
            }
        }
        if self.webhook.config_file.is_some() {
            let AuditWebhookOptions { batch, truncate, version, .. } = &self.webhook;
            findings.extend(batch.finding("webhook"));
            findings.extend(truncate.finding("webhook"));
            findings.extend(version_finding(version));
        }
        findings
    }
}

impl AuditBatchOptions {
    /// `validateBackendBatchOptions`.
    fn finding(&self, plugin: &str) -> Option<String> {
        let AuditBatchOptions { mode, buffer_size, max_batch_size, throttle_qps, throttle_burst, .. } = self;
        if !MODES.contains(&&**mode) {
            let known = MODES.join(",");
            return Some(format!("invalid audit {plugin} mode {mode}, allowed modes are {known:?}"));
        }
        let rules = [
            ("buffer size", buffer_size.to_string(), *buffer_size > 0),
            ("max batch size", max_batch_size.to_string(), *max_batch_size > 0),
            ("throttle QPS", throttle_qps.to_string(), !self.throttle || *throttle_qps > 0.0),
            ("throttle burst", throttle_burst.to_string(), !self.throttle || *throttle_burst > 0),
        ];
        let broken = rules.into_iter().find(|(_, _, holds)| !holds).filter(|_| mode == BATCH);
        broken.map(|(what, value, _)| format!("invalid audit batch {plugin} {what} {value}, must be a positive number"))
    }
}

impl AuditTruncateOptions {
    /// `AuditTruncateOptions.Validate`.
    fn finding(&self, plugin: &str) -> Option<String> {
        let AuditTruncateOptions { max_batch_size: batch, max_event_size: event, .. } = *self;
        if event <= 0 {
            return Some(format!("invalid audit truncate {plugin} max event size {event}, must be a positive number"));
        }
        let small = format!(
            "invalid audit truncate {plugin} max batch size {batch}, must be greater than max event size ({event})"
        );
        (batch < event).then_some(small)
    }
}

/// `validateGroupVersionString`.
fn version_finding(version: &str) -> Option<String> {
    if version.matches('/').count() > 1 {
        return Some(format!("unexpected GroupVersion string: {version}"));
    }
    (version != VERSION).then(|| format!("invalid group version, allowed versions are [{VERSION:?}]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings about options that `change` makes.
    fn findings(change: impl FnOnce(&mut AuditOptions)) -> String {
        let mut options = AuditOptions::default();
        options.log.path = Some("log".into());
        options.webhook.config_file = Some("webhook".into());
        change(&mut options);
        options.findings().join("\n")
    }

    #[test]
    fn wrong_options_are_told_in_the_real_servers_words() {
        let negative = |options: &mut AuditOptions| {
            options.log.max_age = -1;
            options.log.max_backups = -2;
            options.log.max_size = -3;
        };
        assert_eq!(findings(|_| {}), "");
        assert_eq!(
            findings(negative),
            "--audit-log-maxage -1 can't be a negative number\n--audit-log-maxbackup -2 can't be a negative number\n\
             --audit-log-maxsize -3 can't be a negative number"
        );
        assert_eq!(
            findings(|options| options.log.format = "xml".into()),
            "invalid audit log format xml, allowed formats are \"legacy,json\""
        );
        assert_eq!(
            findings(|options| options.webhook.batch.mode = "later".into()),
            "invalid audit webhook mode later, allowed modes are \"batch,blocking,blocking-strict\""
        );
        assert_eq!(
            findings(|options| options.webhook.batch.throttle_qps = -0.5),
            "invalid audit batch webhook throttle QPS -0.5, must be a positive number"
        );
        assert_eq!(findings(|options| options.log.batch.buffer_size = 0), "");
        let batch = |options: &mut AuditOptions| {
            options.log.batch.mode = BATCH.into();
            options.log.batch.buffer_size = 0;
        };
        assert_eq!(findings(batch), "invalid audit batch log buffer size 0, must be a positive number");
        assert_eq!(
            findings(|options| options.log.truncate.max_event_size = 0),
            "invalid audit truncate log max event size 0, must be a positive number"
        );
        assert_eq!(
            findings(|options| options.log.truncate.max_batch_size = 5),
            "invalid audit truncate log max batch size 5, must be greater than max event size (102400)"
        );
        assert_eq!(
            findings(|options| options.log.version = "audit.k8s.io/v1beta1".into()),
            "invalid group version, allowed versions are [\"audit.k8s.io/v1\"]"
        );
        assert_eq!(findings(|options| options.log.version = "a/b/c".into()), "unexpected GroupVersion string: a/b/c");
    }
}
