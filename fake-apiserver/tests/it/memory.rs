//! The server's memory is bounded, whatever clients send and do not read.

use crate::support::*;
use fake_apiserver::FakeApiServer;

#[tokio::test]
async fn events_that_are_too_large_together_are_forgotten() {
    let server = start_with(FakeApiServer::builder().history_bytes(2_000_000)).await;
    let mut client = Client::new(&server).await;
    let begun = revision(&client.post(CONFIG_MAPS, &named("a")).await.expect(201));
    let mut unread = watch_config_maps(&server, begun).await;
    for turn in 0..50 {
        let value = if turn % 2 == 0 { "a" } else { "b" }.repeat(200_000);
        client.put(&format!("{CONFIG_MAPS}/a"), &with_data("a", "k", &value)).await.expect(200);
    }
    let past = client.get(&format!("{CONFIG_MAPS}?resourceVersion={}&resourceVersionMatch=Exact", begun + 1)).await;
    assert_eq!(past.refusal(410).0, "Expired");
    // Events that were not sent yet are forgotten, so the watch ends with 410.
    for events in [&mut unread, &mut watch_config_maps(&server, begun).await] {
        let last = events.rest().await.pop().expect("an error at least");
        assert_eq!((text(&last, "/type"), text(&last, "/object/reason")), ("ERROR", "Expired"));
    }
    // Ten events of that size fit, and as many frames.
    let mut recent = watch_config_maps(&server, begun + 45).await;
    assert_eq!(recent.next_short().await, ("MODIFIED".into(), "a".into(), begun + 46));
}

async fn watch_config_maps(server: &FakeApiServer, after: u64) -> Events {
    let client = Client::over(server, Protocol::Http2).await;
    client.watch(&format!("{CONFIG_MAPS}?watch=true&resourceVersion={after}"), &[]).await
}
