//! Records what the real kube-apiserver objects to in the files of authentication and authorization: `fixtures/configurations.jsonl`, a line
//! each. A case has the `flag` that names the file, its `text`, in which `$folder` is where it is, and further `flags`; the refusal is
//! written here. Servers do not start, as there is no etcd.

use crate::answered;
use crate::credentials::SIGNING_KEY;
use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The flags without which the program objects to other things.
const USUAL: [&str; 5] = [
    "--etcd-servers=http://127.0.0.1:1",
    "--service-account-issuer=https://kubernetes.default.svc",
    "--service-cluster-ip-range=10.0.0.0/24",
    "--secure-port=16443",
    "--bind-address=127.0.0.1",
];

/// The time after which a program that still tries to reach etcd has read all files.
const LONG: Duration = Duration::from_secs(5);

/// A file, and the refusal of it; none, if it is taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Case {
    flag: String,
    text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    flags: Vec<String>,
    #[serde(default)]
    refused: Option<String>,
}

/// Shows the program all files, and writes the refusals, or compares them.
///
/// # Errors
/// If the program was not built, or answers otherwise than recorded.
pub fn record(file: &Path, check: bool) -> Result<()> {
    answered::record(file, check, |program, case: Case| {
        let refused = refusal(program, &case)?;
        Ok(Case { refused, ..case })
    })
}

/// The error with which the program ends, if it does not take the file.
fn refusal(program: &Path, case: &Case) -> Result<Option<String>> {
    let since = Instant::now();
    let folder = tempfile::tempdir()?;
    let place = folder.path().display().to_string();
    let path = folder.path().join("file");
    fs::write(&path, case.text.replace("$folder", &place))?;
    let mut child = Command::new(program)
        .args(USUAL)
        .arg(format!("--service-account-key-file={SIGNING_KEY}"))
        .arg(format!("--service-account-signing-key-file={SIGNING_KEY}"))
        .arg(format!("--cert-dir={place}/certificates"))
        .arg(format!("--{}={}", case.flag, path.display()))
        .args(case.flags.iter().map(|flag| flag.replace("$folder", &place)))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let log = BufReader::new(child.stderr.take().context("it is piped")?);
    let mut refused: Option<String> = None;
    // A text of several lines is indented, and has this line behind it.
    let (mut more, end) = (false, " >");
    for line in log.lines() {
        let line = line?;
        if let Some((_, error)) = line.split_once("\"command failed\" err=") {
            more = error == "<";
            refused = Some(if more { String::new() } else { serde_json::from_str(error)? });
        } else if more && line != end {
            let text = refused.get_or_insert_default();
            *text += if text.is_empty() { "" } else { "\n" };
            *text += line.strip_prefix('\t').unwrap_or(&line);
        } else {
            more = false;
        }
        // It tries for long to reach etcd, while all files are read.
        if line.contains("addrConn.createTransport failed") && since.elapsed() > LONG {
            child.kill()?;
        }
    }
    child.wait()?;
    Ok(refused.map(|refused| refused.replace(&place, "$folder")))
}
