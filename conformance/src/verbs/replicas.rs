//! What befalls API servers: they fall behind, are cut off, go down and come back. The objects stay, as they do in etcd.
//!
//! ```text
//! replica 2 hold             its cache stands still: watches hear nothing, reads that ask for no freshness see the past
//! replica 2 release          it catches up
//! replica 1 cut              ends all watches that are open on it
//! replica 1 stop             ends all its connections; it refuses others
//! replica 1 start            it is back
//! ```

use crate::observation::Observation;
use crate::scenario::command::{Written, replica_number};
use crate::stage::Stage;
use anyhow::Result;
use std::fmt;

/// What befalls one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replica {
    /// Its number, from 1.
    pub number: usize,
    /// What.
    pub fate: Fate,
}

/// What can befall an API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Its watches end.
    Cut,
    /// Its cache stands still.
    Hold,
    /// Its cache catches up.
    Release,
    /// It comes back.
    Start,
    /// It goes down.
    Stop,
}

impl Fate {
    const ALL: [Fate; 5] = [Fate::Cut, Fate::Hold, Fate::Release, Fate::Start, Fate::Stop];
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fate::Cut => "cut",
            Fate::Hold => "hold",
            Fate::Release => "release",
            Fate::Start => "start",
            Fate::Stop => "stop",
        })
    }
}

impl Replica {
    /// Reads the command.
    pub fn parse(written: &Written<'_>) -> Result<Replica, String> {
        let usage = || written.usage("replica N cut|hold|release|start|stop");
        let [number, fate] = written.words()[..] else { return Err(usage()) };
        let fate = Fate::ALL.into_iter().find(|known| known.to_string() == fate).ok_or_else(usage)?;
        Ok(Replica { number: replica_number(number)?, fate })
    }

    /// Carries it out.
    pub async fn play(&self, stage: &mut Stage<'_>) -> Result<Observation> {
        stage.cluster.befall(self.number, self.fate).await?;
        Ok(Observation::default())
    }
}
