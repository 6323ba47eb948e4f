//! The outcome of a suite on one server, read from the lines that it prints.

use anyhow::{Context as _, Result, bail, ensure};

/// The outcome of a suite on one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The client and its version, as the suite says them.
    pub(super) client: String,
    /// The checks in order.
    pub(super) checks: Vec<Check>,
}

/// A check, and why it failed if it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Check {
    pub(super) name: String,
    pub(super) failure: Option<String>,
}

impl Outcome {
    /// Takes the next line of the suite.
    ///
    /// # Errors
    /// If it is none of the three kinds, or of a check that there was before.
    pub(super) fn take(&mut self, line: &str) -> Result<()> {
        let (kind, rest) =
            line.split_once(' ').with_context(|| format!("unexpected output from the suite: {line:?}"))?;
        let (name, failure) = match kind {
            "client" => {
                rest.clone_into(&mut self.client);
                return Ok(());
            }
            "ok" => (rest, None),
            "FAIL" => {
                rest.split_once(": ").map(|(name, why)| (name, Some(why.to_owned()))).context("a FAIL says why")?
            }
            _ => bail!("unexpected output from the suite: {line:?}"),
        };
        ensure!(self.check(name).is_none(), "there are two checks {name}");
        self.checks.push(Check { name: name.to_owned(), failure });
        Ok(())
    }

    /// The number of checks that passed.
    pub(super) fn passed(&self) -> usize {
        self.passing().count()
    }

    /// Whether the check passed; `None` if it was not made.
    pub(super) fn check(&self, name: &str) -> Option<bool> {
        self.checks.iter().find(|check| check.name == name).map(|check| check.failure.is_none())
    }

    /// The names of the checks that passed.
    pub(super) fn passing(&self) -> impl Iterator<Item = &str> {
        self.checks.iter().filter(|check| check.failure.is_none()).map(|check| check.name.as_str())
    }

    /// The names of the checks that failed.
    pub(super) fn failed(&self) -> impl Iterator<Item = &str> {
        self.checks.iter().filter(|check| check.failure.is_some()).map(|check| check.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_checks() {
        let mut outcome = Outcome::default();
        for line in ["client c v1", "ok a", "FAIL b: why: because"] {
            outcome.take(line).unwrap();
        }
        assert_eq!((outcome.client.as_str(), outcome.passed()), ("c v1", 1));
        assert_eq!(outcome.failed().collect::<Vec<_>>(), ["b"]);
        assert_eq!(outcome.checks[1].failure.as_deref(), Some("why: because"));
        assert_eq!(["a", "b", "c"].map(|name| outcome.check(name)), [Some(true), Some(false), None]);
        for (line, expected) in [
            ("ok a", "there are two checks a"),
            ("FAIL c", "a FAIL says why"),
            ("panic: no", "unexpected output from the suite: \"panic: no\""),
            ("", "unexpected output from the suite: \"\""),
        ] {
            assert_eq!(outcome.take(line).unwrap_err().to_string(), expected);
        }
    }
}
