//! The verbs about the server itself: orders, in the words of the crate `control`, and the log.
//!
//! ```text
//! clock advance 60s                               moves the clock of the whole cluster; also: clock set TIME, clock freeze, clock run
//! clock replica 3 offset -120s                    sets the error of one replica's clock
//! fault create secrets status=403 times=2         refuses requests that match in the namespace; without `times` for ever
//! fault update serviceaccounts/builder status=409 user=alice times=1
//! fault create secrets preset=etcd-timeout        as a real server that fails so
//! fault create secrets do=reset when=afterCommit  breaks the connection once the object is stored; also: do=close, do=hang
//! fault clear                                     removes all faults
//! compact                                         compacts the history up to now: requests for it get 410
//! replica 2 hold                                  its cache stops: watches deliver nothing, reads with resourceVersion=0 are stale
//! replica 2 release                               its cache catches up
//! replica 1 cut                                   its open watches end
//! replica 1 stop                                  its connections end, new ones are refused; the objects stay, as they do in etcd
//! replica 1 start                                 it serves again
//! replica 1 unready                               its /readyz fails, and it serves all the same, until `start`
//! log of replica 3                                why requests were not authenticated, since the last look
//! ----
//! [invalid bearer token, service account token is not valid yet]
//! ```

use crate::stage::Stage;
use anyhow::Result;
use conformance_judge::observation::{Item, Observation};
use conformance_judge::scenario::command::RawCommand;
use conformance_judge::scenario::prefixes::replica_number;
use control::Order;
use serde_json::Value;

/// A verb about the server itself.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerVerb {
    /// An order.
    Order(Box<Order>),
    /// `log of replica N`.
    Log(usize),
}

impl ServerVerb {
    /// Reads the command.
    pub fn parse(command: &RawCommand) -> Result<ServerVerb, String> {
        match (command.verb.as_str(), &command.words()[..]) {
            ("log", ["of", "replica", replica]) => Ok(ServerVerb::Log(replica_number(replica)?)),
            ("log", _) => Err(command.usage("log of replica N")),
            (verb, words) => format!("{verb} {}", words.join(" ")).parse().map(Box::new).map(ServerVerb::Order),
        }
    }

    /// Carries it out.
    pub async fn play(&self, stage: &mut Stage<'_>) -> Result<Observation> {
        let order = match self {
            ServerVerb::Log(replica) => return read_log(*replica, stage),
            ServerVerb::Order(order) => (**order).clone(),
        };
        match order {
            Order::AddFault(mut rule) => {
                // A scenario means its own namespace.
                rule.on.namespaces = vec![stage.cluster.namespace().to_owned()];
                for name in &mut rule.on.names {
                    *name = stage.fill(name)?;
                }
                stage.cluster.obey(Order::AddFault(rule)).await?;
            }
            Order::AdvanceClock { .. } | Order::SetClock { .. } => move_clock(order, stage).await?,
            order => stage.cluster.obey(order).await?,
        }
        Ok(Observation::default())
    }
}

/// Moves the clock once all kubelets have seen the events so far.
async fn move_clock(order: Order, stage: &Stage<'_>) -> Result<()> {
    for kubelet in stage.kubelets.values() {
        kubelet.caught_up().await?;
    }
    stage.cluster.obey(order).await?;
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
