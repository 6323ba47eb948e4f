//! Lists: pages at one revision, expired continue tokens, and the choice of the revision.

use crate::support::*;
use fake_apiserver::FakeApiServer;
use serde_json::Value;

const EXPIRED: &str = "Expired";

async fn server_with(count: usize, history: usize) -> (FakeApiServer, Client) {
    let server = start_with(FakeApiServer::builder().history(history)).await;
    let mut client = Client::new(&server).await;
    for index in 0..count {
        client.post(CONFIG_MAPS, &named(&format!("c{index}"))).await.expect(201);
    }
    (server, client)
}

fn token(list: &Value) -> &str {
    text(list, "/metadata/continue")
}

#[tokio::test]
async fn pages_are_of_one_moment() {
    let (_server, mut client) = server_with(5, 100).await;
    let mut page = client.get(&format!("{CONFIG_MAPS}?limit=2")).await.expect(200);
    let first = revision(&page);
    let mut seen: Vec<String> = names(&page).into_iter().map(str::to_string).collect();
    assert_eq!(page["metadata"]["remainingItemCount"], 3);
    // Changes between pages are not visible.
    client.delete(&format!("{CONFIG_MAPS}/c3")).await.expect(200);
    client.post(CONFIG_MAPS, &named("c2b")).await.expect(201);
    client.put(&format!("{CONFIG_MAPS}/c4"), &with_data("c4", "k", "v")).await.expect(200);
    while !token(&page).is_empty() {
        page = client.get(&format!("{CONFIG_MAPS}?limit=2&continue={}", token(&page))).await.expect(200);
        assert_eq!(revision(&page), first);
        assert_eq!(page["items"][0].get("data"), None);
        seen.extend(names(&page).into_iter().map(str::to_string));
    }
    assert_eq!(seen, ["c0", "c1", "c2", "c3", "c4"]);
    assert_eq!(page["metadata"].get("remainingItemCount"), None);
    let now = client.get(CONFIG_MAPS).await.expect(200);
    assert_eq!(names(&now), ["c0", "c1", "c2", "c2b", "c4"]);
}

/// Small objects share chunks of the response, large ones have their own.
#[tokio::test]
async fn items_are_what_gets_say_whatever_their_size() {
    let (_server, mut client) = server_with(70, 100).await;
    for (name, length) in [("a-first", 100_000), ("b-kib", 16_384), ("b-less", 15_000), ("d", 40_000), ("e", 200_000)] {
        client.post(CONFIG_MAPS, &with_data(name, "k", &"v".repeat(length))).await.expect(201);
    }
    for round in ["built", "kept", "changed"] {
        let list = client.get(CONFIG_MAPS).await.expect(200);
        let items = list["items"].as_array().expect("items");
        assert_eq!(items.len(), 75, "{round}");
        for item in items {
            let mut object = client.get(&format!("{CONFIG_MAPS}/{}", text(item, "/metadata/name"))).await.expect(200);
            object.as_object_mut().expect("an object").retain(|member, _| member != "kind" && member != "apiVersion");
            assert_eq!(*item, object, "{round}");
        }
        if round == "kept" {
            client.put(&format!("{CONFIG_MAPS}/c42"), &with_data("c42", "k", round)).await.expect(200);
        }
    }
}

#[tokio::test]
async fn an_expired_page_can_be_continued_as_things_are_now() {
    let (server, mut client) = server_with(4, 100).await;
    let page = client.get(&format!("{CONFIG_MAPS}?limit=2")).await.expect(200);
    client.post(CONFIG_MAPS, &named("c2b")).await.expect(201);
    server.compact();
    let refused = client.get(&format!("{CONFIG_MAPS}?limit=2&continue={}", token(&page))).await;
    let (reason, message) = refused.refusal(410);
    assert_eq!(reason, EXPIRED);
    assert!(message.starts_with("The provided continue parameter is too old"), "{message}");
    let rest = client.get(&format!("{CONFIG_MAPS}?limit=2&continue={}", token(&refused.json()))).await.expect(200);
    assert_eq!(names(&rest), ["c2", "c2b"]);
    assert!(revision(&rest) > revision(&page));
    let last = client.get(&format!("{CONFIG_MAPS}?limit=2&continue={}", token(&rest))).await.expect(200);
    assert_eq!(names(&last), ["c3"]);
}

#[tokio::test]
async fn tokens_are_of_one_scope_and_cannot_leave_it() {
    let (_server, mut client) = server_with(2, 100).await;
    // {"v":"meta.k8s.io/v1","rv":-1,"start":"../x"} and {"v":"v9","rv":1,"start":"a"}
    for (token, why) in [
        ("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiLi4veCJ9", "continue key is not valid: ../x"),
        (
            "eyJ2IjoidjkiLCJydiI6MSwic3RhcnQiOiJhIn0",
            "continue key is not valid: server does not recognize this encoded version v9",
        ),
    ] {
        let refusal = client.get(&format!("{CONFIG_MAPS}?continue={token}")).await.refusal(400);
        assert_eq!(refusal, ("BadRequest".into(), format!("invalid continue token: {why}")));
    }
    assert_eq!(client.get(&format!("{CONFIG_MAPS}?continue=%21")).await.code, 400);
}

/// The answer to a query: a list at a revision (counted from that of the first object), or a refusal.
#[derive(Debug, Clone, Copy)]
enum Expected {
    At(u64),
    Refused(u16, &'static str),
}

#[tokio::test]
async fn resource_versions() {
    use Expected::{At, Refused};
    const FORBIDDEN: &str = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden";
    let (server, mut client) = server_with(5, 3).await;
    let newest = revision(&client.get(CONFIG_MAPS).await.expect(200));
    let first = newest - 4;
    let cases = [
        ("", At(4)),
        ("resourceVersion=", At(4)),
        ("resourceVersion=0", At(4)),
        ("resourceVersion=+2", At(4)),
        ("resourceVersion=+2&resourceVersionMatch=NotOlderThan", At(4)),
        ("resourceVersion=+2&resourceVersionMatch=Exact", At(2)),
        ("resourceVersion=+2&limit=2", At(2)),
        ("resourceVersion=+2&limit=2&resourceVersionMatch=NotOlderThan", At(4)),
        ("resourceVersion=0&resourceVersionMatch=NotOlderThan", At(4)),
        ("resourceVersion=+0&resourceVersionMatch=NotOlderThan", At(4)),
        ("resourceVersion=+0&resourceVersionMatch=Exact", Refused(410, "too old")),
        ("resourceVersion=+0&limit=1", Refused(410, "too old")),
        ("resourceVersion=+9", Refused(504, "Too large resource version")),
        ("resourceVersion=x", Refused(400, "invalid syntax")),
        ("resourceVersion=0&resourceVersionMatch=Exact", Refused(422, "forbidden for resourceVersion \"0\"")),
        ("resourceVersionMatch=Exact", Refused(422, FORBIDDEN)),
        ("resourceVersion=+2&resourceVersionMatch=Roughly", Refused(422, "Unsupported value: \"Roughly\"")),
        ("resourceVersion=+2&continue=x", Refused(400, "")),
        ("sendInitialEvents=true", Refused(422, "sendInitialEvents is forbidden for list")),
        ("limit=", Refused(400, "invalid syntax")),
        ("limit=-1", At(4)),
    ];
    for (query, expected) in cases {
        let query = match query.split_once('+') {
            Some((before, after)) => {
                let (offset, rest) = after.split_at(1);
                format!("{before}{}{rest}", first + offset.parse::<u64>().expect("a digit"))
            }
            None => query.to_string(),
        };
        let answer = client.get(&format!("{CONFIG_MAPS}?{query}")).await;
        match expected {
            At(offset) => {
                let list = answer.expect(200);
                assert_eq!(revision(&list), first + offset, "{query}");
                let total = list["metadata"]["remainingItemCount"].as_u64().unwrap_or(0) + names(&list).len() as u64;
                assert_eq!(total, offset + 1, "{query}");
            }
            Refused(code, why) => {
                let (_, message) = answer.refusal(code);
                assert!(message.contains(why), "{query}: {message}");
            }
        }
    }
    drop(server);
}

#[tokio::test]
async fn selectors() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    for (name, labels, kind) in [
        ("a", serde_json::json!({"tier": "1", "app": "x"}), "t1"),
        ("b", serde_json::json!({"tier": "2"}), "t2"),
        ("c", serde_json::json!({}), "t2"),
    ] {
        let secret = serde_json::json!({"metadata": {"name": name, "labels": labels}, "type": kind});
        client.post(SECRETS, &secret).await.expect(201);
    }
    for (query, expected) in [
        ("labelSelector=tier", &["a", "b"][..]),
        ("labelSelector=!tier", &["c"]),
        ("labelSelector=tier%3D1", &["a"]),
        ("labelSelector=tier!%3D1", &["b", "c"]),
        ("labelSelector=tier%20in%20(1,2),!app", &["b"]),
        ("labelSelector=tier%20notin%20(1)", &["b", "c"]),
        ("labelSelector=tier%3E1", &["b"]),
        ("fieldSelector=metadata.name%3Db", &["b"]),
        ("fieldSelector=metadata.name!%3Db", &["a", "c"]),
        ("fieldSelector=type%3Dt2", &["b", "c"]),
        ("fieldSelector=type%3Dt2&labelSelector=tier", &["b"]),
        ("fieldSelector=metadata.namespace%3Dother", &[]),
        ("labelSelector=tier&limit=1", &["a"]),
    ] {
        let list = client.get(&format!("{SECRETS}?{query}")).await.expect(200);
        assert_eq!(names(&list), expected, "{query}");
        // With selectors the number of remaining items is unknown.
        assert_eq!(list["metadata"].get("remainingItemCount"), None, "{query}");
    }
    for (query, why) in [
        ("labelSelector=a%20b", "found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("fieldSelector=foo%3Dbar", "field label not supported: foo"),
        ("fieldSelector=foo", "invalid selector: 'foo'; can't understand 'foo'"),
    ] {
        let (_, message) = client.get(&format!("{SECRETS}?{query}")).await.refusal(400);
        assert!(message.contains(why), "{query}: {message}");
    }
}
