//! Records what the real kube-apiserver objects to in files that flags name, and in flags together: `fixtures/configurations.jsonl`, a line
//! each. A case has the `flag` that names the file, if there is one, its `text`, in which `$folder` is where it is, further `files` there, and
//! further `flags`; the refusal is written here. A server that starts is stopped at once.

use crate::answered;
use crate::control_plane::cache;
use crate::credentials::SIGNING_KEY;
use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The flags without which the program objects to other things.
const USUAL: [&str; 3] = [
    "--service-account-issuer=https://kubernetes.default.svc",
    "--service-cluster-ip-range=10.0.0.0/24",
    "--bind-address=127.0.0.1",
];
/// The line of a server that has started.
const STARTED: &str = "Serving securely on";
/// The line of an etcd that has.
const ETCD_STARTED: &str = "serving client traffic";

/// A file that a flag names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct File {
    flag: String,
    text: String,
}

/// A file and flags, and the refusal of them; none, if they are taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Case {
    #[serde(flatten)]
    file: Option<File>,
    /// Further files by their paths in the folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    flags: Vec<String>,
    #[serde(default)]
    refused: Option<String>,
}

/// An etcd of its own.
struct Etcd {
    url: String,
    program: Child,
    _folder: TempDir,
}

impl Etcd {
    fn start() -> Result<Etcd> {
        let folder = tempfile::tempdir()?;
        let url = format!("http://127.0.0.1:{}", free_port()?);
        let mut program = Command::new(cache::program(cache::VERSION, "etcd")?)
            .arg(format!("--data-dir={}", folder.path().display()))
            .arg(format!("--listen-client-urls={url}"))
            .arg(format!("--advertise-client-urls={url}"))
            .args(["--unsafe-no-fsync", "--listen-peer-urls=http://127.0.0.1:0"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut log = BufReader::new(program.stderr.take().context("it is piped")?).lines();
        log.by_ref()
            .find(|line| line.as_ref().is_ok_and(|line| line.contains(ETCD_STARTED)))
            .context("etcd ended")??;
        // What it says further is of no interest, but has to go somewhere.
        std::thread::spawn(move || log.for_each(drop));
        Ok(Etcd { url, program, _folder: folder })
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        // It may be gone.
        self.program.kill().and_then(|()| self.program.wait()).ok();
    }
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Shows the program all files, and writes the refusals, or compares them.
///
/// # Errors
/// If the program was not built, or answers otherwise than recorded.
pub fn record(file: &Path, check: bool) -> Result<()> {
    let etcd = Etcd::start()?;
    answered::record(file, check, |program, case: Case| {
        let refused = refusal(program, &case, &etcd)?;
        Ok(Case { refused, ..case })
    })
}

/// The error with which the program ends, if it does not start.
fn refusal(program: &Path, case: &Case, etcd: &Etcd) -> Result<Option<String>> {
    let folder = tempfile::tempdir()?;
    let place = folder.path().display().to_string();
    let write = |path: &str, text: &str| -> Result<()> {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().context("it is in the folder")?)?;
        Ok(fs::write(path, text.replace("$folder", &place))?)
    };
    if let Some(file) = &case.file {
        write("file", &file.text)?;
    }
    case.files.iter().try_for_each(|(path, text)| write(path, text))?;
    let mut child = Command::new(program)
        .args(USUAL)
        .arg(format!("--etcd-servers={}", etcd.url))
        .arg(format!("--secure-port={}", free_port()?))
        .arg(format!("--service-account-key-file={SIGNING_KEY}"))
        .arg(format!("--service-account-signing-key-file={SIGNING_KEY}"))
        .arg(format!("--cert-dir={place}/certificates"))
        .args(case.file.iter().map(|file| format!("--{}={place}/file", file.flag)))
        .args(case.flags.iter().map(|flag| flag.replace("$folder", &place)))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let log = BufReader::new(child.stderr.take().context("it is piped")?);
    let refused = said(log.lines().map_while(Result::ok), || child.kill())?;
    child.wait()?;
    Ok(refused.map(|refused| refused.replace(&place, "$folder")))
}

/// The error in a log; `stop` is called once it says that the server has started.
fn said(log: impl Iterator<Item = String>, mut stop: impl FnMut() -> std::io::Result<()>) -> Result<Option<String>> {
    let mut refused: Option<String> = None;
    // A text of several lines is indented, and has this line behind it.
    let (mut more, end) = (false, " >");
    for line in log {
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
        // The program ends there and then.
        if let Some((_, error)) = line.split_once("] ").filter(|_| line.starts_with('F')) {
            refused = Some(error.to_owned());
        }
        if line.contains(STARTED) {
            stop()?;
        }
    }
    Ok(refused)
}
