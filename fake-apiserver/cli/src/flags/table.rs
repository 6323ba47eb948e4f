//! The table of kube-apiserver's flags: what is recorded of each, and what this server does with it.
//!
//! `recorded.txt` is written by `cargo xtask schema`: a line for each flag of the real program with its name, its type in Go, the value that it has
//! when it is given without one, its default and the reason why it is deprecated. `rules.txt` says what becomes of each here: `obeyed`, `unused`
//! (accepted, without an effect), `only` certain values, or `refused`, and behind `#` why.
//!
//! GAP: flags: those that have no effect or are refused, listed in `docs/flags.md`

use std::sync::LazyLock;

/// A flag of kube-apiserver.
pub(super) struct Flag {
    pub(super) name: &'static str,
    /// The type of its value, as pflag calls it.
    pub(super) kind: &'static str,
    /// The value that it has when it is given without one; `None` if it needs one.
    pub(super) bare: Option<&'static str>,
    pub(super) default: &'static str,
    /// Why it is deprecated.
    pub(super) deprecated: Option<&'static str>,
    pub(super) rule: Rule,
    /// Why the rule is as it is.
    pub(super) why: &'static str,
}

/// The treatment of a flag in this server.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// The same as in kube-apiserver.
    Obeyed,
    /// None, whatever its value.
    Unused,
    /// None, with one of these values, which change nothing; others are refused.
    Only(Vec<&'static str>),
    /// A refusal, unless its value is empty.
    Refused,
}

const RECORDED: &str = include_str!("recorded.txt");
const RULES: &str = include_str!("rules.txt");

/// All flags, in the order of their names.
pub(super) static FLAGS: LazyLock<Vec<Flag>> =
    LazyLock::new(|| RECORDED.lines().zip(RULES.lines()).map(|(recorded, rule)| Flag::parse(recorded, rule)).collect());

/// The flag of that name.
pub(super) fn find(name: &str) -> Option<&'static Flag> {
    FLAGS.binary_search_by(|flag| flag.name.cmp(name)).ok().map(|at| &FLAGS[at])
}

impl Flag {
    /// Reads a line of each file.
    fn parse(recorded: &'static str, rule: &'static str) -> Flag {
        let mut fields = recorded.split('\t');
        let mut field = || fields.next().unwrap_or_default();
        let (name, kind, bare, default, deprecated) = (field(), field(), field(), field(), field());
        let (rule, why) = rule.split_once(" # ").unwrap_or((rule, ""));
        let mut words = rule.split(' ').skip(1);
        let rule = match words.next() {
            Some("obeyed") => Rule::Obeyed,
            Some("unused") => Rule::Unused,
            Some("only") => Rule::Only(words.collect()),
            _ => Rule::Refused,
        };
        let deprecated = Some(deprecated).filter(|text| !text.is_empty());
        Flag { name, kind, bare: Some(bare).filter(|bare| *bare != "-"), default, deprecated, rule, why }
    }

    /// Whether its value is true or false.
    pub(super) fn is_bool(&self) -> bool {
        self.kind == "bool"
    }

    /// Whether an empty value is as good as none.
    pub(super) fn is_empty_by_default(&self) -> bool {
        matches!(self.default, "" | "[]" | "<nil>")
    }
}

/// The table as a document.
#[cfg(test)]
fn document() -> String {
    use std::fmt::Write as _;
    let mut text = String::from(
        "# The flags of kube-apiserver 1.37\n\n\
         What this program does with each: it is obeyed, accepted without an effect, accepted with the values that change nothing, or refused by its name, since \
         tests would see the difference. Written by `UPDATE_FLAGS=1 cargo test -p fake-apiserver-cli the_table` from \
         `fake-apiserver/cli/src/flags/`, where `recorded.txt` has what the real program's flags are. Flags of its own are listed by `fake-apiserver --help`.\n\n\
         | flag | type | default | here |\n|---|---|---|---|\n",
    );
    for flag in &*FLAGS {
        let Flag { name, kind, default, why, .. } = flag;
        let rule = match &flag.rule {
            Rule::Obeyed => "obeyed".to_owned(),
            Rule::Unused => "no effect".to_owned(),
            Rule::Only(values) => format!("only {}", values.join(", ")),
            Rule::Refused => "**refused**".to_owned(),
        };
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        let default = if default.is_empty() { String::new() } else { format!("`{}`", default.replace('|', "\\|")) };
        writeln!(text, "| `--{name}` | {kind} | {default} | {rule}{why} |").expect("memory");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_flag_once() {
        let names = |text: &'static str| -> Vec<&str> {
            text.lines().map(|line| line.split(['\t', ' ']).next().unwrap_or_default()).collect()
        };
        assert_eq!(names(RECORDED), names(RULES));
        assert!(names(RECORDED).is_sorted());
        for line in RULES.lines() {
            let rule = line.split(' ').nth(1);
            assert!(rule.is_some_and(|rule| ["obeyed", "unused", "only", "refused"].contains(&rule)), "{line}");
        }
    }

    #[test]
    fn the_table_is_the_one_in_the_documents() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/flags.md");
        if std::env::var_os("UPDATE_FLAGS").is_some() {
            std::fs::write(&path, document()).expect("a file");
        }
        let found = std::fs::read_to_string(&path).expect("a document");
        assert!(
            found == document(),
            "docs/flags.md is not that of the table: UPDATE_FLAGS=1 cargo test -p fake-apiserver-cli the_table"
        );
    }
}
