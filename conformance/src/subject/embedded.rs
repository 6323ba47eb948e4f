//! The target `embedded`: the fake as a library, in this process, over plain HTTP unless asked for TLS; a fresh server for each scenario.

use super::calls;
use super::controller::{Controller, ControllerKind};
use super::kcm::Managers;
use super::{Cluster, START, Setup, Target, audit, own_namespace, with_rbac};
use crate::client::Endpoint;
use crate::credentials::{ADMINISTRATOR, USERS, static_token};
use anyhow::{Context as _, Result, ensure};
use conformance_judge::history::Call;
use conformance_judge::scenario::power::Power;
use control::{Finding, Obeys as _, Order, Question, Request, Requests};
use fake_apiserver::{Builder, Clock, FakeApiServer, ManualClock, RequestRecord};
use fake_apiserver_cli::Flags;
use fake_apiserver_cli::control::Door;
use futures::future::BoxFuture;
use serde::Deserialize as _;
use serde_json::Value;
use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::sync::{Arc, OnceLock};
use tempfile::TempDir;

/// The target `embedded`.
pub struct Embedded;

/// The name of the audit log.
const AUDIT_LOG: &str = "audit.log";

/// The beginning of the names of users that are Kubernetes' own controllers.
const CONTROLLERS: &str = "system:serviceaccount:kube-system:";

/// The true findings about them, each with the end of the user's name. That of slices writes a new one over one that it would delete (`finalize`
/// of `k8s.io/endpointslice/reconciler.go`, v0.37.1).
const TRUE: [(&str, &str); 1] = [("blind-update", ":endpointslice-controller")];

const SIGNING_KEY_PEM: &str = include_str!("../../../fixtures/keys/service-account.key");

/// A fake server in this process.
pub(crate) struct Running {
    server: Arc<FakeApiServer>,
    /// The control port, once someone asks for it.
    door: OnceLock<Door>,
    endpoints: Vec<Endpoint>,
    namespace: String,
    clock: Option<ManualClock>,
    /// The folder with the audit log, if there is one.
    audit: Option<TempDir>,
    /// The real controllers of the target `kcm`.
    pub(super) managers: Option<Managers>,
}

impl Target for Embedded {
    fn name(&self) -> &'static str {
        "embedded"
    }

    fn powers(&self) -> &'static [Power] {
        &Power::ALL
    }

    fn start<'a>(&'a self, setup: &'a Setup) -> BoxFuture<'a, Result<Box<dyn Cluster>>> {
        Box::pin(async move {
            let adapt = if setup.tls { std::convert::identity } else { Builder::insecure };
            Ok(Box::new(Running::start(setup, adapt).await?) as Box<dyn Cluster>)
        })
    }
}

impl Running {
    /// The fake server.
    pub(crate) fn server(&self) -> &FakeApiServer {
        &self.server
    }

    /// Starts a server; `adapt` changes its builder last.
    pub(super) async fn start(setup: &Setup, adapt: impl FnOnce(Builder) -> Builder) -> Result<Running> {
        let clock = setup.manual_clock.then(|| ManualClock::new(START));
        let flags = with_rbac(&setup.flags);
        let flags = Flags::from_arguments(flags.iter().map(String::as_str)).map_err(anyhow::Error::msg)?;
        let mut builder = flags
            .builder()?
            .secure_port(0)
            .replicas(setup.replicas)
            .record_requests(true)
            // A machine may be busy with other work; that no request takes too long is for others to measure.
            .patient(true)
            .service_account_signing_key_pem(SIGNING_KEY_PEM.as_bytes());
        for (user, groups) in USERS {
            builder = builder.add_static_token(&static_token(user), user, groups);
        }
        if let Some(clock) = &clock {
            builder = builder.clock(clock.clone());
        }
        let audit = setup.has_audit_policy().then(tempfile::tempdir).transpose()?;
        if let Some(folder) = &audit {
            builder = builder.audit_log(folder.path().join(AUDIT_LOG));
        }
        let server = adapt(builder).start().await?;
        let endpoints = server.replicas().into_iter().map(|replica| Endpoint::new(&replica.url(), server.ca_pem()));
        let endpoints: Vec<Endpoint> = endpoints.collect::<Result<_>>()?;
        let namespace = own_namespace(&endpoints[0], &static_token(ADMINISTRATOR), &setup.scenario).await?;
        let door = OnceLock::new();
        Ok(Running { server: Arc::new(server), door, endpoints, namespace, clock, audit, managers: None })
    }
}

impl Running {
    /// The findings about Kubernetes' own controllers that are not known to be true.
    async fn odd(&self) -> Result<Vec<String>> {
        let found = self.server.ask(Question::Findings { since: 0 }).await?;
        let found = Vec::<Finding>::deserialize(&found["items"])?;
        let is_true =
            |finding: &Finding| TRUE.iter().any(|(id, user)| finding.id == *id && finding.user.ends_with(user));
        let wrong = found.into_iter().filter(|finding| finding.user.starts_with(CONTROLLERS) && !is_true(finding));
        Ok(wrong.map(|Finding { id, message, requests, .. }| format!("{id}: {message} {requests:?}")).collect())
    }
}

impl Cluster for Running {
    fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    fn ca_pem(&self) -> Option<String> {
        self.server.ca_pem().map(str::to_owned)
    }

    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn token(&self, user: &str) -> Option<String> {
        USERS.iter().any(|(known, _)| *known == user).then(|| static_token(user))
    }

    fn signing_key_pem(&self) -> Result<String> {
        Ok(SIGNING_KEY_PEM.to_owned())
    }

    fn controller<'a>(
        &'a self,
        user: &'a str,
        kind: ControllerKind,
    ) -> BoxFuture<'a, Result<Option<Box<dyn Controller>>>> {
        Box::pin(async move {
            let Some(managers) = &self.managers else { return Ok(None) };
            Ok(Some(managers.controller(self, user, kind).await?))
        })
    }

    fn calls<'a>(&'a self, user: &'a str) -> BoxFuture<'a, Result<Vec<Call>>> {
        Box::pin(async move {
            let recorded = self.server.ask(Question::Requests(Requests::default())).await?;
            Ok(calls::of(Vec::<Request>::deserialize(&recorded["items"])?, user, self.namespace()))
        })
    }

    fn clock(&self) -> controller::clock::Clock {
        match self.clock.clone() {
            Some(clock) => Arc::new(move || clock.now()),
            None => controller::clock::system_clock(),
        }
    }

    fn control(&self) -> Result<(String, String)> {
        let open = || Door::open(self.server.clone(), (Ipv4Addr::LOCALHOST, 0).into(), None);
        let door = self.door.get_or_init(|| open().expect("a port is free"));
        Ok((door.url(), door.token().to_owned()))
    }

    fn obey(&self, order: Order) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move { Ok(self.server.obey(order).await.map(|_| ())?) })
    }

    fn audit_events(&self, id: &str) -> Result<Vec<Value>> {
        let folder = self.audit.as_ref().context("the scenario names no policy of auditing")?;
        audit::of_request(&folder.path().join(AUDIT_LOG), id)
    }

    fn authentication_failures(&self, replica: usize) -> Result<Vec<String>> {
        let records = self.server.requests();
        let here = records.iter().filter(|record| record.replica == replica - 1);
        Ok(here.filter_map(|record| record.authentication_error.clone()).collect())
    }

    fn stop(self: Box<Self>) -> BoxFuture<'static, Result<String>> {
        Box::pin(async move {
            let mut log = String::new();
            for record in self.server.requests() {
                let RequestRecord { replica, method, uri, code, user_agent, .. } = &*record;
                let user = record.user.as_ref().map_or("nobody", |user| &user.name);
                let error = record.authentication_error.as_deref().unwrap_or_default();
                writeln!(log, "replica {} {code} {method} {uri} {user} {user_agent:?} {error}", replica + 1)?;
            }
            let odd = self.odd().await?;
            if let Some(managers) = self.managers {
                log += &managers.stop().await?;
                // A finding about one of them is wrong, or the server misleads it.
                ensure!(odd.is_empty(), "a real controller is found odd: {}\n{log}", odd.join("; "));
            }
            if let Some(door) = self.door.into_inner() {
                door.close().await;
            }
            Arc::into_inner(self.server).context("an order is still being obeyed")?.shutdown().await;
            Ok(log)
        })
    }
}
