//! Gets of an object of 1 kB while two other clients, who have few rights, send the worst bodies that a client may send, without a
//! pause.
//!
//! Each get is measured on a thread that does nothing else, so that what the others have to send does not delay it.

use super::client::{Call, Connection, Target};
use anyhow::{Context as _, anyhow};
use http::Method;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime;

/// Clients that send the worst.
const CLIENTS: usize = 2;
/// Duration of a turn.
const TURN: Duration = Duration::from_secs(2);
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const PODS: &str = "/api/v1/namespaces/default/pods?dryRun=All";
const GROUP: &str = "rbac.authorization.k8s.io";
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
const NAME: &str = "beside";

/// The durations of gets in each turn, and the number of bodies that were answered meanwhile.
pub(super) struct Measured {
    pub(super) turns: Vec<Vec<Duration>>,
    pub(super) bodies: u64,
}

/// Measures gets of `administrator`, on a server of its own, while `worst`, the user of that name, does its worst.
pub(super) fn measure(administrator: &Target, worst: &Target, name: &str, turns: usize) -> anyhow::Result<Measured> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let text = "x".repeat(700);
    let object = json!({"metadata": {"name": NAME}, "data": {"text": text}}).to_string();
    let mut connection = runtime.block_on(async {
        let mut connection = administrator.connect().await?;
        connection.exchange(Call::new(Method::POST, CONFIG_MAPS, object)).await?;
        for (resource, object) in rights(name) {
            connection.exchange(Call::new(Method::POST, format!("{RBAC}/{resource}"), object.to_string())).await?;
        }
        anyhow::Ok(connection)
    })?;
    let (over, bodies) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let senders: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let (target, over, bodies) = (worst.clone(), over.clone(), bodies.clone());
            thread::spawn(move || send(&target, number, &over, &bodies))
        })
        .collect();
    let turns: anyhow::Result<_> = (0..turns).map(|_| runtime.block_on(turn(&mut connection))).collect();
    over.store(true, Ordering::Relaxed);
    for sender in senders {
        sender.join().map_err(|_| anyhow!("a client has panicked"))?.context("a client that sends the worst")?;
    }
    Ok(Measured { turns: turns?, bodies: bodies.load(Ordering::Relaxed) })
}

/// A role and its binding, by which a user may write in one namespace, but not grant permissions that it lacks.
fn rights(name: &str) -> [(&'static str, Value); 2] {
    let rule =
        json!({"apiGroups": ["", GROUP], "resources": ["configmaps", "pods", "roles"], "verbs": ["create", "patch"]});
    let subject = json!({"apiGroup": GROUP, "kind": "User", "name": name});
    let role_ref = json!({"apiGroup": GROUP, "kind": "Role", "name": name});
    let metadata = json!({"name": name});
    [
        ("roles", json!({"metadata": metadata, "rules": [rule]})),
        ("rolebindings", json!({"metadata": metadata, "subjects": [subject], "roleRef": role_ref})),
    ]
}

async fn turn(connection: &mut Connection) -> anyhow::Result<Vec<Duration>> {
    let (begin, mut durations) = (Instant::now(), Vec::new());
    while begin.elapsed() < TURN {
        let sent = Instant::now();
        connection.exchange(Call::get(format!("{CONFIG_MAPS}/{NAME}"))).await?;
        durations.push(sent.elapsed());
    }
    Ok(durations)
}

/// Sends one body after the other, each client beginning with another one.
fn send(target: &Target, number: usize, over: &AtomicBool, bodies: &AtomicU64) -> anyhow::Result<()> {
    let worst = worst();
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut connection = target.connect().await?;
        for call in worst.iter().cycle().skip(number * worst.len() / CLIENTS) {
            if over.load(Ordering::Relaxed) {
                break;
            }
            connection.answer(call.clone()).await?;
            bodies.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    })
}

/// The bodies: of each kind of computation that a body may ask for the one that takes longest.
fn worst() -> Vec<Call> {
    let many = |count: usize, each: fn(usize) -> Value| (0..count).map(each).collect::<Vec<_>>();
    let object = |metadata: Value, more: Value| {
        let mut object = json!({"metadata": metadata});
        if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
            object.extend(more);
        }
        object.to_string()
    };
    let named = || json!({"name": "worst"});
    let pod = |spec: Value| Call::new(Method::POST, PODS, object(named(), json!({"spec": spec})));
    let container = |field: &str, items: Vec<Value>| {
        let mut container = json!({"name": "c", "image": "i"});
        container[field] = items.into();
        json!({"containers": [container]})
    };
    let patch = |body: String| Call::patch(format!("{CONFIG_MAPS}/{NAME}"), "application/json-patch+json", body);
    let owners = many(
        12_000,
        |n| json!({"apiVersion": "v1", "kind": "Pod", "name": format!("p{n}"), "uid": format!("u{n}"), "controller": true}),
    );
    let names = |letter: &str, count: usize| (0..count).map(|n| format!("{letter}{n}")).collect::<Vec<_>>();
    let rule = json!({
        "apiGroups": names("g", 60), "resources": names("r", 60), "resourceNames": names("n", 20), "verbs": ["a", "b", "c", "d"],
    });
    vec![
        pod(json!({"containers": many(30_000, |n| json!({"name": format!("c{n}"), "image": "i"}))})),
        pod(container("env", many(15_000, |n| json!({"name": format!("n{n}"), "value": format!("$(n{n})")})))),
        pod(container(
            "volumeMounts",
            many(10_000, |n| json!({"name": format!("v{n}"), "mountPath": format!("/m{n}")})),
        )),
        pod(container("ports", vec![json!({"containerPort": 80, "hostPort": 80}); 20_000])),
        Call::new(
            Method::POST,
            format!("{CONFIG_MAPS}?dryRun=All"),
            object(json!({"name": "worst", "ownerReferences": owners}), json!({})),
        ),
        patch(format!(
            r#"[{{"op":"add","path":"/x","value":[0{}]}}{},{{"op":"remove","path":"/x"}}]"#,
            ",0".repeat(500_000),
            r#",{"op":"add","path":"/x/0","value":1}"#.repeat(9_000)
        )),
        patch(format!("[{}{{}}]", r#"{"op":"test"},"#.repeat(200_000))),
        Call::new(Method::POST, format!("{RBAC}/roles?dryRun=All"), object(named(), json!({"rules": [rule]}))),
    ]
}
