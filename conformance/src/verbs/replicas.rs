//! Disruptions of API servers: they fall behind, are cut off, stop and start. The objects stay, as they do in etcd.
//!
//! ```text
//! replica 2 hold             its cache stands still: watches hear nothing, reads that ask for no freshness see the past
//! replica 2 release          it catches up
//! replica 1 cut              ends all watches that are open on it
//! replica 1 stop             ends all its connections; it refuses others
//! replica 1 start            it is back
//! ```

use crate::stage::Stage;
use crate::subject::Disruption;
use anyhow::Result;
use conformance_judge::observation::Observation;
use conformance_judge::scenario::command::RawCommand;
use conformance_judge::scenario::prefixes::replica_number;

/// The verb `replica`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplicaVerb {
    /// The number of the API server, from 1.
    pub number: usize,
    /// The disruption.
    pub disruption: Disruption,
}

impl ReplicaVerb {
    /// Reads the command.
    pub fn parse(command: &RawCommand) -> Result<ReplicaVerb, String> {
        let usage = || command.usage("replica N cut|hold|release|start|stop");
        let [number, word] = command.words()[..] else { return Err(usage()) };
        let disruption = Disruption::ALL.into_iter().find(|known| known.to_string() == word).ok_or_else(usage)?;
        Ok(ReplicaVerb { number: replica_number(number)?, disruption })
    }

    /// Carries it out.
    pub async fn play(&self, stage: &mut Stage<'_>) -> Result<Observation> {
        stage.cluster.disrupt(self.number, self.disruption).await?;
        Ok(Observation::default())
    }
}
