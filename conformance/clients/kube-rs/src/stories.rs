//! Stories, told by kube-rs: what a server can do to a client, as a test tells it over the control port. They are those of `docs/stories/`, and
//! the same in every language. There is a control port on the fake only.

use crate::{Check, Scene, checks, same};
use anyhow::{Context as _, Result, ensure};
use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use kube::api::{Api, DeleteParams, ListParams, PostParams, WatchEvent, WatchParams};
use kube::config::AuthInfo;
use kube::{Client, Config, ResourceExt as _};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

pub const CHECKS: &[Check] = checks![
    story_ambiguous_write,
    story_stale_read,
    story_throttling,
    story_expired_history,
    story_lost_watch,
    story_leader_lost,
    story_webhook_timeout,
    story_clock_jump,
];

async fn story_ambiguous_write(s: Scene) -> Result<()> {
    let (since, on) = (cursor().await?, creates(&s));
    let lost = json!({"connection": {"do": "reset", "when": "afterCommit"}});
    told(
        "POST",
        "/faults",
        json!({"match": on, "times": 1, "actions": [lost]}),
    )
    .await?;
    // The answer is lost, so the object may have been created or not: a get tells.
    same(refused(s.map("a", Value::Null).await)?, 0)?;
    same(refused(s.map("a", Value::Null).await)?, 409)?;
    same(value(&s.maps().get("a").await?), "v")?;
    same(codes(since, on).await?, vec![0, 409])
}

async fn story_stale_read(s: Scene) -> Result<()> {
    let mut first = s.map("a", Value::Null).await?;
    set(&mut first, "new");
    s.maps()
        .replace("a", &PostParams::default(), &first)
        .await?;
    let on =
        json!({"verbs": ["list"], "namespaces": [s.namespace], "query": {"resourceVersion": "0"}});
    told(
        "POST",
        "/faults",
        json!({"match": on, "actions": [{"stale": {"behind": 1}}]}),
    )
    .await?;
    // Another server, whose cache is behind, is asked after a failover.
    let any = ListParams::default().fields("metadata.name=a").match_any();
    let mut stale = s
        .maps()
        .list(&any)
        .await?
        .items
        .pop()
        .context("an object")?;
    same(value(&stale), "v")?;
    // An update based on the stale read conflicts, as it names the stale resourceVersion.
    set(&mut stale, "wrong");
    let late = s.maps().replace("a", &PostParams::default(), &stale).await;
    same(refused(late.map_err(Into::into))?, 409)?;
    same(value(&s.maps().get("a").await?), "new")
}

async fn story_throttling(s: Scene) -> Result<()> {
    let (since, on) = (cursor().await?, creates(&s));
    told(
        "POST",
        "/faults",
        json!({"match": on, "sequence": ["apf-rejected", "apf-rejected"]}),
    )
    .await?;
    // This client waits as long as it is told to, and tries again.
    s.map("a", Value::Null).await?;
    same(codes(since, on).await?, vec![429, 429, 201])
}

async fn story_expired_history(s: Scene) -> Result<()> {
    let first = s.map("a", Value::Null).await?;
    s.map("b", Value::Null).await?;
    told("POST", "/history/compact", json!({})).await?;
    match next(&s, &first.resource_version().context("a revision")?).await? {
        WatchEvent::Error(error) => same((error.code, error.reason.as_str()), (410, "Expired"))?,
        event => anyhow::bail!("expected 410, was {event:?}"),
    }
    // The way back is a list, and a watch from there.
    let listed = s.maps().list(&ListParams::default()).await?;
    let now = listed.metadata.resource_version.context("a revision")?;
    s.map("c", Value::Null).await?;
    match next(&s, &now).await? {
        WatchEvent::Added(object) => same(object.name_any().as_str(), "c"),
        event => anyhow::bail!("expected an object, was {event:?}"),
    }
}

async fn story_lost_watch(s: Scene) -> Result<()> {
    s.map("a", Value::Null).await?;
    let maps = s.maps();
    let mut events = maps.watch(&WatchParams::default(), "0").await?.boxed();
    let first = match events.try_next().await? {
        Some(WatchEvent::Added(first)) => first,
        event => anyhow::bail!("expected an object, was {event:?}"),
    };
    let on = json!({"verbs": ["watch"], "namespaces": [s.namespace]});
    let ended = told("POST", "/watches/end", json!({"match": on})).await?;
    same(&ended["watches"], &json!(1))?;
    s.map("b", Value::Null).await?;
    // A bookmark may say how far it came.
    while let Some(event) = events.try_next().await? {
        let is_bookmark = matches!(event, WatchEvent::Bookmark(_));
        ensure!(is_bookmark, "expected the end, was {event:?}");
    }
    // The next watch goes on where the last one was, and nothing is missed.
    match next(&s, &first.resource_version().context("a revision")?).await? {
        WatchEvent::Added(object) => same(object.name_any().as_str(), "b"),
        event => anyhow::bail!("expected an object, was {event:?}"),
    }
}

async fn story_leader_lost(s: Scene) -> Result<()> {
    let leases: Api<Lease> = Api::namespaced(s.client.clone(), &s.namespace);
    let lease = json!({"metadata": {"name": "leader"}, "spec": {"holderIdentity": "one", "leaseDurationSeconds": 3}});
    leases
        .create(&PostParams::default(), &serde_json::from_value(lease)?)
        .await?;
    // The lease of the leader is renewed by hand: this client has no leader election.
    let renew = async || -> Result<Lease> {
        let mut lease = leases.get("leader").await?;
        let transitions = &mut lease.spec.get_or_insert_default().lease_transitions;
        *transitions = Some(transitions.unwrap_or_default() + 1);
        Ok(leases
            .replace("leader", &PostParams::default(), &lease)
            .await?)
    };
    renew().await?;
    let on = json!({"verbs": ["update"], "resources": ["leases"], "namespaces": [s.namespace]});
    told(
        "POST",
        "/faults",
        json!({"match": on, "actions": [{"preset": "etcd-timeout"}]}),
    )
    .await?;
    // Its renewals fail; before another one could lead, it has to stop.
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(1) {
        same(refused(renew().await)?, 500)?;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let spec = leases.get("leader").await?.spec.context("a spec")?;
    same(spec.holder_identity.as_deref(), Some("one"))
}

async fn story_webhook_timeout(s: Scene) -> Result<()> {
    // It takes connections, and never answers.
    let silent = TcpListener::bind("127.0.0.1:0")?;
    let hooks: Api<ValidatingWebhookConfiguration> = Api::all(s.client.clone());
    let name = format!("{}.example.com", s.namespace);
    let url = format!("https://{}/", silent.local_addr()?);
    let hook = json!({
        "name": name, "clientConfig": {"url": url}, "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": s.namespace}},
        "timeoutSeconds": 1, "failurePolicy": "Fail",
    });
    let body = serde_json::from_value(json!({"metadata": {"name": name}, "webhooks": [hook]}))?;
    let mut made = hooks.create(&PostParams::default(), &body).await?;
    // Nobody can write what it looks at; with failurePolicy Ignore it costs a second only.
    same(refused(s.map("a", Value::Null).await)?, 500)?;
    for hook in made.webhooks.iter_mut().flatten() {
        hook.failure_policy = Some("Ignore".into());
    }
    hooks.replace(&name, &PostParams::default(), &made).await?;
    s.map("a", Value::Null).await?;
    hooks.delete(&name, &DeleteParams::default()).await?;
    Ok(())
}

async fn story_clock_jump(s: Scene) -> Result<()> {
    let accounts: Api<ServiceAccount> = Api::namespaced(s.client.clone(), &s.namespace);
    let account = serde_json::from_value(json!({"metadata": {"name": "a"}}))?;
    accounts.create(&PostParams::default(), &account).await?;
    let request =
        serde_json::from_value(json!({"spec": {"audiences": [], "expirationSeconds": 600}}))?;
    let made = accounts
        .create_token_request("a", &PostParams::default(), &request)
        .await?;
    let mut config = Config::infer().await?;
    config.auth_info = AuthInfo {
        token: made.status.context("a status")?.token.map(Into::into),
        ..AuthInfo::default()
    };
    let other = Client::try_from(config)?;
    let look = async || -> Result<()> {
        other.apiserver_version().await?;
        Ok(())
    };
    look().await?;
    // The server's clock jumps, as after a pause of its machine: a token that the client believes in for ten minutes has expired.
    told("POST", "/clock/advance", json!({"seconds": 700})).await?;
    same(refused(look().await)?, 401)?;
    told("POST", "/clock/advance", json!({"seconds": -700})).await?;
    look().await
}

/// The first event of a watch from a revision on.
async fn next(s: &Scene, revision: &str) -> Result<WatchEvent<ConfigMap>> {
    let maps = s.maps();
    let mut events = maps.watch(&WatchParams::default(), revision).await?.boxed();
    events.try_next().await?.context("the watch has ended")
}

fn creates(s: &Scene) -> Value {
    json!({"verbs": ["create"], "resources": ["configmaps"], "namespaces": [s.namespace]})
}

fn value(map: &ConfigMap) -> &str {
    map.data
        .as_ref()
        .and_then(|data| data.get("k"))
        .map_or("", String::as_str)
}

fn set(map: &mut ConfigMap, value: &str) {
    map.data
        .get_or_insert_default()
        .insert("k".into(), value.into());
}

/// The code of a call that is refused; 0 if there was no answer.
fn refused<T>(result: Result<T>) -> Result<u16> {
    match result {
        Ok(_) => anyhow::bail!("expected a refusal"),
        Err(error) => Ok(match error.downcast_ref::<kube::Error>() {
            Some(kube::Error::Api(status)) => status.code,
            _ => 0,
        }),
    }
}

async fn cursor() -> Result<u64> {
    let answer = told("POST", "/requests/query", json!({"limit": 0})).await?;
    answer["cursor"].as_u64().context("a cursor")
}

/// The codes of the requests since then that match.
async fn codes(since: u64, on: Value) -> Result<Vec<u64>> {
    let answer = told(
        "POST",
        "/requests/query",
        json!({"since": since, "match": on}),
    )
    .await?;
    let items = answer["items"].as_array().context("items")?;
    Ok(items
        .iter()
        .filter_map(|item| item["code"].as_u64())
        .collect())
}

/// Tells the control port something, or asks it: it speaks plain HTTP.
async fn told(method: &'static str, path: &'static str, words: Value) -> Result<Value> {
    tokio::task::spawn_blocking(move || {
        let url = std::env::var("FAKE_APISERVER_CONTROL_URL")?;
        let token = std::env::var("FAKE_APISERVER_CONTROL_TOKEN")?;
        let body = words.to_string();
        let mut stream = TcpStream::connect(url.trim_start_matches("http://"))?;
        write!(
            stream,
            "{method} /_fake/v1{path} HTTP/1.1\r\nHost: fake\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("an answer")?;
        ensure!(head.starts_with("HTTP/1.1 20"), "{body}");
        Ok(serde_json::from_str(body)?)
    })
    .await?
}
