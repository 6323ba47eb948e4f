//! The policy of a namespace: a level and a version of the standards for each mode, from its labels.
//!
//! Follows `api/helpers.go` of `k8s.io/pod-security-admission` (v0.37.1).

use crate::error::{FieldError, Path};
use std::fmt;

/// The levels by their names, from the least strict to the strictest.
const LEVELS: [(&str, Level); 3] =
    [("privileged", Level::Privileged), ("baseline", Level::Baseline), ("restricted", Level::Restricted)];

/// The labels of a mode: its level and its version.
const ENFORCE: [&str; 2] = ["pod-security.kubernetes.io/enforce", "pod-security.kubernetes.io/enforce-version"];
const AUDIT: [&str; 2] = ["pod-security.kubernetes.io/audit", "pod-security.kubernetes.io/audit-version"];
const WARN: [&str; 2] = ["pod-security.kubernetes.io/warn", "pod-security.kubernetes.io/warn-version"];

/// A level; the stricter one is the greater one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Privileged,
    Baseline,
    Restricted,
}

impl Level {
    /// `ParseLevel`.
    ///
    /// # Errors
    /// A message, if there is no such level.
    pub(super) fn parse(text: &str) -> Result<Level, &'static str> {
        let known = LEVELS.iter().find(|(name, _)| *name == text);
        known.map(|(_, level)| *level).ok_or("must be one of privileged, baseline, restricted")
    }
}

/// A version of the standards: that of a minor version of Kubernetes, or the latest one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    Minor(i64),
    Latest,
}

impl Version {
    /// `ParseVersion`.
    ///
    /// # Errors
    /// A message, if the text is not a version.
    pub(super) fn parse(text: &str) -> Result<Version, &'static str> {
        let number = |minor: &str| {
            let digits = !minor.is_empty() && minor.bytes().all(|byte| byte.is_ascii_digit());
            let plain = digits && (minor == "0" || !minor.starts_with('0'));
            minor.parse().ok().filter(|_| plain)
        };
        match text {
            "latest" => Ok(Version::Latest),
            _ => {
                let minor = text.strip_prefix("v1.").and_then(number);
                minor.map(Version::Minor).ok_or("must be \"latest\" or \"v1.x\"")
            }
        }
    }

    /// The minor version.
    pub(super) fn minor(self) -> i64 {
        match self {
            Version::Minor(minor) => minor,
            Version::Latest => i64::MAX,
        }
    }
}

/// A standard: a level in one of its versions. `LevelVersion` upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Standard {
    pub(super) level: Level,
    pub(super) version: Version,
}

impl Standard {
    /// The standard that allows everything.
    pub(super) const PRIVILEGED: Standard = Standard { level: Level::Privileged, version: Version::Latest };

    fn allows_all(self) -> bool {
        self.level == Level::Privileged
    }

    fn is_equivalent(self, other: Standard) -> bool {
        self == other || self.allows_all() && other.allows_all()
    }
}

impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = LEVELS[self.level as usize].0;
        match self.version {
            Version::Latest => write!(f, "{name}:latest"),
            Version::Minor(minor) => write!(f, "{name}:v1.{minor}"),
        }
    }
}

/// A policy: a standard for each mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Policy {
    /// The standard that pods must meet.
    pub(super) enforce: Standard,
    /// The standard whose violations the audit log tells of.
    pub(super) audit: Standard,
    /// The standard whose violations clients are warned of.
    pub(super) warn: Standard,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy { enforce: Standard::PRIVILEGED, audit: Standard::PRIVILEGED, warn: Standard::PRIVILEGED }
    }
}

impl Policy {
    /// The policy of a namespace with these labels, and the findings about them (`PolicyToEvaluate`). A wrong level is enforced as the
    /// strictest one, and ignored in the other modes; a wrong version is the latest.
    pub(super) fn of<'l>(label: impl Fn(&str) -> Option<&'l str>, defaults: Policy) -> (Policy, Vec<FieldError>) {
        let mut errors = Vec::new();
        let mut policy = defaults;
        let enforced = set(&mut policy.enforce, ENFORCE, Level::Restricted, &label, &mut errors);
        set(&mut policy.audit, AUDIT, Level::Privileged, &label, &mut errors);
        set(&mut policy.warn, WARN, Level::Privileged, &label, &mut errors);
        let [warn, version] = WARN.map(|key| label(key).is_some());
        if enforced && !warn && policy.enforce.level > policy.warn.level {
            policy.warn.level = policy.enforce.level;
            if !version {
                policy.warn.version = policy.enforce.version;
            }
        }
        (policy, errors)
    }

    /// Whether no mode objects to anything.
    pub(super) fn allows_all(&self) -> bool {
        [self.enforce, self.audit, self.warn].into_iter().all(Standard::allows_all)
    }

    /// The warning that an exempt namespace has labels that have no effect; `None` if they would have none anyway
    /// (`exemptNamespaceWarning`).
    pub(super) fn warning_about_exemption<'l>(
        &self,
        namespace: &str,
        label: impl Fn(&str) -> Option<&'l str>,
        defaults: Policy,
    ) -> Option<String> {
        let modes = [
            ("enforce", self.enforce, defaults.enforce, ENFORCE),
            ("audit", self.audit, defaults.audit, AUDIT),
            ("warn", self.warn, defaults.warn, WARN),
        ];
        if self.allows_all() || modes.iter().all(|(_, own, default, _)| own.is_equivalent(*default)) {
            return None;
        }
        let named =
            modes.iter().filter(|(_, own, _, keys)| !own.allows_all() && keys.iter().any(|key| label(key).is_some()));
        let named: Vec<String> = named.map(|(mode, own, _, _)| format!("{mode}={own}")).collect();
        let named = named.join(", ");
        Some(format!("namespace \"{namespace}\" is exempt from Pod Security, and the policy ({named}) will be ignored"))
    }
}

/// Sets the standard of a mode from its labels. Whether one names a level.
fn set<'l>(
    standard: &mut Standard,
    [level, version]: [&str; 2],
    instead: Level,
    label: impl Fn(&str) -> Option<&'l str>,
    errors: &mut Vec<FieldError>,
) -> bool {
    let mut wrong = |key: &str, value: &str, detail: &'static str| {
        errors.push(FieldError::invalid(Path::new("metadata.labels").key(key), &value.into(), detail));
    };
    let mut is_named = false;
    if let Some(text) = label(level) {
        let parsed = Level::parse(text);
        is_named = parsed.is_ok();
        standard.level = parsed.unwrap_or_else(|detail| {
            wrong(level, text, detail);
            instead
        });
    }
    if let Some(text) = label(version) {
        standard.version = Version::parse(text).unwrap_or_else(|detail| {
            wrong(version, text, detail);
            Version::Latest
        });
    }
    is_named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_make_a_policy() {
        for (labels, policy, errors) in [
            ("", "privileged:latest privileged:latest privileged:latest", 0),
            ("enforce=baseline", "baseline:latest privileged:latest baseline:latest", 0),
            ("enforce=baseline enforce-version=v1.5", "baseline:v1.5 privileged:latest baseline:v1.5", 0),
            (
                "enforce=baseline enforce-version=v1.5 warn-version=v1.6",
                "baseline:v1.5 privileged:latest baseline:v1.6",
                0,
            ),
            ("enforce=restricted warn=privileged", "restricted:latest privileged:latest privileged:latest", 0),
            ("enforce=x audit=x warn=x", "restricted:latest privileged:latest privileged:latest", 3),
            ("enforce-version=v1.01 audit-version=1.2", "privileged:latest privileged:latest privileged:latest", 2),
            ("audit-version=v1.99999999999999999999", "privileged:latest privileged:latest privileged:latest", 1),
        ] {
            let label = |key: &str| {
                let key = key.rsplit_once('/').expect("all have a prefix").1;
                labels.split(' ').filter_map(|label| label.split_once('=')).find(|(own, _)| *own == key).map(|(_, v)| v)
            };
            let (found, findings) = Policy::of(label, Policy::default());
            assert_eq!(format!("{} {} {}", found.enforce, found.audit, found.warn), policy, "{labels}");
            assert_eq!(findings.len(), errors, "{labels}");
        }
    }
}
