//! The table of the checks that pass with each client: a row a suite.

use super::outcome::Outcome;

/// The name of the table's section in its page.
pub(super) const SECTION: &str = "clients";
/// The table's first two lines.
pub(super) const HEAD: &str = "| suite | client | checks | kube-apiserver | fake-apiserver | fails here |\n| --- | --- | ---: | ---: | ---: | --- |\n";

/// The outcomes of one suite: on a real server, and on the fake.
pub(super) struct Pair {
    pub(super) suite: &'static str,
    pub(super) real: Outcome,
    pub(super) fake: Outcome,
}

impl Pair {
    /// The names of checks that a real server fails, too: a fault of the check, or of the client.
    pub(super) fn wrong(&self) -> Vec<&str> {
        self.real.failed().collect()
    }

    /// The suite's row.
    pub(super) fn row(&self) -> String {
        let Pair { suite, real, fake } = self;
        let names = grouped(&missing(real, fake));
        let (all, real, client, fake) = (real.checks.len(), real.passed(), &real.client, fake.passed());
        format!("| {suite} | {client} | {all} | {real} | {fake} | {} |\n", names.join(", "))
    }
}

/// The names of checks that pass on the real server and not on the fake.
pub(super) fn missing<'o>(real: &'o Outcome, fake: &Outcome) -> Vec<&'o str> {
    real.passing().filter(|name| fake.check(name) != Some(true)).collect()
}

/// Names for the reader: those with the same part before a `/` are one, and their number.
fn grouped(names: &[&str]) -> Vec<String> {
    let mut groups: Vec<(&str, usize)> = Vec::new();
    for name in names {
        let group = name.split('/').next().unwrap_or(name);
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, number)) => *number += 1,
            None => groups.push((group, 1)),
        }
    }
    let shown = |(group, number)| if number == 1 { format!("`{group}`") } else { format!("`{group}` ({number})") };
    groups.into_iter().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(lines: &[&str]) -> Outcome {
        let mut outcome = Outcome::default();
        lines.iter().for_each(|line| outcome.take(line).unwrap());
        outcome
    }

    #[test]
    fn a_check_is_missing_only_if_a_real_server_passes_it() {
        let real = outcome(&["client c v1", "ok a", "ok b", "FAIL c: x", "ok d", "ok e/1", "ok e/2"]);
        let pair = Pair { suite: "c", real, fake: outcome(&["ok a", "FAIL b: y", "FAIL c: x", "FAIL e/1: z"]) };
        assert_eq!((missing(&pair.real, &pair.fake), pair.wrong()), (vec!["b", "d", "e/1", "e/2"], vec!["c"]));
        assert_eq!(pair.row(), "| c | c v1 | 6 | 5 | 1 | `b`, `d`, `e` (2) |\n");
    }
}
