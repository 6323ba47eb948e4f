//! Measurements of creates for which admission has more to do: a quota counts them, a webhook is asked, policies are evaluated.

use super::client::{Call, Connection};
use super::load::{COUNTED_CREATES, HOOKED_CREATES, Load, POLICED_CREATES};
use super::server::Server;
use super::webhook::{ADMITS, Webhook};
use super::{BARE, Bench};
use anyhow::ensure;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";
/// The expressions of the policies, each of which all objects of the load satisfy.
const POLICIES: [&str; 5] = [
    "object.data.text.size() < 1000",
    "object.metadata.name.startsWith('created-')",
    "object.data.all(key, object.data[key].size() < 500)",
    "variables.app == 'bench'",
    "request.operation != 'CREATE' || oldObject == null",
];
/// The time in which a configuration has to be in force.
const IN_FORCE: Duration = Duration::from_secs(30);

impl Bench<'_> {
    /// Measures creates in a namespace with a quota, in one with a webhook, and in one with policies.
    pub(super) async fn creates_past_admission(&mut self) -> anyhow::Result<()> {
        if self.wants(COUNTED_CREATES.name) {
            for server in self.api_servers() {
                limit(server).await?;
            }
            let servers = self.servers.clone();
            self.load(&COUNTED_CREATES, &servers).await?;
        }
        if self.wants(HOOKED_CREATES.name) {
            let webhook = Webhook::start(&["h2", "http/1.1"])?;
            self.configured(&HOOKED_CREATES, async |server| hook(server, &webhook).await).await?;
        }
        if self.wants(POLICED_CREATES.name) {
            self.configured(&POLICED_CREATES, police).await?;
        }
        Ok(())
    }

    /// Measures a load while all API servers are configured, by objects without a namespace that `configure` creates. They are deleted
    /// afterwards.
    async fn configured(
        &mut self,
        load: &'static Load,
        configure: impl AsyncFn(&Server) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let servers = self.servers.clone();
        let measured = async {
            for server in self.api_servers() {
                configure(server).await?;
            }
            self.load(load, &servers).await
        };
        let measured = measured.await;
        for (_, server) in servers.iter().enumerate().filter(|(index, _)| *index != BARE) {
            let mut connection = server.target.connect().await?;
            for path in paths(server) {
                // Not all of them are there.
                connection.answer(Call::new(Method::DELETE, path, "")).await?;
            }
        }
        measured
    }
}

/// Gives a namespace a quota.
async fn limit(server: &Server) -> anyhow::Result<()> {
    let mut connection = server.target.connect().await?;
    let quotas = format!("/api/v1/namespaces/{}/resourcequotas", server.one_of_many(0));
    let quota = json!({"metadata": {"name": "bench"}}).to_string();
    let quota = connection.fetch(Call::new(Method::POST, &quotas, quota)).await?;
    let mut quota: Value = serde_json::from_slice(&quota)?;
    quota["status"] = json!({"hard": {"configmaps": "1G"}, "used": {"configmaps": "0"}});
    connection.exchange(Call::new(Method::PUT, quotas + "/bench/status", quota.to_string())).await?;
    Ok(())
}

/// Gives a namespace a validating webhook.
async fn hook(server: &Server, webhook: &Webhook) -> anyhow::Result<()> {
    let namespace = server.one_of_many(1);
    let hook = json!({
        "name": "webhook.bench.example.com", "clientConfig": {"url": webhook.url(ADMITS), "caBundle": webhook.bundle},
        "rules": [rule()], "namespaceSelector": only(&namespace), "sideEffects": "None", "admissionReviewVersions": ["v1"],
    });
    let name = name(server, 0);
    let mut connection = server.target.connect().await?;
    create(&mut connection, HOOKS, json!({"metadata": {"name": name}, "webhooks": [hook]})).await?;
    let (begin, admitted) = (Instant::now(), webhook.admitted());
    while webhook.admitted() == admitted {
        ensure!(begin.elapsed() < IN_FORCE, "the webhook is not called");
        connection.answer(server.create_dry(&namespace, "text")).await?;
    }
    Ok(())
}

/// Gives a namespace policies.
async fn police(server: &Server) -> anyhow::Result<()> {
    let namespace = server.one_of_many(2);
    let mut connection = server.target.connect().await?;
    for (number, expression) in POLICIES.iter().enumerate() {
        let name = name(server, number);
        // An object with that entry is refused, which tells that the policy is in force.
        let validation = json!({"expression": format!("{expression} && !('probe-{number}' in object.data)")});
        let policy = json!({
            "failurePolicy": "Fail", "validations": [validation], "matchConstraints": {"resourceRules": [rule()]},
            "variables": [{"name": "app", "expression": "object.metadata.labels['app.kubernetes.io/name']"}],
        });
        create(&mut connection, POLICY, json!({"metadata": {"name": name}, "spec": policy})).await?;
        let matched = json!({"namespaceSelector": only(&namespace)});
        let binding = json!({"policyName": name, "validationActions": ["Deny"], "matchResources": matched});
        create(&mut connection, BINDINGS, json!({"metadata": {"name": name}, "spec": binding})).await?;
    }
    let begin = Instant::now();
    for number in 0..POLICIES.len() {
        let probe = || server.create_dry(&namespace, &format!("probe-{number}"));
        while connection.answer(probe()).await? != StatusCode::UNPROCESSABLE_ENTITY {
            ensure!(begin.elapsed() < IN_FORCE, "policy {number} refuses nothing");
        }
    }
    Ok(())
}

const HOOKS: &str = "validatingwebhookconfigurations";
const POLICY: &str = "validatingadmissionpolicies";
const BINDINGS: &str = "validatingadmissionpolicybindings";

async fn create(connection: &mut Connection, resource: &str, object: Value) -> anyhow::Result<()> {
    connection.exchange(Call::new(Method::POST, format!("{GROUP}/{resource}"), object.to_string())).await?;
    Ok(())
}

/// The paths of all objects that are created here.
fn paths(server: &Server) -> Vec<String> {
    let of = |resource: &'static str| {
        (0..POLICIES.len()).map(move |number| format!("{GROUP}/{resource}/{}", name(server, number)))
    };
    [HOOKS, BINDINGS, POLICY].into_iter().flat_map(of).collect()
}

fn name(server: &Server, number: usize) -> String {
    format!("{}.example.com", server.one_of_many(number as u64))
}

fn rule() -> Value {
    json!({"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]})
}

/// The selector of one namespace.
fn only(namespace: &str) -> Value {
    json!({"matchLabels": {"kubernetes.io/metadata.name": namespace}})
}
