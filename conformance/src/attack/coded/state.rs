//! Races of many clients over the same objects.

use crate::attack::catalogue::{Coded, Run};
use crate::attack::events::Events;
use crate::attack::ground::Ground;
use crate::attack::verdict::Bounds;
use anyhow::{Context as _, Result, bail, ensure};
use futures::future::{join_all, try_join_all};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

const BOUNDS: Bounds = Bounds { memory_mib: 96, peak_mib: 256, descriptors: 8, threads: 16 };

const fn race(name: &'static str, about: &'static str, run: Run) -> Coded {
    Coded::new(name, about, run).slow(BOUNDS)
}

/// The attacks.
pub(super) const ATTACKS: &[Coded] = &[
    race("no-write-is-lost", "Clients raise a number, and begin anew when another one was faster.", |ground| {
        Box::pin(no_write_is_lost(ground))
    }),
    race("one-name", "Clients create and delete the same name, again and again.", |ground| Box::pin(one_name(ground))),
    race("one-uid", "Clients delete one object by its uid, all at once, while it is made anew.", |ground| {
        Box::pin(one_uid(ground))
    }),
    race("one-revision", "Clients replace one revision, all at once.", |ground| Box::pin(one_revision(ground))),
    race("finalizers", "Clients add and remove finalizers of an object that is being deleted.", |ground| {
        Box::pin(finalizers(ground))
    }),
    race("generated-names", "Clients create 500 objects with generated names.", |ground| {
        Box::pin(generated_names(ground))
    }),
    race("a-namespace-goes", "Clients create objects in a namespace while it is deleted.", |ground| {
        Box::pin(a_namespace_goes(ground))
    }),
    race("pages-of-a-moment", "A list is read page by page while other objects come and go.", |ground| {
        Box::pin(pages_of_a_moment(ground))
    }),
    race("watches-opened-and-cut", "2,000 watches are opened and cut, 50 at a time.", |ground| {
        Box::pin(watches_opened_and_cut(ground))
    }),
    race("delete-all-of-it", "Clients delete a collection while others fill it.", |ground| {
        Box::pin(delete_all_of_it(ground))
    }),
];

/// The number of clients, and of the writes of each.
const CLIENTS: usize = 10;
const WRITES: usize = 10;
/// The time for a namespace to go.
const NAMESPACE_GOES: Duration = Duration::from_secs(30);

async fn no_write_is_lost(ground: &Ground) -> Result<String> {
    let path = ground.path("configmaps");
    ground.must("POST", &path, &json!({"metadata": {"name": "number"}, "data": {"n": "0"}})).await?;
    let path = format!("{path}/number");
    let client = || async {
        for _ in 0..WRITES {
            loop {
                let (code, mut object) = ground.ask("GET", &path, &Value::Null).await?;
                ensure!(code == 200, "{code} {object}");
                let number: usize = object["data"]["n"].as_str().unwrap_or_default().parse()?;
                object["data"]["n"] = (number + 1).to_string().into();
                match ground.ask("PUT", &path, &object).await? {
                    (200, _) => break,
                    (409, _) => {}
                    (code, answer) => bail!("{code} {answer}"),
                }
            }
        }
        Ok(())
    };
    try_join_all((0..CLIENTS).map(|_| client())).await?;
    let (_, object) = ground.ask("GET", &path, &Value::Null).await?;
    Ok(format!("n={}", object["data"]["n"].as_str().unwrap_or_default()))
}

async fn one_name(ground: &Ground) -> Result<String> {
    let path = ground.path("configmaps");
    let named = json!({"metadata": {"name": "one-name"}});
    let client = || async {
        let (mut created, mut deleted) = (0_usize, 0_usize);
        for _ in 0..30 {
            match ground.ask("POST", &path, &named).await? {
                (201, _) => created += 1,
                (409, _) => {}
                (code, answer) => bail!("{code} {answer}"),
            }
            match ground.ask("DELETE", &format!("{path}/one-name"), &Value::Null).await? {
                (200, _) => deleted += 1,
                (404, _) => {}
                (code, answer) => bail!("{code} {answer}"),
            }
        }
        Ok((created, deleted))
    };
    let counts = try_join_all((0..CLIENTS).map(|_| client())).await?;
    let created: usize = counts.iter().map(|(created, _)| created).sum();
    let deleted: usize = counts.iter().map(|(_, deleted)| deleted).sum();
    ensure!(created == deleted, "{created} were created, {deleted} deleted");
    Ok("as many deleted as created".to_owned())
}

async fn one_uid(ground: &Ground) -> Result<String> {
    let path = ground.path("configmaps");
    let named = json!({"metadata": {"name": "one-uid"}});
    let mut told = BTreeSet::new();
    for _ in 0..10 {
        let made = ground.must("POST", &path, &named).await?;
        let uid = json!({"preconditions": {"uid": made["metadata"]["uid"]}});
        let one = format!("{path}/one-uid");
        let deletions = join_all((0..CLIENTS).map(|_| ground.ask("DELETE", &one, &uid)));
        let (codes, _) = tokio::join!(deletions, ground.ask("POST", &path, &named));
        let codes: Vec<u16> = codes.into_iter().map(|answer| answer.map(|(code, _)| code)).collect::<Result<_>>()?;
        ensure!(codes.iter().all(|code| [200, 404, 409].contains(code)), "{codes:?}");
        told.insert(codes.iter().filter(|code| **code == 200).count());
        ground.ask("DELETE", &one, &Value::Null).await?;
    }
    Ok(format!("deleted {told:?}"))
}

async fn one_revision(ground: &Ground) -> Result<String> {
    let path = ground.path("configmaps");
    let mut object = ground.must("POST", &path, &json!({"metadata": {"name": "one-revision"}})).await?;
    let mut winners = BTreeSet::new();
    for round in 0..10 {
        let write = |client: usize| {
            let mut object = object.clone();
            object["data"] = json!({"k": format!("{round}-{client}")});
            let path = format!("{path}/one-revision");
            async move { ground.ask("PUT", &path, &object).await }
        };
        let answers = try_join_all((0..CLIENTS).map(write)).await?;
        ensure!(answers.iter().all(|(code, _)| [200, 409].contains(code)), "neither won nor lost");
        let won: Vec<&Value> = answers.iter().filter(|(code, _)| *code == 200).map(|(_, object)| object).collect();
        winners.insert(won.len());
        object = won.first().copied().cloned().unwrap_or_default();
    }
    Ok(format!("winners {winners:?}"))
}

async fn finalizers(ground: &Ground) -> Result<String> {
    let path = ground.path("configmaps");
    let named = json!({"metadata": {"name": "finalized", "finalizers": ["a/0", "a/1", "a/2"]}});
    ground.must("POST", &path, &named).await?;
    let one = format!("{path}/finalized");
    let game = |client: usize| {
        let one = &one;
        async move {
            for turn in 0..10 {
                let patch = match (client + turn) % 3 {
                    0 => json!({"metadata": {"finalizers": ["a/0", format!("b/{client}")]}}),
                    1 => json!({"metadata": {"finalizers": ["a/0"]}}),
                    _ => {
                        ground.ask("DELETE", one, &Value::Null).await?;
                        continue;
                    }
                };
                let (code, answer) = ground.ask("PATCH", one, &patch).await?;
                ensure!([200, 404, 409, 422].contains(&code), "{code} {answer}");
            }
            Ok(())
        }
    };
    try_join_all((0..CLIENTS).map(game)).await?;
    let (code, object) = ground.ask("GET", &one, &Value::Null).await?;
    ensure!(code == 200 && !object["metadata"]["deletionTimestamp"].is_null(), "{code} {object}");
    let (code, _) = ground.ask("PATCH", &one, &json!({"metadata": {"finalizers": null}})).await?;
    let (gone, _) = ground.ask("GET", &one, &Value::Null).await?;
    Ok(format!("{code} {gone}"))
}

async fn generated_names(ground: &Ground) -> Result<String> {
    let path = ground.path("configmaps");
    let generated = json!({"metadata": {"generateName": "generated-", "labels": {"a": "generated"}}});
    let client = || async {
        for _ in 0..50 {
            let (code, answer) = ground.ask("POST", &path, &generated).await?;
            ensure!(code == 201, "{code} {answer}");
        }
        Ok(())
    };
    try_join_all((0..CLIENTS).map(|_| client())).await?;
    let (_, list) = ground.ask("GET", &format!("{path}?labelSelector=a=generated"), &Value::Null).await?;
    let names: BTreeSet<&str> = items(&list).iter().filter_map(|item| item["metadata"]["name"].as_str()).collect();
    Ok(format!("{} names", names.len()))
}

async fn a_namespace_goes(ground: &Ground) -> Result<String> {
    let namespace = format!("{}-goes", ground.namespace());
    ground.must("POST", "/api/v1/namespaces", &json!({"metadata": {"name": namespace}})).await?;
    let one = format!("/api/v1/namespaces/{namespace}");
    let path = format!("{one}/configmaps");
    let generated = json!({"metadata": {"generateName": "a-"}});
    let headers = [("authorization", format!("Bearer {}", ground.names("admin")["token"]))];
    let mut events = Events::of(ground, "/api/v1/namespaces", &namespace).await?;
    let client = || async {
        for turn in 0..1000 {
            match ground.ask_with(&headers, "POST", &path, &generated).await? {
                (201, _) => {}
                (403 | 404, _) => return Ok(()),
                (code, answer) => bail!("{code} {answer} after {turn}"),
            }
        }
        bail!("the namespace does not go")
    };
    let deletion = async { ground.must("DELETE", &one, &Value::Null).await.map(drop) };
    let clients = async { try_join_all((0..CLIENTS).map(|_| client())).await.map(drop) };
    tokio::try_join!(deletion, clients)?;
    let gone = events.until(|event| event["type"] == "DELETED");
    tokio::time::timeout(ground.patience(NAMESPACE_GOES), gone).await.context("the namespace does not go")??;
    let (code, list) = ground.ask_with(&headers, "GET", &path, &Value::Null).await?;
    Ok(format!("{code}, {} left", items(&list).len()))
}

async fn pages_of_a_moment(ground: &Ground) -> Result<String> {
    let path = ground.path("secrets");
    for number in 0..100 {
        ground.must("POST", &path, &json!({"metadata": {"name": format!("page-{number:03}")}})).await?;
    }
    let others = async {
        for number in 0..100 {
            let name = json!({"metadata": {"name": format!("page-{number:03}-new")}});
            ground.ask("POST", &path, &name).await?;
            ground.ask("DELETE", &format!("{path}/page-{:03}", 99 - number), &Value::Null).await?;
        }
        anyhow::Ok(())
    };
    let reader = async {
        let (mut next, mut names, mut revisions) = (String::new(), Vec::new(), BTreeSet::new());
        loop {
            let (code, page) = ground.ask("GET", &format!("{path}?limit=7&continue={next}"), &Value::Null).await?;
            ensure!(code == 200, "{code} {page}");
            revisions.insert(page["metadata"]["resourceVersion"].to_string());
            names.extend(items(&page).iter().map(|item| item["metadata"]["name"].to_string()));
            next = page["metadata"]["continue"].as_str().unwrap_or_default().to_owned();
            if next.is_empty() {
                let distinct: BTreeSet<&String> = names.iter().collect();
                ensure!(distinct.len() == names.len(), "a name came twice");
                return anyhow::Ok(format!("{} revision", revisions.len()));
            }
        }
    };
    let ((), told) = tokio::try_join!(others, reader)?;
    Ok(told)
}

async fn watches_opened_and_cut(ground: &Ground) -> Result<String> {
    let path = ground.path("configmaps");
    let token = ground.names("alice")["token"].clone();
    for _ in 0..40 {
        let watch = || async {
            let request =
                http::Request::get(format!("{path}?watch=1")).header("authorization", format!("Bearer {token}"));
            let answer = ground.endpoint().send(request.body(Full::default())?).await?;
            ensure!(answer.status().is_success(), "{}", answer.status());
            // The first event is read, the rest is not, and the connection is cut.
            answer.into_body().frame().await;
            Ok(())
        };
        try_join_all((0..50).map(|_| watch())).await?;
    }
    Ok("opened".to_owned())
}

async fn delete_all_of_it(ground: &Ground) -> Result<String> {
    let path = ground.path("podtemplates");
    let template = json!({"metadata": {"generateName": "t-"}, "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}});
    let fill = || async {
        for _ in 0..30 {
            let (code, answer) = ground.ask("POST", &path, &template).await?;
            ensure!(code == 201, "{code} {answer}");
        }
        Ok(())
    };
    let empty = || async {
        for _ in 0..10 {
            let (code, answer) = ground.ask("DELETE", &path, &Value::Null).await?;
            ensure!(code == 200, "{code} {answer}");
        }
        Ok(())
    };
    let (fillers, emptiers) = (try_join_all((0..CLIENTS).map(|_| fill())), try_join_all((0..CLIENTS).map(|_| empty())));
    tokio::try_join!(fillers, emptiers)?;
    ground.ask("DELETE", &path, &Value::Null).await?;
    let (code, list) = ground.ask("GET", &path, &Value::Null).await?;
    Ok(format!("{code}, {} left", items(&list).len()))
}

fn items(list: &Value) -> &[Value] {
    list["items"].as_array().map_or(&[], Vec::as_slice)
}
