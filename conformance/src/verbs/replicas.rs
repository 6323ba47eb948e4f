//! The verb `replica`: disruptions of an API server. The objects stay, as they do in etcd.
//!
//! ```text
//! replica 2 hold             its cache stops: watches deliver nothing, reads with resourceVersion=0 are stale
//! replica 2 release          its cache catches up
//! replica 1 cut              its open watches end
//! replica 1 stop             its connections end, new ones are refused
//! replica 1 start            it serves again
//! ```

use crate::stage::Stage;
use crate::subject::Disruption;
use anyhow::Result;
use conformance_judge::observation::Observation;
use conformance_judge::scenario::command::RawCommand;
use conformance_judge::scenario::prefixes::replica_number;

/// The verb `replica` with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplicaVerb {
    /// The number of the API server, from 1.
    pub number: usize,
    /// The disruption to cause.
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
