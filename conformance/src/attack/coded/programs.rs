//! Hostile answers to the programs that are clients, `controller-manager` and `kubelet-volumes`. Each has to survive them
//! within bounds, and to do its work once the server is a good one.

use super::hostile::{Answer, Hostile, answer, json_answer, status};
use super::program::Program;
use crate::attack::catalogue::{Coded, Run};
use crate::attack::events::Events;
use crate::attack::ground::Ground;
use crate::attack::verdict::Bounds;
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The most memory of a program, MiB.
const MAX_MEMORY: u64 = 700;
/// The number of hostile answers, and the time for them.
const HOSTILE_ANSWERS: usize = 4;
const HOSTILE_TIME: Duration = Duration::from_secs(4);
/// The time for a program to recover; the time between two attempts grows up to half a minute.
const RECOVERY: Duration = Duration::from_secs(60);
const WHY: &str = "it is the programs that are attacked";

const fn attack(name: &'static str, about: &'static str, run: Run) -> Coded {
    let bounds = Bounds { memory_mib: 64, peak_mib: 128, descriptors: 16, threads: 16 };
    Coded::new(name, about, run).slow(bounds).stated("both recovered", WHY)
}

/// The attacks.
pub(super) const ATTACKS: &[Coded] = &[
    attack("closes-after-the-head", "Heads of answers, and no more.", |ground| {
        Box::pin(both(ground, answer("Content-Length: 100\r\n", "", 0, "")))
    }),
    attack("garbage", "Answers that are no HTTP.", |ground| Box::pin(both(ground, Answer::garbage()))),
    attack("pages-for-browsers", "200, with HTML.", |ground| {
        Box::pin(both(ground, answer("Content-Type: text/html\r\nConnection: close\r\n", "<html></html>", 1, "")))
    }),
    attack("empty-documents", "200, with an object that has nothing.", |ground| {
        Box::pin(both(ground, answer("Content-Type: application/json\r\nContent-Length: 2\r\n", "{}", 1, "")))
    }),
    attack("a-gigabyte", "Lists of a gigabyte.", |ground| {
        let piece = format!("{}\n", " ".repeat(99_999));
        Box::pin(both(
            ground,
            answer("Content-Type: application/json\r\nContent-Length: 1000000000\r\n", &piece, 10_000, ""),
        ))
    }),
    attack("endless-chunks", "Answers in chunks that do not end.", |ground| {
        let piece = format!("186a0\r\n{}\r\n", " ".repeat(100_000));
        Box::pin(both(ground, answer("Transfer-Encoding: chunked\r\n", &piece, 100_000, "")))
    }),
    attack("endless-head", "A head that does not end.", |ground| {
        Box::pin(both(ground, answer("", "", 0, "").with_head(&"X-A: b\r\n".repeat(200_000))))
    }),
    attack("deep-json", "Lists 100,000 deep.", |ground| {
        let deep = format!("{{\"items\":{}", "[".repeat(100_000));
        Box::pin(both(ground, answer("Content-Type: application/json\r\nConnection: close\r\n", &deep, 1, "")))
    }),
    attack("redirects", "Redirects to themselves, and to where nothing listens.", |ground| {
        Box::pin(both(ground, status("302 Found", "Location: http://127.0.0.1:1/\r\n")))
    }),
    attack("retry-after-years", "An answer that asks to wait for years.", |ground| {
        // A client that is told to wait for years does so, as client-go does; so it only has to survive.
        Box::pin(alive(ground, status("503 Service Unavailable", "Retry-After: 999999999999\r\n")))
    }),
    attack("errors-without-end", "500, again and again.", |ground| {
        Box::pin(both(ground, status("500 Internal Server Error", "")))
    }),
    attack("a-flood-of-events", "A watch of the same event, a million times, where a list was asked for.", |ground| {
        let event = "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\",\"namespace\":\"b\",\"resourceVersion\":\"1\"}}}\n";
        Box::pin(both(ground, answer("Content-Type: application/json\r\nConnection: close\r\n", event, 1_000_000, "")))
    }),
    attack("pages-without-end", "Lists that always go on.", |ground| {
        let page =
            r#"{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":"more"},"items":[]}"#;
        Box::pin(both(ground, json_answer(page)))
    }),
    attack("names-that-are-paths", "Objects whose names, namespaces and uids lead elsewhere.", |ground| {
        let pod = |uid: &str, volume: &str| {
            json!({
                "metadata": {"name": "../../a?b#c", "namespace": "../x", "uid": uid, "resourceVersion": "1"},
                "spec": {"nodeName": "node-1", "containers": [], "volumes": [{"name": volume, "emptyDir": {}}]},
                "status": {"phase": "Succeeded"},
            })
        };
        let items =
            [("../../../escaped", "v"), ("/tmp/escaped", "v"), ("u", "../../../../escaped"), ("..", "."), ("", "")];
        let items: Vec<Value> = items.iter().map(|(uid, volume)| pod(uid, volume)).collect();
        let list = json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items});
        Box::pin(both(ground, json_answer(&list.to_string())))
    }),
    attack("no-metadata", "Lists of objects without metadata, and of no objects.", |ground| {
        let list = r#"{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"9999999999999999999999"},"items":[{},{"metadata":{}},{"metadata":{"name":""}}]}"#;
        Box::pin(both(ground, json_answer(list)))
    }),
];

/// Gives both programs `answer`, and waits until both do their work.
async fn both(ground: &Ground, answer: Answer) -> Result<String> {
    for name in PROGRAMS {
        attacked(ground, &answer, name, true).await.context(name)?;
    }
    Ok("both recovered".to_owned())
}

/// The same for programs that have to survive, but need not do their work soon.
async fn alive(ground: &Ground, answer: Answer) -> Result<String> {
    for name in PROGRAMS {
        attacked(ground, &answer, name, false).await.context(name)?;
    }
    Ok("both recovered".to_owned())
}

const PROGRAMS: [&str; 2] = ["controller-manager", "kubelet-volumes"];

async fn attacked(ground: &Ground, answer: &Answer, name: &'static str, recovers: bool) -> Result<()> {
    let (hostile, serving) = Hostile::start(ground, answer.clone()).await?;
    tokio::select! {
        ended = serving => ended.context("the hostile server"),
        ended = attack_program(ground, &hostile, name, recovers) => ended,
    }
}

async fn attack_program(ground: &Ground, hostile: &Hostile, name: &'static str, recovers: bool) -> Result<()> {
    let mut program = Program::start(hostile.address, name)?;
    // Programs that back off make fewer requests.
    let told = tokio::time::timeout(HOSTILE_TIME, hostile.asked(HOSTILE_ANSWERS));
    tokio::select! {
        _ = told => {}
        ended = program.logs(|_| false) => return ended,
    }
    hostile.reform();
    if recovers {
        let mut work = Work::ask(ground, name).await?;
        let done = tokio::time::timeout(RECOVERY, work.done(&mut program)).await;
        done.with_context(|| format!("it does not recover: {}", program.last_lines()))??;
        work.undo(ground).await?;
    }
    let peak = program.vitals()?.peak;
    ensure!(peak <= MAX_MEMORY, "{peak} MiB of memory at most, {MAX_MEMORY} allowed");
    let found = program.files()?;
    let expected = BTreeSet::from(["kubeconfig", "root"].map(str::to_owned));
    ensure!(found.is_subset(&expected), "there are files that ought not to be: {found:?}");
    ensure!(!Path::new("/tmp/escaped").exists(), "there are files that ought not to be");
    program.end().await
}

/// The work that a program has to do.
enum Work {
    /// A service account, at this path, that has to get a token; and its events.
    Account(String, Events),
    /// A pod, at this path, whose volume has to appear; its name, and the path of the volume's file.
    Pod { path: String, name: String, file: PathBuf },
}

impl Work {
    async fn ask(ground: &Ground, program: &str) -> Result<Work> {
        let metadata = json!({"generateName": "work-"});
        let text = |object: &Value, field: &str| -> Result<String> {
            Ok(object["metadata"][field].as_str().with_context(|| format!("an object has a {field}"))?.to_owned())
        };
        if program == "controller-manager" {
            let path = ground.path("serviceaccounts");
            let name = text(&ground.must("POST", &path, &json!({"metadata": metadata})).await?, "name")?;
            let events = Events::of(ground, &path, &name).await?;
            return Ok(Work::Account(format!("{path}/{name}"), events));
        }
        let pod = json!({
            "metadata": metadata,
            "spec": {"nodeName": "node-1", "containers": [{"name": "c", "image": "i"}], "volumes": [{"name": "v", "downwardAPI": {
                "items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}],
            }}]},
        });
        let path = ground.path("pods");
        let pod = ground.must("POST", &path, &pod).await?;
        let (name, uid) = (text(&pod, "name")?, text(&pod, "uid")?);
        let file = Path::new("root/pods").join(uid).join("volumes/kubernetes.io~downward-api/v/name");
        Ok(Work::Pod { path: format!("{path}/{name}"), name, file })
    }

    /// Completes when the program has done it; an error if it ends before.
    async fn done(&mut self, program: &mut Program) -> Result<()> {
        match self {
            Work::Pod { name, file, .. } => {
                program.logs(|line| line.contains("MountVolume.SetUp succeeded") && line.contains(&**name)).await?;
                ensure!(program.folder().join(file).exists(), "the volume has no file");
                Ok(())
            }
            Work::Account(_, events) => tokio::select! {
                shown = events.until(has_token) => shown,
                ended = program.logs(|_| false) => ended,
            },
        }
    }

    async fn undo(&self, ground: &Ground) -> Result<()> {
        let path = match self {
            Work::Account(path, _) => path.clone(),
            Work::Pod { path, .. } => format!("{path}?gracePeriodSeconds=0"),
        };
        ground.must("DELETE", &path, &Value::Null).await.map(drop)
    }
}

/// Whether an event shows a service account with a token.
fn has_token(event: &Value) -> bool {
    event["object"]["secrets"].as_array().is_some_and(|secrets| !secrets.is_empty())
}
