//! What scenarios are played against. The suite is a function of the target.

mod audit;
mod embedded;
mod kcm;
mod process;
mod real;

pub use embedded::Embedded;
pub use kcm::Kcm;
pub use process::Process;
pub use real::Real;

use crate::client::Endpoint;
use crate::controllers::{Kind, Running as Controller};
use crate::history::Call;
use crate::scenario::Scenario;
use crate::verbs::replicas::Fate;
use anyhow::{Context as _, Result, bail};
use controller::clock::{Clock, system_clock};
use futures::future::BoxFuture;
use serde_json::json;
use std::fmt;

/// The user of a scenario that names none: may do everything.
pub const ADMINISTRATOR: &str = "admin";

/// The users of scenarios, with their groups. Every controller is a user of its own.
pub const USERS: [(&str, &[&str]); 9] = [
    (ADMINISTRATOR, &["system:masters"]),
    ("alice", &["devs"]),
    ("system:node:node-1", &["system:nodes"]),
    ("system:node:node-2", &["system:nodes"]),
    ("legacy-token-cleaner", &["system:masters"]),
    ("root-ca", &["system:masters"]),
    ("service-accounts", &["system:masters"]),
    ("tokens", &["system:masters"]),
    ("tokens-b", &["system:masters"]),
];

/// The private key that every target started here signs service account tokens with.
pub(crate) const SIGNING_KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/keys/service-account.key");

/// Who every target started here says that its tokens are from, and for.
pub const ISSUER: &str = "https://kubernetes.default.svc";

/// The bearer token that a target started here gives to one of [`USERS`].
pub(crate) fn static_token(user: &str) -> String {
    format!("{user}-token")
}

/// The flags of a fake that is told `flags` beside what all targets have: RBAC, unless they say otherwise.
fn with_rbac(flags: &[String]) -> Vec<String> {
    let decided = flags.iter().any(|flag| flag.starts_with("--authorization-mode="));
    let usual = if decided { None } else { Some("--authorization-mode=RBAC".to_owned()) };
    usual.into_iter().chain(flags.iter().cloned()).collect()
}

/// Creates a namespace for `scenario` alone, as the administrator with `token`.
async fn own_namespace(endpoint: &Endpoint, token: &str, scenario: &str) -> Result<String> {
    let slug = scenario.replace('/', "-");
    let body = json!({"metadata": {"generateName": format!("{}-", &slug[..slug.len().min(50)])}});
    let created = endpoint.ask(Some(token), "POST", "/api/v1/namespaces", &body).await?;
    Ok(created["metadata"]["name"].as_str().with_context(|| format!("no namespace: {created}"))?.to_owned())
}

/// A kind of API server that scenarios can be played against.
pub trait Target: Send + Sync {
    /// What the ledger and the report call it.
    fn name(&self) -> &'static str;

    /// What it can do beyond serving the API.
    fn powers(&self) -> &'static [Power];

    /// Whether all its clusters are one server, so that what has a whole server in view cannot be played at the same
    /// time as others.
    fn is_shared(&self) -> bool {
        false
    }

    /// Whether that scenario says something about this target that it does not say about another.
    fn concerns(&self, _scenario: &Scenario) -> bool {
        true
    }

    /// A fresh cluster for one scenario.
    fn start<'a>(&'a self, setup: &'a Setup) -> BoxFuture<'a, Result<Box<dyn Cluster>>>;
}

/// What a scenario asks of its cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    /// The scenario's name.
    pub scenario: String,
    /// How many API servers.
    pub replicas: usize,
    /// The flags of its API servers, as kube-apiserver would have them: `--name=value`.
    pub flags: Vec<String>,
    /// Whether time stands still until the scenario moves it.
    pub manual_clock: bool,
}

/// Something that not every target can do. A scenario lists its needs; where one is missing it is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Power {
    /// Report the requests that a user made.
    Calls,
    /// Move time, and set the clocks of replicas wrong.
    Clock,
    /// Forget what happened so far, so that clients who ask for it are refused.
    Compaction,
    /// Run controllers on it.
    Controllers,
    /// Fail requests on purpose.
    Faults,
    /// Start API servers with flags of the scenario's choice.
    Flags,
    /// Behave as Kubernetes did once.
    Legacy,
    /// Show why requests were not authenticated.
    Log,
    /// Let API servers fall behind, go down and come back.
    Outages,
    /// Run more than one API server.
    Replicas,
    /// Bound how often a controller tries again.
    Retries,
    /// Have tokens signed with its key, whatever they say.
    Signing,
    /// Pause controllers and let them do one thing at a time.
    Steps,
}

impl Power {
    /// All of them.
    pub const ALL: [Power; 13] = [
        Power::Calls,
        Power::Clock,
        Power::Compaction,
        Power::Controllers,
        Power::Faults,
        Power::Flags,
        Power::Legacy,
        Power::Log,
        Power::Outages,
        Power::Replicas,
        Power::Retries,
        Power::Signing,
        Power::Steps,
    ];

    /// The power called `name`.
    pub fn parse(name: &str) -> Option<Power> {
        Power::ALL.into_iter().find(|power| power.to_string() == name)
    }

    /// Whether a scenario with this need sees or changes more of its server than its own namespace.
    pub fn is_exclusive(self) -> bool {
        matches!(self, Power::Calls | Power::Compaction | Power::Controllers | Power::Log)
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Power::Calls => "calls",
            Power::Clock => "clock",
            Power::Compaction => "compaction",
            Power::Controllers => "controllers",
            Power::Faults => "faults",
            Power::Flags => "flags",
            Power::Legacy => "legacy",
            Power::Log => "log",
            Power::Outages => "outages",
            Power::Replicas => "replicas",
            Power::Retries => "retries",
            Power::Signing => "signing",
            Power::Steps => "steps",
        })
    }
}

/// A failure to inject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// `create`, `update`, …
    pub verb: String,
    /// `secrets`.
    pub resource: String,
    /// One object only.
    pub name: Option<String>,
    /// The requests of one user only.
    pub user: Option<String>,
    /// The status to answer with.
    pub status: u16,
    /// How often; `None` for ever.
    pub times: Option<u32>,
}

/// One running cluster. What a target has no power for it need not implement.
pub trait Cluster: Send + Sync {
    /// Its API servers.
    fn endpoints(&self) -> &[Endpoint];

    /// The certificate authority of its API servers, PEM; none without TLS.
    fn ca_pem(&self) -> Option<String>;

    /// The namespace that is the scenario's own.
    fn namespace(&self) -> &str;

    /// The bearer token of `user`.
    fn token(&self, user: &str) -> Option<String>;

    /// The private key that service account tokens are signed with, PEM.
    fn signing_key_pem(&self) -> Result<String> {
        bail!("this target does not hand out its signing key")
    }

    /// Starts a controller of the target's own as `user`; `None` if scenarios are to run ours.
    fn controller<'a>(&'a self, _user: &'a str, _kind: Kind) -> BoxFuture<'a, Result<Option<Box<dyn Controller>>>> {
        Box::pin(async { Ok(None) })
    }

    /// All calls of `user` so far, without the lists and watches.
    fn calls<'a>(&'a self, user: &'a str) -> BoxFuture<'a, Result<Vec<Call>>> {
        Box::pin(async move { bail!("this target does not report the calls of {user}") })
    }

    /// Tells what time it is there.
    fn clock(&self) -> Clock {
        system_clock()
    }

    /// Forgets what happened so far.
    fn compact(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { bail!("this target cannot forget on purpose") })
    }

    /// Moves the clock.
    fn advance_clock(&self, seconds: i64) -> Result<()> {
        bail!("this target's clock cannot be moved by {seconds} s")
    }

    /// Sets the error of a replica's clock. Replicas count from 1.
    fn set_clock_offset(&self, replica: usize, seconds: i64) -> Result<()> {
        bail!("the clock of replica {replica} cannot be set off by {seconds} s")
    }

    /// Lets something befall a replica. Replicas count from 1.
    fn befall(&self, replica: usize, fate: Fate) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move { bail!("what befalls replica {replica} of this target is not in our hands: {fate:?}") })
    }

    /// Injects a failure.
    fn add_fault(&self, fault: Fault) -> Result<()> {
        bail!("this target cannot fail on purpose: {fault:?}")
    }

    /// Ends all injected failures.
    fn clear_faults(&self) -> Result<()> {
        bail!("this target cannot fail on purpose")
    }

    /// Why `replica` refused to authenticate requests, in order, from the start.
    fn authentication_failures(&self, replica: usize) -> Result<Vec<String>> {
        bail!("this target does not show the log of replica {replica}")
    }

    /// Stops it and returns what it logged.
    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<String>>;
}
