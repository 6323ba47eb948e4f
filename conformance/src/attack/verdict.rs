//! The verdict on an attack: a pure function of the answers, of a real server's recorded ones, of the ledger, and of the
//! process's vitals.

use super::vitals::Vitals;
use conformance_judge::ledger::matches;
use serde::Deserialize;

/// Bounds on the increase of a process's resources by an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Bounds {
    /// Memory after the attack, MiB.
    pub memory_mib: u64,
    /// Memory at any time, MiB.
    pub peak_mib: u64,
    /// Descriptors after the attack.
    pub descriptors: u64,
    /// Threads after the attack.
    pub threads: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds::USUAL
    }
}

impl Bounds {
    /// The bounds of an attack that states no others.
    pub const USUAL: Bounds = Bounds { memory_mib: 64, peak_mib: 128, descriptors: 8, threads: 16 };

    /// The bounds that are exceeded after the attack.
    pub fn exceeded(&self, before: Vitals, after: Vitals) -> Vec<String> {
        let rows = [
            ("MiB of memory", before.memory, after.memory, self.memory_mib),
            ("descriptors", before.descriptors, after.descriptors, self.descriptors),
            ("threads", before.threads, after.threads, self.threads),
        ];
        let exceeded = rows.into_iter().filter(|(_, before, after, bound)| *after > before + bound);
        exceeded
            .map(|(what, before, after, bound)| format!("{what}: {after} after {before}, {bound} more allowed"))
            .collect()
    }

    /// The bound on the highest memory, if it was exceeded.
    pub fn peak_exceeded(&self, before: Vitals, after: Vitals) -> Option<String> {
        let Bounds { peak_mib, .. } = self;
        let (before, peak) = (before.memory, after.peak);
        (peak > before + peak_mib)
            .then(|| format!("MiB of memory: up to {peak} after {before}, {peak_mib} more allowed"))
    }
}

/// The expected answers.
#[derive(Debug, Clone, Copy)]
pub enum Expected<'a> {
    /// The answers of a real server; `None` if they are not recorded yet.
    Judged(Option<&'a str>),
    /// One of these; each `*` stands for any text.
    Stated(&'a [String]),
}

/// The verdict on the answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// They are as expected.
    Equal,
    /// They differ, and the ledger accepts that for this reason.
    Listed(String),
    /// They differ.
    Different(String),
}

/// A known difference from a real server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// The attack, with its class.
    pub attack: String,
    /// The answers instead; each `*` stands for any text.
    pub observed: String,
    /// The reason why the difference is accepted.
    pub reason: String,
}

/// The verdict on `observed`.
pub fn verdict(observed: &str, expected: Expected<'_>, listed: Option<&Difference>) -> Verdict {
    let equal = match expected {
        Expected::Judged(Some(real)) => real == observed,
        Expected::Judged(None) => return Verdict::Different(format!("{observed}: no real server was asked yet")),
        Expected::Stated(allowed) => allowed.iter().any(|allowed| matches(allowed, observed)),
    };
    match (equal, listed) {
        (true, None) => Verdict::Equal,
        (true, Some(_)) => Verdict::Different(format!("{observed}: the ledger says otherwise")),
        (false, Some(listed)) if matches(&listed.observed, observed) => Verdict::Listed(listed.reason.clone()),
        (false, _) => Verdict::Different(match expected {
            Expected::Judged(real) => format!("{observed}, not {}", real.unwrap_or_default()),
            Expected::Stated(allowed) => format!("{observed}, not {}", allowed.join(" or ")),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_server_or_the_ledger_decides() {
        let listed = Difference { attack: "a/b".into(), observed: "4* closed".into(), reason: "why".into() };
        let different = |text: &str| Verdict::Different(text.to_owned());
        for (observed, real, ledger, expected) in [
            ("400", Some("400"), None, Verdict::Equal),
            ("404", Some("400"), None, different("404, not 400")),
            ("404", None, None, different("404: no real server was asked yet")),
            ("404 closed", Some("400"), Some(&listed), Verdict::Listed("why".into())),
            ("404", Some("400"), Some(&listed), different("404, not 400")),
            ("400", Some("400"), Some(&listed), different("400: the ledger says otherwise")),
        ] {
            assert_eq!(verdict(observed, Expected::Judged(real), ledger), expected, "{observed}");
        }
        let allowed = ["a".to_owned(), "b *".to_owned()];
        assert_eq!(verdict("b 1", Expected::Stated(&allowed), None), Verdict::Equal);
        assert_eq!(verdict("c", Expected::Stated(&allowed), None), different("c, not a or b *"));
    }

    #[test]
    fn what_does_not_come_back_is_named() {
        let before = Vitals { memory: 20, peak: 30, descriptors: 10, threads: 3 };
        let bounds = Bounds { memory_mib: 5, peak_mib: 50, descriptors: 2, threads: 0 };
        assert_eq!(bounds.exceeded(before, before), [] as [&str; 0]);
        let after = Vitals { memory: 26, peak: 71, descriptors: 12, threads: 4 };
        assert_eq!(
            bounds.exceeded(before, after),
            ["MiB of memory: 26 after 20, 5 more allowed", "threads: 4 after 3, 0 more allowed"]
        );
        assert!(bounds.peak_exceeded(before, before).is_none() && bounds.peak_exceeded(before, after).is_some());
    }
}
