//! The verb about audit events.
//!
//! ```text
//! create configmaps/a
//!   Audit-ID: $namespace-1
//!
//! audit of $namespace-1                           the events of the request with that id so far
//! ----
//! RequestReceived
//! ResponseComplete objectRef.name=a
//!
//! audit of $namespace-2 until 3                   the same, once there are three of them
//! ```
//!
//! An event is an item: its stage; its fields are those of the event. The policy is in a file that a flag names
//! (`apiserver --audit-policy-file=$fixtures/audit/policy.yaml`).

use crate::deadline::DEADLINE;
use crate::stage::Stage;
use anyhow::{Result, bail};
use conformance_judge::observation::{Item, Observation};
use conformance_judge::scenario::command::RawCommand;
use serde_json::Value;
use std::time::{Duration, Instant};

/// The pause between two looks at the log.
const PAUSE: Duration = Duration::from_millis(5);

/// `audit of ID`, `audit of ID until N`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// The id of the request; it may have names in it.
    id: String,
    /// The number of events to wait for.
    least: usize,
}

impl Audit {
    /// Reads the command.
    pub fn parse(command: &RawCommand) -> Result<Audit, String> {
        let least = match &command.words()[..] {
            ["of", _] => Ok(0),
            ["of", _, "until", number] => number.parse().map_err(|_| format!("{number:?} is not a number")),
            _ => Err(command.usage("audit of ID [until N]")),
        }?;
        Ok(Audit { id: command.words()[1].to_owned(), least })
    }

    /// Carries it out.
    pub async fn play(&self, stage: &Stage<'_>) -> Result<Observation> {
        let id = stage.fill(&self.id)?;
        let deadline = Instant::now() + DEADLINE;
        loop {
            let events = stage.cluster.audit_events(&id)?;
            if events.len() >= self.least {
                return Ok(events.into_iter().map(item).collect::<Vec<_>>().into());
            }
            if Instant::now() > deadline {
                bail!("{} events of {id} after {DEADLINE:?}", events.len());
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

fn item(event: Value) -> Item {
    Item::new(event["stage"].as_str().unwrap_or_default().to_owned(), event)
}
