//! The life of the loops: pauses, steps, faults, the clock, and the end.

use super::*;
use crate::support::text;
use control::{Obeys, Order, Pace};
use fake_apiserver::{ControllersError, ManualClock, On, StartError};

const COLLECTOR: &str = "system:serviceaccount:kube-system:generic-garbage-collector";

async fn obeyed(server: &FakeApiServer, order: Order) -> Value {
    let answer = soon(server.obey(order)).await.expect("it is obeyed");
    serde_json::to_value(answer).expect("an answer is JSON")
}

#[tokio::test]
async fn a_failed_key_is_tried_again_by_the_servers_clock() {
    let clock = ManualClock::new("2030-01-01T00:00:00Z".parse().unwrap());
    let builder = FakeApiServer::builder().controllers([Controller::GarbageCollector]).clock(clock);
    let server = builder.record_requests(true).insecure().start().await.unwrap();
    let mut client = Client::new(&server).await;
    let owner = create(&mut client, CONFIG_MAPS, &owned("a", &[])).await;
    create(&mut client, CONFIG_MAPS, &owned("b", &[reference(&owner, false)])).await;
    server.faults().add(On::delete("configmaps").user(COLLECTOR).status(500).times(3));
    delete(&mut client, &format!("{CONFIG_MAPS}/a"), "Background").await;
    let settled = obeyed(&server, Order::Settle { timeout_seconds: 60 }).await;
    assert_eq!(settled["settled"], json!(true));
    let failing = text(&settled, "/failing/0");
    assert!(failing.starts_with("garbage-collector-controller delete configmaps default/b: "), "{settled}");
    assert_eq!(text(&settled, "/next"), "2030-01-01T00:00:00.005Z");
    assert_eq!(asked(&server).len(), 1);
    // Later attempts are further and further apart.
    for attempts in [2, 3, 4] {
        obeyed(&server, Order::AdvanceClock { seconds: 1 }).await;
        assert_eq!(asked(&server).len(), attempts);
    }
    assert_eq!(left(&mut client).await, Vec::<String>::new());
    let settled = obeyed(&server, Order::Settle { timeout_seconds: 60 }).await;
    assert_eq!((&settled["failing"], &settled["next"]), (&Value::Null, &Value::Null));
    server.shutdown().await;
}

#[tokio::test]
async fn a_paused_loop_does_what_it_is_told_to() {
    let server = collecting().await;
    let mut client = Client::new(&server).await;
    let name = "garbage-collector-controller".to_owned();
    let pace = |state| Order::Controller { name: "garbagecollector".to_owned(), state };
    obeyed(&server, pace(Pace::Paused)).await;
    let owner = create(&mut client, CONFIG_MAPS, &owned("a", &[])).await;
    for dependent in ["b", "c", "d"] {
        create(&mut client, CONFIG_MAPS, &owned(dependent, &[reference(&owner, false)])).await;
    }
    delete(&mut client, &format!("{CONFIG_MAPS}/a"), "Background").await;
    quiet(&server).await;
    assert_eq!(left(&mut client).await, ["b", "c", "d"]);
    let stepped = obeyed(&server, Order::Step { name, count: 2 }).await;
    let keys = ["delete configmaps default/b", "delete configmaps default/c"];
    let requests = ["b", "c"].map(|name| format!("DELETE {CONFIG_MAPS}/{name} 200"));
    assert_eq!(stepped, json!({"keys": keys, "requests": requests}));
    assert_eq!(left(&mut client).await, ["d"]);
    obeyed(&server, pace(Pace::Running)).await;
    quiet(&server).await;
    assert_eq!(left(&mut client).await, Vec::<String>::new());
    let refused = server.controllers().step(Controller::GarbageCollector).await;
    assert!(matches!(refused, Err(ControllersError::NotPaused(Controller::GarbageCollector))), "{refused:?}");
    server.shutdown().await;
}

#[tokio::test]
async fn nobody_else_has_the_users_of_loops() {
    let server = collecting().await;
    let mut client = Client::new(&server).await;
    client.token = COLLECTOR.to_owned();
    client.get(CONFIG_MAPS).await.refusal(401);
    server.shutdown().await;
}

#[tokio::test]
async fn history_that_is_forgotten_is_made_up_for() {
    let builder = FakeApiServer::builder().controllers([Controller::GarbageCollector]).history(1);
    let server = builder.record_requests(true).insecure().start().await.unwrap();
    let mut client = Client::new(&server).await;
    let controllers = server.controllers();
    let owner = create(&mut client, CONFIG_MAPS, &owned("a", &[])).await;
    for number in 0..100 {
        create(&mut client, CONFIG_MAPS, &owned(&format!("c-{number}"), &[reference(&owner, false)])).await;
    }
    delete(&mut client, &format!("{CONFIG_MAPS}/a"), "Background").await;
    soon(controllers.quiet()).await.unwrap();
    assert_eq!(left(&mut client).await, Vec::<String>::new());
    server.shutdown().await;
}

#[tokio::test]
async fn a_controller_that_is_not_built_fails_the_start() {
    let refused = FakeApiServer::builder().controllers([Controller::SeLinuxWarning]).start().await;
    assert!(matches!(&refused, Err(StartError::ControllerNotBuilt(Controller::SeLinuxWarning))), "{refused:?}");
    let message = refused.err().map(|error| error.to_string());
    let expected = r#"the controller "selinux-warning-controller" is one of kube-controller-manager, but is not built into this server"#;
    assert_eq!(message.as_deref(), Some(expected));
}
