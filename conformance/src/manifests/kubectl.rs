//! kubectl on one server, and what it prints.

use crate::administrator::Access;
use crate::answers::{sorted_parts, without_objects};
use crate::control_plane::cache;
use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tempfile::TempDir;
use tokio::process::Command;

/// kubectl, with the access to one server and a memory of its own.
pub(super) struct Kubectl {
    program: PathBuf,
    url: String,
    token: String,
    home: TempDir,
}

impl Kubectl {
    /// The real control plane's kubectl.
    ///
    /// # Errors
    /// If it was not built.
    pub(super) fn new(access: &Access<'_>) -> Result<Kubectl> {
        let program = cache::program(cache::VERSION, "kubectl")?;
        Ok(Kubectl { program, url: access.url.to_owned(), token: access.token.to_owned(), home: tempfile::tempdir()? })
    }

    /// The lines that it prints, to either output, as it applies the files in `folder`, and the objects in them get another manager each
    /// time by other `options`.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(super) async fn apply(&self, folder: &Path, options: &[&str]) -> Result<Vec<String>> {
        let printed = self.printed(folder, options).await?;
        Ok(printed.lines().map(|line| sorted_parts(&without_objects(&line.replace(&self.url, "<server>")))).collect())
    }

    /// The text that it prints, first to the standard output, as it applies the files in a folder, or a file.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(super) async fn printed(&self, path: &Path, options: &[&str]) -> Result<String> {
        let output = Command::new(&self.program)
            .args(["--server", &self.url, "--token", &self.token, "--insecure-skip-tls-verify", "apply", "--filename"])
            .arg(path)
            .args(options)
            .env("HOME", self.home.path())
            .env_remove("KUBECONFIG")
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .with_context(|| self.program.display().to_string())?;
        Ok([output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat())
    }
}

/// The lines that only one of them has, each as often as the other one lacks it: the first's, then the other's.
pub(super) fn unmatched([one, other]: [&[String]; 2]) -> [Vec<&str>; 2] {
    let mut balance: BTreeMap<&str, i64> = BTreeMap::new();
    one.iter().for_each(|line| *balance.entry(line).or_default() += 1);
    other.iter().for_each(|line| *balance.entry(line).or_default() -= 1);
    let more = |sign: i64| {
        let often = balance.iter().map(move |(line, balance)| (*line, balance * sign));
        often.flat_map(|(line, times)| (0..times).map(move |_| line)).collect()
    };
    [more(1), more(-1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_matched_as_often_as_they_occur() {
        let lines = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
        let (one, other) = (lines("abbc"), lines("cbdd"));
        assert_eq!(unmatched([&one, &other]), [vec!["a", "b"], vec!["d", "d"]]);
        assert_eq!(unmatched([&one, &one]), [vec![""; 0], vec![]]);
    }
}
