//! A running cluster, as scenarios use it: its API servers, and disruptions of them.

use super::controller::{Controller, ControllerKind};
use crate::client::Endpoint;
use crate::props::Props;
use anyhow::{Result, bail};
use conformance_judge::history::Call;
use conformance_judge::scenario::Scenario;
use conformance_judge::scenario::power::Power;
use control::Order;
use controller::clock::{Clock, system_clock};
use futures::future::BoxFuture;
use serde_json::Value;

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

    /// The URL and the token of the control port, if there is one. It may be opened now.
    fn control(&self) -> Result<(String, String)> {
        bail!("this target has no control port")
    }

    /// Obeys an order.
    fn obey(&self, order: Order) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move { bail!("this target obeys no orders: {order}") })
    }

    /// The reasons why `replica` did not authenticate requests, in order, from the start.
    fn authentication_failures(&self, replica: usize) -> Result<Vec<String>> {
        bail!("this target does not show the log of replica {replica}")
    }

    /// Stops the cluster and returns its log.
    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<String>>;
}
