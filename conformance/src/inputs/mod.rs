//! The inputs of the fuzz targets as requests to a server, beside another client: which of them makes it wait?
//!
//! ```text
//! fixtures/corpus/TARGET/* ─▶ requests: what a client would send ─▶ server ◀─ vigil ──▶ findings
//! ```

mod requests;

use crate::attack::connect::{Authorities, Connector, Stream};
use crate::attack::data::{Over, Until};
use crate::attack::exchange::{self, Waiting};
use crate::attack::pieces::Act;
use crate::credentials::ADMINISTRATOR;
use crate::subject::{Embedded, Process, Setup, Target};
use crate::vigil::{Complaint, Vigil};
use anyhow::{Context as _, Result, ensure};
use clap::{Args, ValueEnum};
use requests::{Message, Requests};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The time after which the answer to a message is not waited for any more. Some are no whole request.
const PATIENCE: Duration = Duration::from_secs(1);
/// The rounds of the vigil behind each input.
const ROUNDS: u64 = 2;
/// How often an input is sent that makes others wait. On a busy machine others wait now and then, but not each time.
const TIMES: u32 = 3;

/// The arguments of `inputs`.
#[derive(Debug, Args)]
pub struct Options {
    /// The server that they are sent to
    #[arg(long, value_enum, default_value_t = Kind::Embedded)]
    target: Kind,
    /// The time that another client may have to wait
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 50)]
    beside: u64,
    /// A folder with a folder of inputs for each fuzz target, such as target/fuzz-corpus; `fixtures/corpus`, if none is named
    #[arg(long, value_name = "FOLDER")]
    corpus: Option<PathBuf>,
    /// Only inputs whose target and name, as in `json-patch/copy`, contain this
    #[arg(default_value = "")]
    filter: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// The library, in this process
    Embedded,
    /// The program
    Process,
}

/// The outcome of sending all inputs.
#[derive(Debug)]
pub struct Outcome {
    /// The inputs that made another client wait each time, and how long.
    pub findings: Vec<String>,
    /// The number of inputs that were sent.
    sent: usize,
    /// The number of inputs by target that no request can have.
    others: BTreeMap<String, usize>,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let others: Vec<_> = self.others.iter().map(|(target, count)| format!("{count} of {target}")).collect();
        writeln!(f, "{} inputs sent; not for a request: {}", self.sent, others.join(", "))?;
        write!(f, "{} make another client wait", self.findings.len())?;
        self.findings.iter().try_for_each(|finding| write!(f, "\n    {finding}"))
    }
}

/// Sends the inputs one after the other, beside a vigil. `root` is the workspace's folder.
///
/// # Errors
/// If the server cannot be started or prepared, or there is no such input.
pub async fn run(options: &Options, root: &Path) -> Result<Outcome> {
    let folder = options.corpus.clone().unwrap_or_else(|| root.join("fixtures/corpus"));
    let inputs = inputs(&folder, &options.filter)?;
    ensure!(!inputs.is_empty(), "no input's name contains {:?}", options.filter);
    let target: Box<dyn Target> = match options.target {
        Kind::Embedded => Box::new(Embedded),
        Kind::Process => Box::new(Process::find()?),
    };
    let setup = Setup {
        scenario: "inputs".to_owned(),
        replicas: 1,
        flags: Vec::new(),
        has_own_files: false,
        manual_clock: false,
        tls: true,
    };
    let cluster = target.start(&setup).await?;
    let (endpoint, token) = (&cluster.endpoints()[0], cluster.token(ADMINISTRATOR));
    let token = token.context("the administrator has a token")?;
    for (path, body) in requests::before() {
        endpoint.ask(Some(&token), "POST", path, &body).await?;
    }
    let ca_pem = cluster.ca_pem().context("the server has TLS")?;
    let connector = Connector::new(endpoint.address()?, ca_pem, Arc::new(Authorities::new()?));
    let limit = Duration::from_millis(options.beside);
    let vigil = Vigil::begin(endpoint.clone(), Some(token.clone()), limit)?;
    // The first request takes long for another reason: much is made for it.
    vigil.rounds(ROUNDS).await;
    vigil.complaints();
    let mut outcome = Outcome { findings: Vec::new(), sent: 0, others: BTreeMap::new() };
    for (target, name, bytes) in inputs {
        let mut waits = Vec::new();
        for time in 0..TIMES {
            let Some(messages) = (Requests { token: &token, time }).of(&target, &bytes) else {
                *outcome.others.entry(target.clone()).or_default() += 1;
                break;
            };
            outcome.sent += usize::from(time == 0);
            for message in messages {
                send(&connector, message, &vigil).await.with_context(|| format!("{target}/{name}"))?;
            }
            vigil.rounds(ROUNDS).await;
            match vigil.complaints().into_iter().next() {
                Some(complaint) => waits.push(complaint),
                None => break,
            }
        }
        if waits.len() == TIMES as usize {
            let waits: Vec<_> = waits.iter().map(Complaint::to_string).collect();
            println!("{target}/{name}: {}", waits[0]);
            outcome.findings.push(format!("{target}/{name}: {}", waits.join("; ")));
        }
    }
    drop(vigil);
    cluster.stop().await?;
    Ok(outcome)
}

/// Sends a message over a connection of its own, and reads its answers.
async fn send(connector: &Connector, Message { bytes, answers }: Message, vigil: &Vigil) -> Result<()> {
    let stream: Box<dyn Stream> = connector.connect(Over::Http1, None).await?;
    let waiting = Waiting { until: Until::Answered, answers: Some(answers), patience: PATIENCE, vigil };
    exchange::http1(stream, vec![Act::Send(bytes)], waiting).await;
    Ok(())
}

/// The inputs below a folder: target, name and bytes, in order.
fn inputs(folder: &Path, filter: &str) -> Result<Vec<(String, String, Vec<u8>)>> {
    let mut inputs = Vec::new();
    for target in names(folder)? {
        for name in names(&folder.join(&target))? {
            if format!("{target}/{name}").contains(filter) {
                let bytes = std::fs::read(folder.join(&target).join(&name))?;
                inputs.push((target.clone(), name, bytes));
            }
        }
    }
    Ok(inputs)
}

/// The names in a folder, in order.
fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut names =
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect::<Result<Vec<String>>>()?;
    names.sort();
    Ok(names)
}
