//! The recorded answers of a real kube-apiserver to attacks (`fixtures/attacks/answers.txt`, written by `--bless` only), and
//! the accepted differences from them (`fixtures/attacks/differences.toml`).

use super::verdict::Difference;
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// The recorded answers and the accepted differences.
#[derive(Debug, Default)]
pub struct Record {
    answers: BTreeMap<String, String>,
    differences: Vec<Difference>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ledger {
    #[serde(default)]
    difference: Vec<Difference>,
}

const ANSWERS: &str = "answers.txt";
const DIFFERENCES: &str = "differences.toml";

impl Record {
    /// Reads both files in `folder`. `judged` has the names of all attacks that a real server judges.
    ///
    /// # Errors
    /// If one of them cannot be read, or names an unknown attack.
    pub fn load(folder: &Path, judged: &[String]) -> Result<Record> {
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).with_context(|| name.to_owned());
        let mut answers = BTreeMap::new();
        for line in read(ANSWERS)?.lines().filter(|line| !line.starts_with('#')) {
            let (name, answer) = line.split_once(": ").with_context(|| format!("{ANSWERS}: {line:?}"))?;
            answers.insert(name.to_owned(), answer.to_owned());
        }
        let Ledger { difference: differences } = toml::from_str(&read(DIFFERENCES)?)?;
        for name in answers.keys().chain(differences.iter().map(|difference| &difference.attack)) {
            ensure!(judged.contains(name), "there is no attack {name} that a real server judges");
        }
        Ok(Record { answers, differences })
    }

    /// The real server's answer to `attack`.
    pub fn answer(&self, attack: &str) -> Option<&str> {
        self.answers.get(attack).map(String::as_str)
    }

    /// The accepted difference in the answer to `attack`.
    pub fn difference(&self, attack: &str) -> Option<&Difference> {
        self.differences.iter().find(|difference| difference.attack == attack)
    }

    /// Records the real server's answer.
    pub fn enter(&mut self, attack: &str, answer: &str) {
        self.answers.insert(attack.to_owned(), answer.to_owned());
    }

    /// Writes the answers into `folder`; `version` is the real server's.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, folder: &Path, version: &str) -> Result<()> {
        let mut text = format!("# What kube-apiserver {version} answers; `cargo xtask attack --bless` writes it.\n");
        for (name, answer) in &self.answers {
            writeln!(text, "{name}: {answer}")?;
        }
        Ok(std::fs::write(folder.join(ANSWERS), text)?)
    }
}
