//! The verbs about the server itself: clocks, injected faults, compaction, the log.
//!
//! ```text
//! clock advance 60s                               moves the clock of the whole cluster
//! clock replica 3 offset -120s                    sets the error of one replica's clock
//! fault create secrets status=403 times=2         refuses requests that match in the namespace; without `times` for ever
//! fault update serviceaccounts/builder status=409 user=alice times=1
//! fault clear                                     removes all faults
//! compact                                         compacts the history up to now: requests for it get 410
//! log of replica 3                                why requests were not authenticated, since the last look
//! ----
//! [invalid bearer token, service account token is not valid yet]
//! ```

use crate::stage::Stage;
use crate::subject::Fault;
use anyhow::Result;
use conformance_judge::observation::{Item, Observation};
use conformance_judge::scenario::command::RawCommand;
use conformance_judge::scenario::prefixes::replica_number;
use serde_json::Value;

/// A verb about the server itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerVerb {
    /// `clock advance SECONDSs`.
    Advance(i64),
    /// `clock replica N offset SECONDSs`.
    Offset(usize, i64),
    /// `compact`.
    Compact,
    /// `fault VERB RESOURCE[/NAME] …`.
    Fault(Fault),
    /// `fault clear`.
    ClearFaults,
    /// `log of replica N`.
    Log(usize),
}

impl ServerVerb {
    /// Reads the command.
    pub fn parse(command: &RawCommand) -> Result<ServerVerb, String> {
        match (command.verb.as_str(), &command.words()[..]) {
            ("compact", []) => Ok(ServerVerb::Compact),
            ("clock", ["advance", duration]) => Ok(ServerVerb::Advance(seconds(duration)?)),
            ("clock", ["replica", replica, "offset", duration]) => {
                Ok(ServerVerb::Offset(replica_number(replica)?, seconds(duration)?))
            }
            ("fault", ["clear"]) => Ok(ServerVerb::ClearFaults),
            ("fault", [verb, target, settings @ ..]) => fault(verb, target, settings).map(ServerVerb::Fault),
            ("log", ["of", "replica", replica]) => Ok(ServerVerb::Log(replica_number(replica)?)),
            ("clock", _) => Err(command.usage("clock advance 60s | clock replica N offset -120s")),
            ("compact", _) => Err(command.usage("compact")),
            ("log", _) => Err(command.usage("log of replica N")),
            _ => Err(command.usage("fault VERB RESOURCE[/NAME] status=N [times=N] [user=NAME] | fault clear")),
        }
    }

    /// Carries it out.
    pub async fn play(&self, stage: &mut Stage<'_>) -> Result<Observation> {
        match self {
            ServerVerb::Advance(seconds) => advance(*seconds, stage).await?,
            ServerVerb::Offset(replica, seconds) => stage.cluster.set_clock_offset(*replica, *seconds)?,
            ServerVerb::Compact => stage.cluster.compact().await?,
            ServerVerb::Fault(fault) => stage.cluster.add_fault(Fault {
                name: fault.name.as_deref().map(|name| stage.fill(name)).transpose()?,
                ..fault.clone()
            })?,
            ServerVerb::ClearFaults => stage.cluster.clear_faults()?,
            ServerVerb::Log(replica) => return read_log(*replica, stage),
        }
        Ok(Observation::default())
    }
}

/// Moves the clock once all kubelets have seen the events so far.
async fn advance(seconds: i64, stage: &Stage<'_>) -> Result<()> {
    for kubelet in stage.kubelets.values() {
        kubelet.caught_up().await?;
    }
    stage.cluster.advance_clock(seconds)?;
    stage.clock_moved.send_replace(());
    Ok(())
}

fn read_log(replica: usize, stage: &mut Stage<'_>) -> Result<Observation> {
    let lines = stage.cluster.authentication_failures(replica)?;
    let read = stage.log_lines_read.insert(replica, lines.len()).unwrap_or_default();
    Ok(lines.into_iter().skip(read).map(|line| Item::new(line, Value::Null)).collect::<Vec<_>>().into())
}

/// Reads a number of seconds like `-60s`.
pub(super) fn seconds(duration: &str) -> Result<i64, String> {
    let seconds = duration.strip_suffix('s').and_then(|seconds| seconds.parse().ok());
    seconds.ok_or_else(|| format!("{duration:?} is not a number of seconds like \"-60s\""))
}

fn fault(verb: &str, target: &str, settings: &[&str]) -> Result<Fault, String> {
    let (resource, name) = match target.split_once('/') {
        Some((resource, name)) => (resource, Some(name.to_owned())),
        None => (target, None),
    };
    let mut fault =
        Fault { verb: verb.to_owned(), resource: resource.to_owned(), name, user: None, status: 0, times: None };
    for setting in settings {
        match setting.split_once('=') {
            Some(("status", status)) => fault.status = number(status)?,
            Some(("times", times)) => fault.times = Some(number(times)?),
            Some(("user", user)) => fault.user = Some(user.to_owned()),
            _ => return Err(format!("{setting:?} is none of status=N, times=N, user=NAME")),
        }
    }
    if fault.status < 400 {
        return Err("a fault needs the status=N it answers with".to_owned());
    }
    Ok(fault)
}

fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("{text:?} is not a number"))
}
