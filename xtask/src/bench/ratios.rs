//! Measurements of one load as a part of another on the same server, and of the memory that the field managers take.

use super::load::{
    APPLIES, DEPLOYMENT_CREATES, GETS, LISTS, Load, POD_CREATES, PROTOBUF_GETS, PROTOBUF_LISTS, Session,
};
use super::report::Unit;
use super::server::Server;
use super::{BARE, Bench, OWN, Process, Programs};

/// Number of rounds.
const ROUNDS: usize = 5;
/// The figures, each with its load and the one that it is a part of.
const RATIOS: [(&str, &Load, &Load); 4] = [
    ("gets in protobuf, of those in JSON", &PROTOBUF_GETS, &GETS),
    ("lists of 4,000 in protobuf, of those in JSON", &PROTOBUF_LISTS, &LISTS),
    ("applies that change nothing, of gets", &APPLIES, &GETS),
    ("creates of deployments, of those of pods", &DEPLOYMENT_CREATES, &POD_CREATES),
];
/// Number of config maps whose memory is measured.
const MANY: u64 = 100_000;
const MEMORY: [&str; 2] = ["memory of 100,000 config maps", "the same without field managers"];

impl Bench<'_> {
    /// Measures requests per second, in percent of those of another load.
    pub(super) async fn ratios(&mut self) -> anyhow::Result<()> {
        for (name, load, whole) in RATIOS {
            if !self.wants(name) {
                continue;
            }
            let mut samples = self.no_samples();
            for (index, server) in self.servers.iter().enumerate().filter(|(index, _)| *index != BARE) {
                server.apply_all().await?;
                let (mut part, mut whole) = (Session::open(load, server).await?, Session::open(whole, server).await?);
                for _ in 0..ROUNDS {
                    // One right after the other, so that other load on the machine affects both alike.
                    samples[index].push(part.round().await?.rate / whole.round().await?.rate * 100.0);
                }
            }
            self.add(name, Unit::Percent, samples);
        }
        Ok(())
    }

    /// Measures the memory of many objects, with and without managed fields, on servers of their own that keep no history.
    pub(super) async fn memory_of_owners(&mut self, programs: &Programs) -> anyhow::Result<()> {
        if !MEMORY.iter().any(|name| self.wants(name)) {
            return Ok(());
        }
        for (name, owned) in MEMORY.iter().zip([true, false]) {
            let process = Process::start(programs.own().arg("--history-bytes=1"))?;
            let server = super::server("fake-apiserver", process)?;
            server.populate(0).await?;
            let before = server.memory();
            fill(&server, owned).await?;
            let mut samples = self.no_samples();
            let bytes = server.memory().zip(before).map(|(now, before)| now.saturating_sub(before));
            samples[OWN].extend(bytes.map(|bytes| bytes as f64 / 1e6));
            self.add(name, Unit::Megabytes, samples);
        }
        Ok(())
    }
}

/// Creates the objects, and changes each: it keeps its managers, or loses them.
async fn fill(server: &Server, owned: bool) -> anyhow::Result<()> {
    let mut connection = server.target.connect().await?;
    for _ in 0..MANY {
        for call in server.create_and_label(owned) {
            connection.exchange(call).await?;
        }
    }
    Ok(())
}
