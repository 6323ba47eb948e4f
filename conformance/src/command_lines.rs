//! Records what the real kube-apiserver makes of command lines: `fixtures/command-lines.jsonl`, a line each. A case has the `words`; the rest is
//! written here: what is printed or refused, or the values that flags have in the end. Servers do not start, as they are told of no etcd.

use crate::answered;
use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A command line, and what the program makes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Case {
    words: Vec<String>,
    #[serde(flatten)]
    answer: Answer,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Answer {
    /// The refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    /// The first line that is printed by a program that ends well; none of a help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    printed: Option<String>,
    /// The values of the flags that are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    values: Option<BTreeMap<String, String>>,
}

/// Asks the program about all cases, and writes the answers, or compares them.
///
/// # Errors
/// If the program was not built, or an answer is another one than the recorded one.
pub fn record(file: &Path, check: bool) -> Result<()> {
    answered::record(file, check, |program, Case { words, .. }| {
        let answer = ask(program, &words)?;
        Ok(Case { words, answer })
    })
}

fn ask(program: &Path, words: &[String]) -> Result<Answer> {
    // With a verbosity of 1 it says which values its flags have.
    let output = Command::new(program).arg("-v=1").args(words).output()?;
    let (out, err) = (String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?);
    let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    if output.status.success() {
        let is_help = out.contains("\nUsage:\n");
        let printed = if is_help { "(help)".to_owned() } else { first(&out) };
        return Ok(Answer { printed: Some(printed), ..Answer::default() });
    }
    if let Some(refusal) = err.lines().find(|line| line.starts_with("Error: ")) {
        return Ok(Answer { refused: Some(refusal.to_owned()), ..Answer::default() });
    }
    ensure!(err.contains("command failed"), "{words:?}: {err}");
    let is_given = |name: &str| {
        let dashed = format!("--{name}");
        let is_it = |word: &String| word.replace('_', "-").split('=').next() == Some(&dashed);
        words.iter().any(|word| is_it(word) || (name == "v" && word.starts_with("-v")))
    };
    let values = err.lines().filter_map(|line| {
        let (name, value) = line.split_once("] FLAG: --")?.1.split_once('=')?;
        let value: String = serde_json::from_str(value).ok()?;
        is_given(name).then(|| (name.to_owned(), value))
    });
    Ok(Answer { values: Some(values.collect()), ..Answer::default() })
}
