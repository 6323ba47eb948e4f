//! Replicas that are held back and released, and replicas that are stopped and started.

use crate::support::{CONFIG_MAPS, Client, PROTOCOLS, Protocol, named, names, soon, start_with, text};
use fake_apiserver::FakeApiServer;
use serde_json::Value;
use tokio::net::TcpStream;

#[tokio::test]
async fn a_replica_that_is_held_back_serves_the_past_to_those_who_take_it() {
    let server = start_with(FakeApiServer::builder().replicas(2)).await;
    let mut fresh = Client::new(&server).await;
    let mut stale = Client::to_replica(&server, 1, Protocol::Http1).await;
    fresh.post(CONFIG_MAPS, &named("before")).await.expect(201);
    let mut events =
        Client::to_replica(&server, 1, Protocol::Http2).await.watch(&format!("{CONFIG_MAPS}?watch=true"), &[]).await;
    assert_eq!(events.next_short().await.1, "before");

    server.replica(1).hold();
    let after = fresh.post(CONFIG_MAPS, &named("after")).await.expect(201);
    let revision = text(&after, "/metadata/resourceVersion").to_owned();
    let list = |query: &str| format!("{CONFIG_MAPS}{query}");
    for (query, expected) in [("", ["after", "before"].as_slice()), ("?resourceVersion=0", &["before"])] {
        assert_eq!(names(&stale.get(&list(query)).await.expect(200)), expected, "{query}");
    }
    let at = format!("{CONFIG_MAPS}/after");
    stale.get(&at).await.expect(200);
    stale.get(&format!("{at}?resourceVersion=0")).await.expect(404);
    fresh.get(&format!("{at}?resourceVersion=0")).await.expect(200);
    stale.get(&format!("{CONFIG_MAPS}?resourceVersion={revision}")).await.expect(504);
    // A watch that begins there begins in the past too.
    let mut late = Client::to_replica(&server, 1, Protocol::Http1).await.watch(&list("?watch=true"), &[]).await;
    assert_eq!(late.next_short().await.1, "before");
    // A streamed list is consistent, as a list is, unless it takes any revision.
    for (any, first, second) in [("", "after", "before"), ("&resourceVersion=0", "before", "")] {
        let query = "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
        let stale = Client::to_replica(&server, 1, Protocol::Http1).await;
        let mut streamed = stale.watch(&list(&format!("{query}{any}")), &[]).await;
        for expected in [first, second] {
            assert_eq!(streamed.next_short().await.1, expected, "{any}");
        }
    }

    // Held once more, it sees the events up to then.
    server.replica(1).hold();
    for events in [&mut events, &mut late] {
        assert_eq!(events.next_short().await.1, "after");
    }
    fresh.post(CONFIG_MAPS, &named("last")).await.expect(201);
    assert_eq!(names(&stale.get(&list("?resourceVersion=0")).await.expect(200)), ["after", "before"]);

    server.replica(1).release();
    for events in [&mut events, &mut late] {
        assert_eq!(events.next_short().await.1, "last");
    }
    assert_eq!(names(&stale.get(&list("?resourceVersion=0")).await.expect(200)), ["after", "before", "last"]);
}

#[tokio::test]
async fn a_replica_that_was_stopped_comes_back_with_all_objects() {
    for protocol in PROTOCOLS {
        let server = start_with(FakeApiServer::builder().replicas(2)).await;
        let (replica, address) = (server.replica(0), server.replica(0).address());
        let mut client = Client::over(&server, protocol).await;
        client.post(CONFIG_MAPS, &named("a")).await.expect(201);
        let mut events = Client::over(&server, protocol).await.watch(&format!("{CONFIG_MAPS}?watch=true"), &[]).await;
        assert_eq!(events.next_short().await.1, "a");
        soon(replica.stop()).await;
        assert_eq!(events.rest().await, [] as [Value; 0]);
        assert!(TcpStream::connect(address).await.is_err());
        let mut other = Client::to_replica(&server, 1, protocol).await;
        other.post(CONFIG_MAPS, &named("b")).await.expect(201);

        replica.start().await.expect("the port is still free");
        let mut client = Client::over(&server, protocol).await;
        assert_eq!(names(&client.get(CONFIG_MAPS).await.expect(200)), ["a", "b"]);
        soon(server.shutdown()).await;
    }
}
