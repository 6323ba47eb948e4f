//! Orders as lines of scenarios.
//!
//! ```text
//! clock advance 60s | clock set 2026-01-01T00:00:00Z | clock freeze | clock run
//! clock replica 2 offset -120s                 replicas of scenarios count from 1
//! compact
//! fault create secrets status=503 times=2      also: RESOURCE/NAME, user=NAME, preset=NAME, when=afterCommit, do=reset
//! fault clear
//! replica 2 cut | hold [RESOURCE[/NAME]] | release | start | stop | unready
//! ```

use crate::fault::{Action, Connection, Do, Rule, Scope, Status, When};
use crate::glob::escaped;
use crate::matching::Match;
use crate::near::hint;
use crate::order::{Cut, HoldOnly, Order, ReplicaChange, Running, ViewState};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::str::FromStr;

const CLOCK: &str = "clock advance 60s | clock set TIME | clock freeze | clock run | clock replica N offset -120s";
const FAULT: &str = "fault VERB RESOURCE[/NAME] status=N | preset=NAME | do=close|reset|hang [when=beforeCommit|afterCommit] [times=N] [skip=N] [user=NAME] | fault clear";
const REPLICA: &str = "replica N cut|hold|release|start|stop|unready | replica N hold RESOURCE[/NAME]";
const SETTINGS: [&str; 7] = ["do", "preset", "skip", "status", "times", "user", "when"];

impl FromStr for Order {
    type Err = String;

    fn from_str(line: &str) -> Result<Order, String> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match &words[..] {
            ["compact"] => Ok(Order::Compact { revision: None }),
            ["compact", ..] => Err(usage("compact")),
            ["clock", "advance", time] => Ok(Order::AdvanceClock { seconds: seconds(time)? }),
            ["clock", "set", time] => {
                let now = time.parse().map_err(|error| format!("{time:?}: {error}"))?;
                Ok(Order::SetClock { now: Some(now), frozen: None })
            }
            ["clock", "freeze"] => Ok(Order::SetClock { now: None, frozen: Some(true) }),
            ["clock", "run"] => Ok(Order::SetClock { now: None, frozen: Some(false) }),
            ["clock", "replica", number, "offset", time] => {
                let clock_offset_seconds = Some(seconds(time)?);
                Ok(Order::Replica(ReplicaChange { clock_offset_seconds, ..replica(number)? }))
            }
            ["clock", ..] => Err(usage(CLOCK)),
            ["fault", "clear"] => Ok(Order::ClearFaults),
            ["fault", verb, target, settings @ ..] => fault(verb, target, settings).map(Order::AddFault),
            ["fault", ..] => Err(usage(FAULT)),
            ["replica", number, act] => disruption(number, act).map(Order::Replica),
            ["replica", number, "hold", target] => {
                let change = ReplicaChange { view: Some(ViewState::Held), ..replica(number)? };
                Ok(Order::Replica(ReplicaChange { hold_only: Some(held(target)), ..change }))
            }
            ["replica", ..] => Err(usage(REPLICA)),
            [word, ..] => {
                Err(format!("{word:?} is not an order{}", hint(word, ["clock", "compact", "fault", "replica"])))
            }
            [] => Err("no order".into()),
        }
    }
}

impl fmt::Display for Order {
    /// The line of a scenario, where there is one; JSON otherwise.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Order::Compact { revision: None } => f.write_str("compact"),
            Order::AdvanceClock { seconds } => write!(f, "clock advance {seconds}s"),
            Order::SetClock { now: Some(now), frozen: None } => write!(f, "clock set {now}"),
            Order::SetClock { now: None, frozen: Some(true) } => f.write_str("clock freeze"),
            Order::SetClock { now: None, frozen: Some(false) } => f.write_str("clock run"),
            Order::ClearFaults => f.write_str("fault clear"),
            Order::Replica(change) => match act(change) {
                Some(act) => write!(f, "replica {} {act}", change.replica + 1),
                None => match change.clock_offset_seconds {
                    Some(seconds) => write!(f, "clock replica {} offset {seconds}s", change.replica + 1),
                    None => json(self, f),
                },
            },
            _ => json(self, f),
        }
    }
}

fn json(order: &Order, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(&serde_json::to_string(order).map_err(|_| fmt::Error)?)
}

fn usage(usage: &str) -> String {
    format!("usage: {usage}")
}

fn replica(number: &str) -> Result<ReplicaChange, String> {
    let index = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let replica = index.ok_or_else(|| format!("{number:?} is not a number of a replica, from 1 on"))?;
    Ok(ReplicaChange { replica, ..ReplicaChange::default() })
}

fn disruption(number: &str, act: &str) -> Result<ReplicaChange, String> {
    let mut change = replica(number)?;
    match act {
        "cut" => change.watches = Some(Cut::End),
        "hold" => change.view = Some(ViewState::Held),
        "release" => change.view = Some(ViewState::Live),
        "start" => change.state = Some(Running::Running),
        "stop" => change.state = Some(Running::Stopped),
        "unready" => change.state = Some(Running::Unready),
        _ => return Err(usage(REPLICA)),
    }
    Ok(change)
}

/// The objects of a resource, or one of each namespace.
fn held(target: &str) -> HoldOnly {
    let (resource, name) = target.split_once('/').map_or((target, None), |(resource, name)| (resource, Some(name)));
    let one = |text: &str| vec![escaped(text)];
    HoldOnly { resources: one(resource), names: name.map(one).unwrap_or_default(), ..HoldOnly::default() }
}

/// The word for a change, if it is one of those.
fn act(change: &ReplicaChange) -> Option<&'static str> {
    if change.hold_only.is_some() {
        return None;
    }
    match (change.state, change.view, change.clock_offset_seconds, change.watches) {
        (None, None, None, Some(Cut::End)) => Some("cut"),
        (None, Some(ViewState::Held), None, None) => Some("hold"),
        (None, Some(ViewState::Live), None, None) => Some("release"),
        (Some(Running::Running), None, None, None) => Some("start"),
        (Some(Running::Stopped), None, None, None) => Some("stop"),
        (Some(Running::Unready), None, None, None) => Some("unready"),
        _ => None,
    }
}

/// Reads a number of seconds like `-60s`.
fn seconds(time: &str) -> Result<i64, String> {
    let seconds = time.strip_suffix('s').and_then(|seconds| seconds.parse().ok());
    seconds.ok_or_else(|| format!("{time:?} is not a number of seconds like \"-60s\""))
}

fn fault(verb: &str, target: &str, settings: &[&str]) -> Result<Rule, String> {
    let (resource, name) = match target.split_once('/') {
        Some((resource, name)) => (resource, Some(name)),
        None => (target, None),
    };
    // A scenario means the subresources, too.
    let on = Match {
        verbs: vec![verb.into()],
        resources: vec![format!("{resource}/*")],
        names: name.map(escaped).into_iter().collect(),
        ..Match::default()
    };
    let mut rule = Rule { on, ..Rule::default() };
    let (mut when, mut act) = (When::default(), None);
    for setting in settings {
        match setting.split_once('=') {
            Some(("status", code)) => {
                rule.actions.push(Action::Status(Status { code: number(code)?, ..Status::default() }));
            }
            Some(("preset", preset)) => rule.actions.push(Action::Preset(word(preset)?)),
            Some(("do", word_)) => act = Some(word::<Do>(word_)?),
            Some(("when", moment)) => when = word(moment)?,
            Some(("times", times)) => rule.times = Some(number(times)?),
            Some(("skip", skip)) => rule.skip = number(skip)?,
            Some(("user", user)) => rule.on.users.push(escaped(user)),
            _ => return Err(format!("{setting:?} is none of {}", SETTINGS.map(|name| format!("{name}=")).join(", "))),
        }
    }
    if let Some(act) = act {
        rule.actions.push(Action::Connection(Connection { act, when, bytes: None, scope: Scope::default() }));
    }
    match rule.actions.len() {
        1 => Ok(rule),
        _ => Err("a fault needs one of status=N, preset=NAME, do=WORD".into()),
    }
}

fn number<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("{text:?} is not a number"))
}

/// A word of the vocabulary.
fn word<W: DeserializeOwned>(text: &str) -> Result<W, String> {
    serde_json::from_value(Value::String(text.into()))
        .map_err(|error| crate::decode::refusal(&error.to_string()).message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_printed() {
        for line in [
            "clock advance -60s",
            "clock set 2026-01-01T00:00:00Z",
            "clock freeze",
            "clock run",
            "clock replica 2 offset -120s",
            "compact",
            "fault clear",
            "replica 1 cut",
            "replica 2 hold",
            "replica 2 release",
            "replica 3 start",
            "replica 3 stop",
            "replica 3 unready",
        ] {
            assert_eq!(line.parse::<Order>().map(|order| order.to_string()).as_deref(), Ok(line));
        }
    }

    #[test]
    fn some_objects_alone_are_held() {
        let order: Order = "replica 2 hold pods/web".parse().expect("an order");
        let expected = serde_json::json!(
            {"order": "replica", "replica": 1, "view": "held", "holdOnly": {"resources": ["pods"], "names": ["web"]}}
        );
        assert_eq!(serde_json::to_value(&order).unwrap(), expected);
        assert_eq!(order.to_string(), serde_json::to_string(&order).unwrap());
    }

    #[test]
    fn a_fault_is_a_rule() {
        let Ok(Order::AddFault(rule)) = "fault create secrets/a status=503 times=2 user=manager".parse() else {
            panic!("it is a fault")
        };
        assert_eq!(
            serde_json::to_value(&rule).unwrap(),
            serde_json::json!({
                "match": {"verbs": ["create"], "resources": ["secrets/*"], "names": ["a"], "users": ["manager"]},
                "times": 2,
                "actions": [{"status": {"code": 503}}],
            })
        );
        for (line, expected) in [
            ("fault create secrets", "a fault needs one of status=N, preset=NAME, do=WORD"),
            ("fault create secrets status=x", "\"x\" is not a number"),
            ("fault create secrets code=1", "\"code=1\" is none of do=, preset=, skip=, status=, times=, user=, when="),
            ("clok advance 1s", "\"clok\" is not an order; did you mean \"clock\"?"),
            ("replica 0 cut", "\"0\" is not a number of a replica, from 1 on"),
            (
                "replica 1 cut pods",
                "usage: replica N cut|hold|release|start|stop|unready | replica N hold RESOURCE[/NAME]",
            ),
            ("clock advance 1m", "\"1m\" is not a number of seconds like \"-60s\""),
        ] {
            assert_eq!(line.parse::<Order>().unwrap_err(), expected);
        }
        let refused = "fault create secrets preset=etcd-timout".parse::<Order>().unwrap_err();
        assert!(refused.ends_with("did you mean \"etcd-timeout\"?"), "{refused}");
    }
}
