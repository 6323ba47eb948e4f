//! The server as a library: many in one process, replicas and their clocks, seeds, faults, records, and shutdown.

use crate::support::*;
use fake_apiserver::{FakeApiServer, ManualClock, On, StartError};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

#[tokio::test]
async fn servers_share_nothing() {
    let (one, other) = (start().await, start().await);
    assert_ne!(one.url(), other.url());
    assert_ne!(one.admin_token(), other.admin_token());
    Client::new(&one).await.post(CONFIG_MAPS, &named("a")).await.expect(201);
    let mut client = Client::new(&other).await;
    assert_eq!(client.get(&format!("{CONFIG_MAPS}/a")).await.code, 404);
    client.token = one.admin_token().into();
    assert_eq!(client.get(CONFIG_MAPS).await.code, 401);
}

#[tokio::test]
async fn shutdown_ends_watches_and_frees_the_port() {
    for protocol in PROTOCOLS {
        let server = start().await;
        let address = address(&server);
        let mut events = Client::over(&server, protocol).await.watch(&format!("{CONFIG_MAPS}?watch=true"), &[]).await;
        let idle = Client::over(&server, protocol).await;
        soon(server.shutdown()).await;
        assert_eq!(events.rest().await, [] as [Value; 0]);
        drop(idle);
        TcpListener::bind(address).await.expect("the port is free");
    }
}

#[tokio::test]
async fn watches_can_be_cut_off_and_resumed() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    for protocol in PROTOCOLS {
        let revision = text(&client.get(CONFIG_MAPS).await.expect(200), "/metadata/resourceVersion").to_owned();
        let path = format!("{CONFIG_MAPS}?watch=true&resourceVersion={revision}");
        let watcher = Client::over(&server, protocol).await;
        let mut events = watcher.watch(&path, &[]).await;
        server.disconnect_watches();
        assert_eq!(events.rest().await, [] as [Value; 0]);
        let name = format!("after-the-cut-over-{protocol:?}").to_lowercase();
        client.post(CONFIG_MAPS, &named(&name)).await.expect(201);
        let mut resumed = Client::over(&server, protocol).await.watch(&path, &[]).await;
        assert_eq!(resumed.next_short().await.1, name);
    }
}

#[tokio::test]
async fn a_dropped_server_stops() {
    let server = start().await;
    let address = address(&server);
    let mut events = Client::new(&server).await.watch(&format!("{CONFIG_MAPS}?watch=true"), &[]).await;
    drop(server);
    assert_eq!(events.rest().await, [] as [Value; 0]);
    soon(async { while TcpStream::connect(address).await.is_ok() {} }).await;
}

#[tokio::test]
async fn replicas_share_objects_but_not_clocks() {
    let clock = ManualClock::new("2030-01-01T00:00:00Z".parse().expect("a time"));
    let builder = FakeApiServer::builder().clock(clock.clone());
    let server = start_with(builder.replicas(3).clock_offset(1, -30)).await;
    server.replica(2).set_clock_offset(3600);
    for (index, time) in ["2030-01-01T00:00:00Z", "2029-12-31T23:59:30Z", "2030-01-01T01:00:00Z"].iter().enumerate() {
        let mut client = Client::to_replica(&server, index, Protocol::Http1).await;
        let created = client.post(CONFIG_MAPS, &named(&format!("n{index}"))).await.expect(201);
        assert_eq!(text(&created, "/metadata/creationTimestamp"), *time);
        let list = client.get(CONFIG_MAPS).await.expect(200);
        assert_eq!(names(&list).len(), index + 1);
    }
    clock.advance(jiff::SignedDuration::from_secs(5));
    let created = Client::new(&server).await.post(CONFIG_MAPS, &named("later")).await.expect(201);
    assert_eq!(text(&created, "/metadata/creationTimestamp"), "2030-01-01T00:00:05Z");
}

/// Go tells an empty list from none where it asks who owns a field, but not where only the time of a manager would be new.
#[tokio::test]
async fn an_empty_list_instead_of_none_is_no_change_however_late_it_is_sent() {
    let clock = ManualClock::new("2030-01-01T00:00:00Z".parse().expect("a time"));
    let server = start_with(FakeApiServer::builder().clock(clock.clone())).await;
    let roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
    let role = json!({"metadata": {"name": "a"}, "rules": []});
    let mut client = Client::new(&server).await;
    let created = client.post(roles, &role).await.expect(201);
    assert_eq!(text(&created, "/metadata/managedFields/0/time"), "2030-01-01T00:00:00Z");
    clock.advance(jiff::SignedDuration::from_secs(5));
    for rules in [json!([]), json!(null), json!([])] {
        let role = json!({"metadata": {"name": "a"}, "rules": rules});
        assert_eq!(client.put(&format!("{roles}/a"), &role).await.expect(200), created);
    }
}

/// A clock with an offset beyond the range of times stands still, and requests are served.
#[tokio::test]
async fn clocks_end_where_time_does() {
    let server = start().await;
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    Client::new(&server).await.post(accounts, &named("builder")).await.expect(201);
    for offset in [i64::MAX, i64::MIN, 252_000_000_000, -400_000_000_000] {
        server.replica(0).set_clock_offset(offset);
        let mut client = Client::new(&server).await;
        let name = named(&format!("n{}", offset.unsigned_abs()));
        client.post(CONFIG_MAPS, &name).await.expect(201);
        client.get(&format!("{CONFIG_MAPS}?watch=true&timeoutSeconds=1")).await;
        client.get("/openapi/v2").await;
        let token = client.post(&format!("{accounts}/builder/token"), &json!({})).await;
        let pod = json!({"metadata": {"name": "web"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
        let pods = "/api/v1/namespaces/default/pods";
        client.post(pods, &pod).await.expect(201);
        client.delete(&format!("{pods}/web")).await.expect(200);
        client.delete(&format!("{pods}/web?gracePeriodSeconds=0")).await;
        client.token = text(&token.json(), "/status/token").to_owned();
        client.get(CONFIG_MAPS).await;
    }
}

#[tokio::test]
async fn a_seed_repeats_itself() {
    let mut runs = Vec::new();
    for seed in [7, 7, 8] {
        let clock = ManualClock::new("2030-01-01T00:00:00Z".parse().expect("a time"));
        let builder = FakeApiServer::builder().seed(seed).clock(clock);
        let server = start_with(builder).await;
        let mut client = Client::new(&server).await;
        let generated = json!({"metadata": {"generateName": "g-"}});
        let mut objects = vec![client.get("/api/v1/namespaces/default").await.expect(200)];
        for _ in 0..3 {
            objects.push(client.post(CONFIG_MAPS, &generated).await.expect(201));
        }
        runs.push((server.admin_token().to_string(), objects));
    }
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0].0, runs[2].0);
    for (one, other) in runs[0].1.iter().zip(&runs[2].1) {
        assert_ne!(one["metadata"]["uid"], other["metadata"]["uid"]);
    }
}

#[tokio::test]
async fn faults_strike_as_they_say() {
    let server = start_with(FakeApiServer::builder().record_requests(true)).await;
    let mut client = Client::new(&server).await;
    let refusal = server.faults().add(On::create("configmaps").status(503).retry_after(7).times(2));
    for _ in 0..2 {
        client.post(SECRETS, &json!({"metadata": {"generateName": "s"}})).await.expect(201);
        let answer = client.post(CONFIG_MAPS, &named("a")).await;
        assert_eq!((answer.refusal(503).0.as_str(), answer.header("retry-after")), ("ServiceUnavailable", "7"));
    }
    client.post(CONFIG_MAPS, &named("a")).await.expect(201);
    assert_eq!(server.faults().hits(refusal), 2);
    // All requests are recorded, whatever their outcome.
    let requests = server.requests();
    let creates: Vec<_> = requests.iter().filter(|request| request.resource == "configmaps").collect();
    assert_eq!(creates.iter().map(|request| request.code).collect::<Vec<_>>(), [503, 503, 201]);
    assert!(creates.iter().all(|request| request.body == Some(named("a"))));
    let delay = server.faults().add(On::any().delay(Duration::from_millis(1)));
    client.get(CONFIG_MAPS).await.expect(200);
    assert_eq!(server.faults().hits(delay), 1);
    server.faults().remove(delay);
    // Held until the fault is removed.
    let hold = server.faults().add(On::any().delay(Duration::MAX));
    let release = async {
        server.faults().wait_for_hits(hold, 1).await;
        server.faults().remove(hold);
        server.faults().wait_for_hits(hold, 2).await;
    };
    let (answer, ()) = tokio::join!(client.get(CONFIG_MAPS), release);
    answer.expect(200);
    let status = server.faults().add(On::update("namespaces/status").status(500));
    let mut namespace = client.get("/api/v1/namespaces/default").await.expect(200);
    namespace = client.put("/api/v1/namespaces/default", &namespace).await.expect(200);
    assert_eq!(client.put("/api/v1/namespaces/default/status", &namespace).await.code, 500);
    assert_eq!(server.faults().hits(status), 1);
    server.faults().clear();
    client.put("/api/v1/namespaces/default/status", &namespace).await.expect(200);
}

#[tokio::test]
async fn what_cannot_be_is_told_at_the_start() {
    async fn error(builder: fake_apiserver::Builder) -> StartError {
        builder.start().await.expect_err("the server cannot start")
    }
    let builder = FakeApiServer::builder;
    let key = include_bytes!("../../../fixtures/keys/service-account.key");
    assert!(matches!(error(builder().replicas(0)).await, StartError::NoReplicas));
    assert!(matches!(error(builder().replicas(101)).await, StartError::TooManyReplicas { replicas: 101 }));
    for seconds in [i64::MAX, i64::MIN] {
        let clock = error(builder().replicas(2).clock_offset(1, seconds)).await;
        assert!(matches!(clock, StartError::ClockOffset { replica: 1, .. }), "{clock}");
    }
    let beyond = error(builder().replicas(2).clock_offset(2, 1)).await;
    assert!(matches!(beyond, StartError::NoSuchReplica { replica: 2, replicas: 2 }));
    let ports = error(builder().replicas(2).secure_port(u16::MAX)).await;
    assert!(matches!(ports, StartError::Ports { first: u16::MAX, replicas: 2 } | StartError::Listen { .. }));
    let keys = builder().add_service_account_key_pem(key).add_service_account_key_pem(b"none").clock_offset(9, 1);
    assert!(matches!(error(keys).await, StartError::ServiceAccountKey { index: 1, .. }));
    let signing = error(builder().service_account_signing_key_pem(b"none").client_ca_pem("none")).await;
    assert!(matches!(signing, StartError::ServiceAccountSigningKey(_)));
    assert!(matches!(error(builder().client_ca_pem("none")).await, StartError::ClientAuthorities(_)));
    assert!(matches!(error(builder().add_token_file("f", "t,u\n")).await, StartError::TokenFile(_)));
}

#[tokio::test]
async fn debug_shows_addresses_but_no_secrets() {
    let builder = FakeApiServer::builder().insecure().add_static_token("hidden", "u", &[]);
    let described = format!("{builder:?}");
    let server = builder.start().await.expect("a server starts");
    let shown = format!("{server:?} {:?} {:?}", server.request_log(), server.faults());
    assert!(shown.contains(&server.url()), "{shown}");
    for secret in ["hidden", server.admin_token()] {
        assert!(!described.contains(secret) && !shown.contains(secret), "{described} {shown}");
    }
}

#[tokio::test]
async fn requests_are_recorded() {
    let server = start_with(FakeApiServer::builder().record_requests(true)).await;
    let mut client = Client::new(&server).await;
    let mut count = server.request_log().count();
    client.ask("GET", &format!("{CONFIG_MAPS}/a?x=y"), &[("user-agent", "me"), ("audit-id", "id-1")], "").await;
    client.token = "bad".into();
    client.get("/version").await;
    soon(count.wait_for(|count| *count == 2)).await.expect("a log that is still there");
    let [get, version] = &*server.requests() else { panic!("two requests") };
    assert_eq!((get.verb.as_str(), get.resource.as_str(), get.name.as_str()), ("get", "configmaps", "a"));
    assert_eq!((get.namespace.as_str(), get.user_agent.as_str(), get.audit_id.as_str()), ("default", "me", "id-1"));
    assert_eq!((get.code, get.uri.as_str()), (404, "/api/v1/namespaces/default/configmaps/a?x=y"));
    assert_eq!(get.user.as_ref().expect("a user").name, "admin");
    assert_eq!((version.code, version.user.is_none(), version.resource.as_str()), (401, true, ""));
    assert!(version.authentication_error.as_ref().is_some_and(|error| error.contains("invalid bearer token")));
}

/// Go's decoder of `audit.k8s.io/v1` refuses a time without exactly six decimals.
#[tokio::test]
async fn times_of_the_audit_log_are_micro_times() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("audit.log");
    let clock = ManualClock::new("2030-01-01T00:00:00Z".parse().expect("a time"));
    let builder = FakeApiServer::builder().audit_log(&path).clock(clock.clone());
    let server = start_with(builder).await;
    let mut client = Client::new(&server).await;
    for (time, expected) in [
        ("2030-01-01T00:00:00Z", "2030-01-01T00:00:00.000000Z"),
        ("2030-01-01T00:00:00.5Z", "2030-01-01T00:00:00.500000Z"),
        ("2030-01-01T00:00:00.123456789Z", "2030-01-01T00:00:00.123456Z"),
    ] {
        clock.set(time.parse().expect("a time"));
        client.get(CONFIG_MAPS).await.expect(200);
        let log = std::fs::read_to_string(&path).expect("a log");
        let event: Value = serde_json::from_str(log.lines().last().expect("an event")).expect("JSON");
        for field in ["requestReceivedTimestamp", "stageTimestamp"] {
            assert_eq!(event[field], expected);
        }
    }
}

#[tokio::test]
async fn kube_connects_by_kubeconfig() {
    for builder in [FakeApiServer::builder(), FakeApiServer::builder().insecure()] {
        let server = builder.start().await.expect("a server starts");
        let kubeconfig = Kubeconfig::from_yaml(&server.kubeconfig()).expect("a kubeconfig");
        let options = KubeConfigOptions::default();
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await.expect("a configuration");
        let client = kube::Client::try_from(config).expect("a client");
        let config_maps: Api<ConfigMap> = Api::namespaced(client, "default");
        let wanted = serde_json::from_value(with_data("a", "k", "v")).expect("a ConfigMap");
        let created = config_maps.create(&Default::default(), &wanted).await.expect("a new object");
        assert_eq!(config_maps.get("a").await.expect("the object"), created);
        let missing = config_maps.get_opt("b").await.expect("an answer");
        assert!(missing.is_none());
    }
}

#[cfg(feature = "kube")]
#[tokio::test]
async fn kube_clients_are_ready_made() {
    let server = FakeApiServer::builder().replicas(2).start().await.expect("a server starts");
    let config_maps: Api<ConfigMap> = Api::default_namespaced(server.client());
    assert_eq!(config_maps.list(&Default::default()).await.expect("a list").items, []);
    let other = kube::Client::try_from(server.kube_config_for(1, server.admin_token())).expect("a client");
    assert_eq!(other.apiserver_version().await.expect("a version").minor, "37");
}

#[tokio::test]
async fn a_deleted_namespace_goes_when_nothing_holds_it() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    client.post("/api/v1/namespaces", &named("n")).await.expect(201);
    let (config_maps, pods) = ("/api/v1/namespaces/n/configmaps", "/api/v1/namespaces/n/pods");
    let mut events = Client::new(&server).await.watch("/api/v1/namespaces?watch=true&resourceVersion=0", &[]).await;
    client.post(config_maps, &named("free")).await.expect(201);
    client.post(config_maps, &json!({"metadata": {"name": "held", "finalizers": ["a.b/c"]}})).await.expect(201);
    let spec = json!({"nodeName": "x", "containers": [{"name": "c", "image": "i"}]});
    client.post(pods, &json!({"metadata": {"name": "p"}, "spec": spec})).await.expect(201);
    let deleted = client.delete("/api/v1/namespaces/n").await.expect(200);
    assert_eq!(text(&deleted, "/status/phase"), "Terminating");
    let (_, why) = client.post(config_maps, &named("late")).await.refusal(403);
    assert!(why.ends_with("because it is being terminated"), "{why}");
    // The pods go first; then objects without finalizers are removed, and the others are marked.
    assert_eq!(names(&client.get(config_maps).await.expect(200)), ["free", "held"]);
    client.delete(&format!("{pods}/p?gracePeriodSeconds=0")).await.expect(200);
    let left = client.get(config_maps).await.expect(200);
    assert_eq!(names(&left), ["held"]);
    assert_ne!(text(&left["items"][0], "/metadata/deletionTimestamp"), "");
    client.get("/api/v1/namespaces/n").await.expect(200);
    client
        .patch(MERGE_PATCH, &format!("{config_maps}/held"), &json!({"metadata": {"finalizers": null}}))
        .await
        .expect(200);
    assert_eq!(client.get("/api/v1/namespaces/n").await.code, 404);
    let mut kinds = Vec::new();
    while kinds.last().is_none_or(|kind| kind != "DELETED") {
        let (kind, name, _) = events.next_short().await;
        kinds.extend((name == "n").then_some(kind));
    }
    // Marked, then three updates of its conditions.
    assert_eq!(kinds, ["ADDED", "MODIFIED", "MODIFIED", "MODIFIED", "MODIFIED", "DELETED"]);
    // The name can be used again.
    client.post("/api/v1/namespaces", &named("n")).await.expect(201);
    assert_eq!(names(&client.get(config_maps).await.expect(200)), [] as [&str; 0]);
}

#[tokio::test]
async fn a_namespace_is_left_terminating_without_its_controller() {
    let server = start_with(FakeApiServer::builder().namespace_controller(false)).await;
    let mut client = Client::new(&server).await;
    client.post("/api/v1/namespaces", &named("n")).await.expect(201);
    client.delete("/api/v1/namespaces/n").await.expect(200);
    let left = client.delete("/api/v1/namespaces/n").await.expect(200);
    assert_eq!(left, client.get("/api/v1/namespaces/n").await.expect(200));
    let finalized = json!({"metadata": {"name": "n"}, "spec": {"finalizers": []}});
    client.put("/api/v1/namespaces/n/finalize", &finalized).await.expect(200);
    assert_eq!(client.get("/api/v1/namespaces/n").await.code, 404);
    for name in ["default", "kube-system", "kube-public"] {
        assert_eq!(client.delete(&format!("/api/v1/namespaces/{name}")).await.code, 403);
    }
}
