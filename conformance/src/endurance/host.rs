//! The server, in a process of its own, so that its memory can be measured. It carries out the commands on its standard input, one a
//! line, and answers each with a line.
//!
//! ```text
//! cut             all watches end
//! stop N, start N a replica
//! hold N, release N its cache
//! compact         the history up to now is compacted
//! fault N, calm   the fault rule of that number; no fault any more
//! ```

use super::faults::FAULTS;
use super::history::{Change, Shown};
use super::names;
use anyhow::{Context as _, Result, bail};
use fake_apiserver::FakeApiServer;
use fake_apiserver::internals::store::{self, Delivery, Scope, Subscription};
use fake_apiserver::internals::{self, ids};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Duration;
use tokio::sync::mpsc;

/// The number of changes that the server remembers.
pub(super) const REMEMBERED: usize = 5000;
/// The number of replicas.
pub(super) const REPLICAS: usize = 3;
/// The prefix of a line of the file about a compaction.
const COMPACTED: &str = "compacted";
/// How often changes are noted.
const NOTE: Duration = Duration::from_millis(100);

/// Serves until its standard input is closed. Changes are written to the file at `path`.
///
/// # Errors
/// If the server does not start, or the file cannot be written.
pub async fn serve(path: &Path) -> Result<()> {
    let server = FakeApiServer::builder().insecure().replicas(REPLICAS).history(REMEMBERED).start().await?;
    let mut changes = Changes::of(&server, path)?;
    let urls: Vec<String> = server.replicas().iter().map(|replica| replica.url()).collect();
    println!("ready {} {}", server.admin_token(), urls.join(" "));
    let (said, mut lines) = mpsc::unbounded_channel();
    // Its end is that of the input, or of the process.
    std::thread::spawn(move || std::io::stdin().lines().map_while(Result::ok).try_for_each(|line| said.send(line)));
    let mut pause = tokio::time::interval(NOTE);
    loop {
        tokio::select! {
            _ = pause.tick() => changes.note()?,
            line = lines.recv() => match line {
                None => break,
                Some(line) => {
                    changes.note()?;
                    obey(&server, &line).await.with_context(|| line.clone())?;
                    if line == "compact" {
                        writeln!(changes.file, "{COMPACTED} {}", internals::store(&server).revision())?;
                    }
                    println!("done");
                }
            },
        }
    }
    changes.note()?;
    changes.file.flush()?;
    server.shutdown().await;
    Ok(())
}

async fn obey(server: &FakeApiServer, line: &str) -> Result<()> {
    let (word, number) = line.split_once(' ').unwrap_or((line, "0"));
    let number: usize = number.parse()?;
    match word {
        "cut" => server.disconnect_watches(),
        "stop" => server.replica(number).stop().await,
        "start" => server.replica(number).start().await?,
        "hold" => server.replica(number).hold(),
        "release" => server.replica(number).release(),
        "compact" => server.compact(),
        "fault" => {
            server.faults().add(FAULTS.get(number).context("no such fault")?());
        }
        "calm" => server.faults().clear(),
        _ => bail!("no such command"),
    }
    Ok(())
}

/// The changes, as the store reports them, and the file that they are written to.
struct Changes {
    subscription: Subscription,
    file: BufWriter<File>,
}

impl Changes {
    fn of(server: &FakeApiServer, path: &Path) -> Result<Changes> {
        let scope = Scope { resource: ids::CONFIG_MAPS, namespace: None, name: None };
        let (_, subscription) = internals::store(server).subscribe(scope, None);
        Ok(Changes { subscription, file: BufWriter::new(File::create(path)?) })
    }

    fn note(&mut self) -> Result<()> {
        while let Some(delivery) = self.subscription.try_next() {
            let Delivery::Event(event, change) = delivery else {
                bail!("changes were forgotten before they were noted")
            };
            let object = event.object(change);
            let Some(number) = names::number(object.key.name()) else { continue };
            let change = match change {
                store::Change::Added => "added",
                store::Change::Modified => "modified",
                store::Change::Deleted => "deleted",
            };
            writeln!(self.file, "{change} {number} {} {}", object.meta.uid, event.revision)?;
        }
        Ok(())
    }
}

/// The changes in a file, and the revisions up to which history was forgotten.
pub(super) type Recorded = (Vec<(Change, Shown)>, Vec<u64>);

/// Reads a file that was written here.
///
/// # Errors
/// If it was not.
pub(super) fn read(text: &str) -> Result<Recorded> {
    let change = |line: &str| {
        let mut words = line.split(' ');
        let change = match words.next()? {
            "added" => Change::Added,
            "modified" => Change::Modified,
            _ => Change::Deleted,
        };
        let object = words.next()?.parse().ok()?;
        Some((change, Shown { object, uid: names::uid(words.next()?), revision: words.next()?.parse().ok()? }))
    };
    let (mut changes, mut compactions) = (Vec::new(), Vec::new());
    for line in text.lines() {
        match line.strip_prefix(COMPACTED) {
            Some(revision) => compactions.push(revision.trim().parse()?),
            None => changes.push(change(line).with_context(|| line.to_owned())?),
        }
    }
    Ok((changes, compactions))
}
