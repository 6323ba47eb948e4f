//! Hostile answers to the programs that are clients, `controller-manager` and `kubelet-volumes`. Each has to survive them
//! within bounds, and to do its work once the server is a good one.

use super::hostile::{Answer, Hostile};
use crate::attack::catalogue::Coded;
use crate::attack::ground::Ground;
use crate::attack::verdict::Bounds;
use crate::attack::vitals::Patient;
use crate::credentials::SIGNING_KEY;
use anyhow::{Context as _, Result, bail, ensure};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::{Child, Command};

/// The most memory of a program, MiB.
const MAX_MEMORY: u64 = 700;
/// The number of hostile answers, and the time for them.
const HOSTILE_ANSWERS: usize = 4;
const HOSTILE_TIME: Duration = Duration::from_secs(4);
/// The time for a program to recover; the time between two attempts grows up to half a minute.
const RECOVERY: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);
const WHY: &str = "it is the programs that are attacked";

const fn attack(
    name: &'static str,
    about: &'static str,
    run: for<'a> fn(&'a Ground) -> BoxFuture<'a, Result<String>>,
) -> Coded {
    let bounds = Bounds { memory_mib: 64, peak_mib: 128, descriptors: 16, threads: 16 };
    Coded { name, about, slow: true, stated: Some(("both recovered", WHY)), bounds, run }
}

/// The attacks.
pub(super) const ATTACKS: &[Coded] = &[
    attack("closes-after-the-head", "Heads of answers, and no more.", |ground| {
        Box::pin(both(ground, answer("Content-Length: 100\r\n", "", 0, "")))
    }),
    attack("garbage", "Answers that are no HTTP.", |ground| {
        let garbage = Answer {
            head: String::new(),
            piece: "\u{0}\u{1}nonsense".into(),
            times: 1000,
            tail: String::new(),
            stays: false,
        };
        Box::pin(both(ground, garbage))
    }),
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

fn answer(headers: &str, piece: &str, times: usize, tail: &str) -> Answer {
    let stays = headers.contains("Content-Length: 2\r\n");
    Answer {
        head: format!("HTTP/1.1 200 OK\r\n{headers}\r\n"),
        piece: piece.to_owned(),
        times,
        tail: tail.to_owned(),
        stays,
    }
}

fn status(line: &str, headers: &str) -> Answer {
    let head = format!("HTTP/1.1 {line}\r\n{headers}Content-Length: 0\r\n\r\n");
    Answer { head, piece: String::new(), times: 0, tail: String::new(), stays: true }
}

fn json_answer(body: &str) -> Answer {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
    Answer { head, piece: body.to_owned(), times: 1, tail: String::new(), stays: true }
}

impl Answer {
    fn with_head(mut self, headers: &str) -> Answer {
        self.head = format!("HTTP/1.1 200 OK\r\n{headers}");
        self
    }
}

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
    let folder = tempfile::tempdir()?;
    let mut program = start(&folder, hostile, name)?;
    let patient = Patient::new(program.id().context("it has just been started")?);
    // Programs that back off make fewer requests.
    let _ = tokio::time::timeout(HOSTILE_TIME, hostile.asked(HOSTILE_ANSWERS)).await;
    let ended = |program: &mut Child| -> Result<()> {
        let log = || std::fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        match program.try_wait()? {
            Some(status) => bail!("it ended with {status}: {}", last(&log())),
            None => Ok(()),
        }
    };
    ended(&mut program)?;
    hostile.reform();
    if recovers {
        let work = Work::ask(ground, name).await?;
        let begin = std::time::Instant::now();
        while !work.is_done(ground, folder.path()).await? {
            ended(&mut program)?;
            let log = || std::fs::read_to_string(folder.path().join("log")).unwrap_or_default();
            ensure!(begin.elapsed() < RECOVERY, "it does not recover: {}", last(&log()));
            tokio::time::sleep(PAUSE).await;
        }
        work.undo(ground).await?;
    }
    let peak = patient.vitals()?.peak;
    ensure!(peak <= MAX_MEMORY, "{peak} MiB of memory at most, {MAX_MEMORY} allowed");
    let found: BTreeSet<String> = entries(folder.path())?;
    let expected = BTreeSet::from(["kubeconfig", "log", "root"].map(str::to_owned));
    ensure!(found.is_subset(&expected), "there are files that ought not to be: {found:?}");
    ensure!(!Path::new("/tmp/escaped").exists(), "there are files that ought not to be");
    program.kill().await?;
    Ok(())
}

fn start(folder: &TempDir, hostile: &Hostile, name: &str) -> Result<Child> {
    let path = |name: &str| folder.path().join(name);
    let own = std::env::current_exe()?;
    let program = own.parent().context("a program in no folder")?.join(name);
    ensure!(program.exists(), "{} was not built; `cargo xtask attack` does that", program.display());
    let kubeconfig = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters:\n- name: a\n  cluster:\n    server: http://{}\n\
         contexts:\n- name: a\n  context:\n    cluster: a\n    user: a\nusers:\n- name: a\n  user:\n    token: {}\n",
        hostile.address,
        crate::credentials::static_token(crate::credentials::ADMINISTRATOR),
    );
    std::fs::write(path("kubeconfig"), kubeconfig)?;
    let mut command = Command::new(program);
    command.arg("--kubeconfig").arg(path("kubeconfig"));
    match name {
        "kubelet-volumes" => command.arg("--root-dir").arg(path("root")).args(["--node-name", "node-1"]),
        _ => command.args(["--leader-elect=false", "--service-account-private-key-file", SIGNING_KEY]),
    };
    let log = std::fs::File::create(path("log"))?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).kill_on_drop(true);
    command.spawn().with_context(|| name.to_owned())
}

fn entries(folder: &Path) -> Result<BTreeSet<String>> {
    std::fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

fn last(log: &str) -> String {
    let lines: Vec<&str> = log.lines().rev().take(3).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" | ").chars().take(1000).collect()
}

/// The work that a program has to do.
enum Work {
    /// The path of a service account that has to get a token.
    Account(String),
    /// The path of a pod whose volume has to appear, and that of its file.
    Pod(String, PathBuf),
}

impl Work {
    async fn ask(ground: &Ground, program: &str) -> Result<Work> {
        let metadata = json!({"generateName": "work-"});
        let path = |object: &Value, resource: &str| -> Result<String> {
            let name = object["metadata"]["name"].as_str().context("an object has a name")?;
            Ok(ground.path(&format!("{resource}/{name}")))
        };
        if program == "controller-manager" {
            let account = json!({"metadata": metadata});
            let account = ground.must("POST", &ground.path("serviceaccounts"), &account).await?;
            return Ok(Work::Account(path(&account, "serviceaccounts")?));
        }
        let pod = json!({
            "metadata": metadata,
            "spec": {"nodeName": "node-1", "containers": [{"name": "c", "image": "i"}], "volumes": [{"name": "v", "downwardAPI": {
                "items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}],
            }}]},
        });
        let pod = ground.must("POST", &ground.path("pods"), &pod).await?;
        let uid = pod["metadata"]["uid"].as_str().context("a pod has a uid")?;
        let file = Path::new("root/pods").join(uid).join("volumes/kubernetes.io~downward-api/v/name");
        Ok(Work::Pod(path(&pod, "pods")?, file))
    }

    async fn is_done(&self, ground: &Ground, folder: &Path) -> Result<bool> {
        Ok(match self {
            Work::Pod(_, file) => folder.join(file).exists(),
            Work::Account(path) => {
                let account = ground.must("GET", path, &Value::Null).await?;
                account["secrets"].as_array().is_some_and(|secrets| !secrets.is_empty())
            }
        })
    }

    async fn undo(&self, ground: &Ground) -> Result<()> {
        let path = match self {
            Work::Account(path) => path.clone(),
            Work::Pod(path, _) => format!("{path}?gracePeriodSeconds=0"),
        };
        ground.must("DELETE", &path, &Value::Null).await.map(drop)
    }
}
