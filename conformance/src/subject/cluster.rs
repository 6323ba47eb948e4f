//! A running cluster, as scenarios use it: its API servers, and disruptions of them.

use super::controller::{Controller, ControllerKind};
use crate::client::Endpoint;
use crate::props::Props;
use anyhow::{Result, bail};
use conformance_judge::history::Call;
use conformance_judge::scenario::Scenario;
use conformance_judge::scenario::power::Power;
use controller::clock::{Clock, system_clock};
use futures::future::BoxFuture;
use serde_json::Value;
use std::fmt;

/// The folder that `$fixtures` in a flag stands for.
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures");

/// The cluster that a scenario asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    /// The scenario's name.
    pub scenario: String,
    /// The number of API servers.
    pub replicas: usize,
    /// The flags of its API servers, in kube-apiserver's form, `--name=value`, and `--controllers`, which the fake has, too.
    pub flags: Vec<String>,
    /// Whether flags name files of the scenario, so that no other one has the same.
    pub has_own_files: bool,
    /// Whether the clock moves only when the scenario advances it, if the target can do that.
    pub manual_clock: bool,
    /// Whether connections are encrypted, also where a target would do without.
    pub tls: bool,
}

impl Setup {
    /// The cluster that `scenario` asks for.
    pub fn of(scenario: &Scenario, props: &Props) -> Setup {
        Setup {
            scenario: scenario.name.clone(),
            replicas: scenario.replicas,
            flags: scenario.flags.iter().map(|flag| props.fill(&flag.replace("$fixtures", FIXTURES))).collect(),
            has_own_files: props.folder.is_some(),
            // Signed claims are about seconds, which pass while a busy machine gets round to a request.
            manual_clock: scenario.needs.iter().any(|power| matches!(power, Power::Clock | Power::Signing)),
            tls: false,
        }
    }
}

impl Setup {
    /// Whether the flags name a policy of auditing.
    pub(super) fn has_audit_policy(&self) -> bool {
        self.flags.iter().any(|flag| flag.starts_with("--audit-policy-file="))
    }
}

/// A disruption of one API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disruption {
    /// Ends its watches.
    Cut,
    /// Stops its cache from following the store.
    Hold,
    /// Lets its cache catch up.
    Release,
    /// Starts it again.
    Start,
    /// Stops it.
    Stop,
}

impl Disruption {
    /// All disruptions, by name.
    pub const ALL: [Disruption; 5] =
        [Disruption::Cut, Disruption::Hold, Disruption::Release, Disruption::Start, Disruption::Stop];
}

impl fmt::Display for Disruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Disruption::Cut => "cut",
            Disruption::Hold => "hold",
            Disruption::Release => "release",
            Disruption::Start => "start",
            Disruption::Stop => "stop",
        })
    }
}

/// A fault to inject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The verb of the requests that fail: `create`, `update`, …
    pub verb: String,
    /// The resource: `secrets`.
    pub resource: String,
    /// The object whose requests fail; `None` is all.
    pub name: Option<String>,
    /// The user whose requests fail; `None` is all.
    pub user: Option<String>,
    /// The HTTP status of the answer.
    pub status: u16,
    /// The number of requests that fail; `None` is all.
    pub times: Option<u32>,
}

/// A running cluster. The default methods fail; a target overrides those that it has the power for.
pub trait Cluster: Send + Sync {
    /// The API servers.
    fn endpoints(&self) -> &[Endpoint];

    /// The certificate authority of the API servers, PEM; `None` without TLS.
    fn ca_pem(&self) -> Option<String>;

    /// The id of the first API server's process, if it is one whose use of the machine is looked at.
    fn process(&self) -> Option<u32> {
        None
    }

    /// The namespace of the scenario.
    fn namespace(&self) -> &str;

    /// The bearer token of `user`.
    fn token(&self, user: &str) -> Option<String>;

    /// The private key that service account tokens are signed with, PEM.
    fn signing_key_pem(&self) -> Result<String> {
        bail!("this target does not hand out its signing key")
    }

    /// Starts the target's own controller as `user`; `None` if scenarios run the port.
    fn controller<'a>(
        &'a self,
        _user: &'a str,
        _kind: ControllerKind,
    ) -> BoxFuture<'a, Result<Option<Box<dyn Controller>>>> {
        Box::pin(async { Ok(None) })
    }

    /// All calls of `user` so far, without lists and watches.
    fn calls<'a>(&'a self, user: &'a str) -> BoxFuture<'a, Result<Vec<Call>>> {
        Box::pin(async move { bail!("this target does not report the calls of {user}") })
    }

    /// The audit events so far of the request with that id, if the cluster was started with a policy.
    fn audit_events(&self, id: &str) -> Result<Vec<Value>> {
        bail!("this target does not show the audit events of {id}")
    }

    /// The cluster's clock.
    fn clock(&self) -> Clock {
        system_clock()
    }

    /// Compacts the history up to now.
    fn compact(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { bail!("this target cannot compact its history on demand") })
    }

    /// Advances the clock.
    fn advance_clock(&self, seconds: i64) -> Result<()> {
        bail!("this target's clock cannot be moved by {seconds} s")
    }

    /// Sets the error of a replica's clock. Replicas count from 1.
    fn set_clock_offset(&self, replica: usize, seconds: i64) -> Result<()> {
        bail!("the clock of replica {replica} cannot be set off by {seconds} s")
    }

    /// Disrupts a replica. Replicas count from 1.
    fn disrupt(&self, replica: usize, disruption: Disruption) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move { bail!("replica {replica} of this target cannot be disrupted: {disruption}") })
    }

    /// Injects a fault.
    fn add_fault(&self, fault: Fault) -> Result<()> {
        bail!("this target cannot fail on purpose: {fault:?}")
    }

    /// Removes all injected faults.
    fn clear_faults(&self) -> Result<()> {
        bail!("this target cannot fail on purpose")
    }

    /// The reasons why `replica` did not authenticate requests, in order, from the start.
    fn authentication_failures(&self, replica: usize) -> Result<Vec<String>> {
        bail!("this target does not show the log of replica {replica}")
    }

    /// Stops the cluster and returns its log.
    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<String>>;
}
