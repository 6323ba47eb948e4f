//! The world of a soak of admission: namespaces with a quota each, and the names of things.

use super::history::field;
use crate::line::{Line, Sent};
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

/// The time for a call of a webhook.
pub(super) const TIMEOUT: Duration = Duration::from_secs(3);
/// The time that a request may take.
pub(super) const LIMIT: Duration = Duration::from_secs(20);
/// How much longer its answer may take.
pub(super) const SLACK: Duration = Duration::from_secs(3);
/// The label of namespaces that webhooks and policies are about; its value is the name of the run.
pub(super) const LABEL: &str = "soak.example.com/run";
/// The name of a quota.
pub(super) const QUOTA: &str = "quota";
/// The number of namespaces at any time.
pub(super) const SLOTS: usize = 6;
/// The objects of a namespace that all clients patch.
pub(super) const HOT: usize = 3;
/// The group of what configures admission.
pub(super) const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";
const NAMESPACES: &str = "/api/v1/namespaces";
/// The time in which something that was configured has to be in force.
const IN_FORCE: Duration = Duration::from_secs(30);

/// The places of namespaces; one that is deleted is replaced by another.
pub(super) struct Slots(RwLock<Vec<String>>);

impl Slots {
    pub(super) fn new(names: Vec<String>) -> Slots {
        Slots(RwLock::new(names))
    }

    /// The namespace that is in the place now.
    pub(super) fn get(&self, slot: usize) -> String {
        self.0.read().unwrap_or_else(PoisonError::into_inner)[slot].clone()
    }

    /// Puts another one there, and returns the old one.
    pub(super) fn replace(&self, slot: usize, name: String) -> String {
        std::mem::replace(&mut self.0.write().unwrap_or_else(PoisonError::into_inner)[slot], name)
    }
}

/// The config maps that are created or changed.
pub(super) fn rule() -> Value {
    json!({"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE", "UPDATE"]})
}

/// The path of the config maps of a namespace.
pub(super) fn config_maps(namespace: &str) -> String {
    format!("{NAMESPACES}/{namespace}/configmaps")
}

/// The path of a namespace.
pub(super) fn namespace(name: &str) -> String {
    format!("{NAMESPACES}/{name}")
}

/// The path of the status of a namespace's quota.
pub(super) fn quota(namespace: &str) -> String {
    format!("{NAMESPACES}/{namespace}/resourcequotas/{QUOTA}/status")
}

/// The name of an object that all clients patch.
pub(super) fn hot(number: usize) -> String {
    format!("hot-{number}")
}

/// The body of a config map.
pub(super) fn body(name: &str, request: &str, size: u64) -> Value {
    json!({"metadata": {"name": name}, "data": {field::REQUEST: request, field::SIZE: size.to_string()}})
}

/// Sends a request, and returns the status and the document of the answer.
///
/// # Errors
/// If the connection ended, or the answer is not JSON.
pub(super) async fn ask(line: &Line, method: &str, path: &str, body: &Value) -> Result<(u16, Value)> {
    let reply = line.send(&Sent::json(method, path, body)).await?;
    let about = || format!("{method} {path}: {} {}", reply.status, String::from_utf8_lossy(&reply.body));
    Ok((reply.status, serde_json::from_slice(&reply.body).with_context(about)?))
}

/// The same for a request that must succeed.
///
/// # Errors
/// If it does not.
pub(super) async fn must(line: &Line, method: &str, path: &str, body: &Value) -> Result<Value> {
    let (status, answer) = ask(line, method, path, body).await?;
    ensure!((200..300).contains(&status), "{method} {path}: {status} {answer}");
    Ok(answer)
}

/// Changes what a namespace's quota says, until nobody changed it meanwhile.
///
/// # Errors
/// If the namespace is gone.
pub(super) async fn change_quota(line: &Line, namespace: &str, change: impl Fn(&mut u64, &mut u64)) -> Result<()> {
    let path = quota(namespace);
    loop {
        let mut quota = must(line, "GET", &path, &Value::Null).await?;
        let number = |quota: &Value, part: &str| {
            quota["status"][part]["configmaps"].as_str().and_then(|text| text.parse().ok()).unwrap_or_default()
        };
        let (mut hard, mut used) = (number(&quota, "hard"), number(&quota, "used"));
        change(&mut hard, &mut used);
        quota["status"] = json!({"hard": {"configmaps": hard.to_string()}, "used": {"configmaps": used.to_string()}});
        match ask(line, "PUT", &path, &quota).await? {
            (200, _) => return Ok(()),
            (409, _) => {}
            (status, answer) => bail!("{path}: {status} {answer}"),
        }
    }
}

/// Makes a namespace, with a quota of `hard` config maps that is in force, and the objects that all clients patch.
///
/// # Errors
/// If something of it is refused.
pub(super) async fn found(line: &Line, run: &str, name: &str, hard: u64) -> Result<()> {
    must(line, "POST", NAMESPACES, &json!({"metadata": {"name": name, "labels": {LABEL: run}}})).await?;
    let quotas = format!("{NAMESPACES}/{name}/resourcequotas");
    must(line, "POST", &quotas, &json!({"metadata": {"name": QUOTA}})).await?;
    change_quota(line, name, |hard, used| (*hard, *used) = (0, 0)).await?;
    let (path, begin) = (config_maps(name), Instant::now());
    let refused =
        |path: String| async move { anyhow::Ok(ask(line, "POST", &path, &body("probe", "", 0)).await?.0 == 403) };
    while !refused(format!("{path}?dryRun=All")).await? {
        ensure!(begin.elapsed() < IN_FORCE, "the quota of {name} is not in force");
    }
    change_quota(line, name, |allowed, _| *allowed = hard).await?;
    for number in 0..HOT {
        // The server may count by the quota of before for a moment.
        while ask(line, "POST", &path, &body(&hot(number), "", 0)).await?.0 != 201 {
            ensure!(begin.elapsed() < IN_FORCE, "{} of {name} cannot be created", hot(number));
        }
    }
    Ok(())
}

/// Waits until `probe` returns true.
///
/// # Errors
/// If it does not in time.
pub(super) async fn in_force(what: &str, probe: impl AsyncFn() -> Result<bool>) -> Result<()> {
    let begin = Instant::now();
    while !probe().await? {
        ensure!(begin.elapsed() < IN_FORCE, "{what} is not in force");
    }
    Ok(())
}
