//! Rules by which requests fail on purpose.

mod action;
mod check;

pub use action::{
    Action, Body, Connection, Delay, Details, Do, Events, Scope, Stale, Status, StatusCause, Step, Steps, Tls, TlsDo,
    Watch, WatchDo, When,
};
pub use check::{Known, check};

use crate::matching::Match;
use crate::preset::Preset;
use serde::{Deserialize, Serialize};

/// A rule by which requests fail on purpose. Of several that match a request, the first one strikes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Rule {
    /// A name, for the record and for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The requests.
    #[serde(rename = "match")]
    pub on: Match,
    /// The number of requests that pass before the first one is struck.
    #[serde(skip_serializing_if = "is_zero")]
    pub skip: u32,
    /// The number of requests that are struck; all by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// The part of the requests that is struck, from 0 to 1; 1 by default.
    #[serde(skip_serializing_if = "is_certain")]
    pub probability: f64,
    /// The seed of that choice, so that it is the same in every run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The time after which the rule is spent by itself, in seconds of the real clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<u32>,
    /// The actions, in order; at most one ends the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<Action>,
    /// In place of `times` and `actions`: what is done to the first request, to the second, and so on; then the rule is spent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sequence: Vec<Step>,
}

impl Default for Rule {
    fn default() -> Self {
        Rule {
            name: None,
            on: Match::default(),
            skip: 0,
            times: None,
            probability: 1.0,
            seed: None,
            ttl_seconds: None,
            actions: Vec::new(),
            sequence: Vec::new(),
        }
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_certain(probability: &f64) -> bool {
    *probability >= 1.0
}

impl Rule {
    /// Whether it is about new connections, and not about requests.
    pub fn is_about_connections(&self) -> bool {
        self.all().any(|action| action.is_about_connections())
    }

    /// Whether it strikes requests before a real server asks what their users may do.
    pub fn is_before_authorization(&self) -> bool {
        self.all().any(|action| action.is_before_authorization())
    }

    /// All actions that it may take.
    fn all(&self) -> impl Iterator<Item = Action> {
        self.actions.iter().cloned().chain(self.sequence.iter().flat_map(Step::actions))
    }

    /// The moments in the past that reads see by it.
    pub fn stales(&mut self) -> impl Iterator<Item = &mut Stale> {
        let steps = self.sequence.iter_mut().flat_map(Step::actions_mut);
        self.actions.iter_mut().chain(steps).filter_map(|action| match action {
            Action::Stale(stale) => Some(stale),
            _ => None,
        })
    }

    /// Whether it needs the bodies of requests: for its pattern, or for a message that names an object that is created.
    pub fn reads_bodies(&self) -> bool {
        self.on.reads_bodies() || self.all().any(|action| action == Action::Preset(Preset::NamespaceTerminating))
    }

    /// The actions on the `struck`-th request, counted from 0; `None` if the rule is spent.
    pub fn outcome(&self, struck: u32) -> Option<Vec<Action>> {
        match self.left(struck) {
            Some(0) => None,
            _ if self.sequence.is_empty() => Some(self.actions.clone()),
            _ => self.sequence.get(struck as usize).map(Step::actions),
        }
    }

    /// The number of requests that it will still strike, after so many; `None` if there is no end.
    pub fn left(&self, struck: u32) -> Option<u32> {
        let steps = u32::try_from(self.sequence.len()).unwrap_or(u32::MAX);
        let times = if self.sequence.is_empty() { self.times } else { Some(steps) };
        times.map(|times| times.saturating_sub(struck))
    }
}
