//! Resources that are added and removed while a cluster runs.

use crate::support::*;
use fake_apiserver::FakeApiServer;
use fake_apiserver::internals::schema::{OwnedType, Types};
use fake_apiserver::internals::store::{ResourceId, Scope};
use fake_apiserver::internals::{Description, VersionDescription, add_resource, remove_resource, store};
use serde_json::{Value, json};
use std::sync::{Arc, Weak};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const GROUP: &str = "/apis/example.com";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";
const ALL_WIDGETS: &str = "/apis/example.com/v1/widgets";
const AGGREGATED: (&str, &str) = ("accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
const TABLE: (&str, &str) = ("accept", "application/json;as=Table;v=v1;g=meta.k8s.io");

/// The types of a widget, in an arena of their own. Unknown fields are kept.
const TYPES: &str = "\
kind example.com/v1 Widget example/v1.Widget
struct example/v1.Widget open
  APIVersion - apiVersion,omitempty string
  Kind - kind,omitempty string
  Metadata - metadata,omitempty meta/v1.ObjectMeta
  Spec - spec,omitempty example/v1.WidgetSpec
struct example/v1.WidgetSpec
  Size - size,omitempty int64
leaf meta/v1.Time time
struct meta/v1.ObjectMeta
  CreationTimestamp - creationTimestamp,omitempty,omitzero meta/v1.Time
  DeletionGracePeriodSeconds - deletionGracePeriodSeconds,omitempty *int64
  DeletionTimestamp - deletionTimestamp,omitempty *meta/v1.Time
  Finalizers - finalizers,omitempty []string
  Generation - generation,omitempty int64
  Name - name,omitempty string
  Namespace - namespace,omitempty string
  ResourceVersion - resourceVersion,omitempty string
  UID - uid,omitempty string
";

/// The description of widgets, and a weak pointer to their types, to see when these are dropped.
fn widgets() -> (Description, Weak<Types>) {
    let types: Arc<Types> = Arc::new(TYPES.parse().expect("types"));
    let ty: OwnedType = types.owned("example.com/v1", "Widget").expect("the kind is there");
    let verbs = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
    let description = Description {
        group: "example.com".into(),
        resource: "widgets".into(),
        singular: "widget".into(),
        kind: "Widget".into(),
        namespaced: true,
        list_kind: "WidgetList".into(),
        short_names: Vec::new(),
        categories: Vec::new(),
        terminating: false,
        versions: vec![VersionDescription::open("v1", verbs.map(Into::into).into(), ty)],
    };
    (description, Arc::downgrade(&types))
}

fn add_widgets(server: &FakeApiServer) -> ResourceId {
    add_resource(server, widgets().0).expect("there are none yet")
}

/// The discovery documents of a server: status code, tag, body.
async fn documents(client: &mut Client) -> Vec<(u16, String, String)> {
    let mut documents = Vec::new();
    for (path, headers) in [
        ("/apis", &[AGGREGATED][..]),
        ("/apis", &[]),
        (GROUP, &[]),
        ("/apis/example.com/v1", &[]),
        ("/openapi/v3", &[]),
        ("/openapi/v3/apis/example.com/v1", &[]),
        ("/", &[]),
    ] {
        let answer = client.ask("GET", path, headers, "").await;
        documents.push((answer.code, answer.header("etag").to_string(), answer.text().to_string()));
    }
    documents
}

fn left(server: &FakeApiServer, id: ResourceId) -> usize {
    store(server).snapshot().range(&Scope::all(id), "").count()
}

fn widget(name: &str, size: u8) -> Value {
    json!({"metadata": {"name": name}, "spec": {"size": size}})
}

#[tokio::test]
async fn a_resource_is_served_by_one_cluster_of_two() {
    let (server, other) = (start().await, start().await);
    let (mut client, mut stranger) = (Client::new(&server).await, Client::new(&other).await);
    let before = documents(&mut client).await;
    assert_eq!(before, documents(&mut stranger).await);
    assert_eq!(client.get(WIDGETS).await.code, 404);
    let id = add_widgets(&server);

    let during = documents(&mut client).await;
    for (before, during) in before.iter().zip(&during) {
        assert_ne!(before, during);
        assert!(during.0 == 200 && during.2.contains("example.com"), "{during:?}");
    }
    assert!(during[0].2.contains(r#""resource":"widgets","responseKind":{"group":"","version":"","kind":"Widget"}"#));
    // As the real server's for a custom resource.
    assert_eq!(
        during[3].2.trim_end(),
        r#"{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"example.com/v1","resources":[{"name":"widgets","singularName":"widget","namespaced":true,"kind":"Widget","verbs":["delete","deletecollection","get","list","patch","create","update","watch"],"storageVersionHash":"gIwvi5rymmg="}]}"#
    );
    assert_ne!(before[0].1, during[0].1, "the tag of the aggregated document");
    assert_eq!(documents(&mut stranger).await, before);

    let sent = json!({"metadata": {"name": "a"}, "spec": {"size": 1}, "extra": {"z": 0, "a": null}, "zones": []});
    let answer = client.post(WIDGETS, &sent).await;
    let created = answer.expect(201);
    let [time, revision, uid] =
        ["creationTimestamp", "resourceVersion", "uid"].map(|field| &created["metadata"][field]);
    // With the order of fields of the real server's custom resources.
    let object = format!(
        r#"{{"apiVersion":"example.com/v1","extra":{{"a":null,"z":0}},"kind":"Widget","metadata":{{"creationTimestamp":{time},"generation":1,"name":"a","namespace":"default","resourceVersion":{revision},"uid":{uid}}},"spec":{{"size":1}},"zones":[]}}"#
    );
    assert_eq!(answer.text().trim_end(), object);
    let list = client.get(WIDGETS).await;
    assert!(list.text().ends_with(&format!(r#""items":[{object}]}}{}"#, "\n")), "{}", list.text());
    let path = format!("{WIDGETS}/a");
    let updated = client.patch(MERGE_PATCH, &path, &json!({"spec": {"size": 2}})).await.expect(200);
    assert_eq!((&updated["metadata"]["generation"], &updated["spec"]), (&json!(2), &json!({"size": 2})));
    assert_eq!(client.get(&path).await.expect(200), updated);
    assert_eq!(client.post(WIDGETS, &widget("A", 1)).await.refusal(422).0, "Invalid");
    let refusal = client.post(WIDGETS, &json!({"metadata": {"name": "b"}, "spec": {"size": "large"}})).await;
    assert_eq!(refusal.refusal(400).0, "BadRequest");
    let list = client.get(ALL_WIDGETS).await.expect(200);
    assert_eq!((text(&list, "/kind"), names(&list)), ("WidgetList", vec!["a"]));
    let table = client.ask("GET", WIDGETS, &[TABLE], "").await.expect(200);
    let columns = table["columnDefinitions"].as_array().expect("columns").iter().map(|column| text(column, "/name"));
    assert_eq!(columns.collect::<Vec<_>>(), ["Name", "Age"]);
    let protobuf = client.ask("GET", WIDGETS, &[("accept", PROTOBUF)], "").await;
    assert_eq!(protobuf.refusal(406).0, "NotAcceptable");
    let metadata = format!("{PROTOBUF};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io");
    let metadata = client.ask("GET", WIDGETS, &[("accept", &metadata)], "").await;
    assert_eq!(metadata.header("content-type"), PROTOBUF);
    assert_eq!(names(&metadata.expect(200)), ["a"]);
    for method in ["GET", "POST", "DELETE"] {
        assert_eq!(stranger.ask(method, WIDGETS, &[JSON], widget("a", 1).to_string()).await.code, 404);
    }
    assert_eq!(add_resource(&server, widgets().0), None, "there are widgets already");

    remove_resource(&server, id).await;
    assert_eq!(documents(&mut client).await, before);
    assert_eq!(client.get(&path).await.text(), "404 page not found\n");
    assert_eq!(left(&server, id), 0);
}

#[tokio::test]
async fn watches_end_with_the_resource() {
    let server = start().await;
    let id = add_widgets(&server);
    let mut client = Client::new(&server).await;
    let begin = revision(&client.post(WIDGETS, &widget("a", 1)).await.expect(201));
    let mut watches = Vec::new();
    for protocol in PROTOCOLS {
        for path in [ALL_WIDGETS.to_string(), WIDGETS.to_string(), format!("{WIDGETS}?fieldSelector=metadata.name%3Da")]
        {
            let separator = if path.contains('?') { '&' } else { '?' };
            let path = format!("{path}{separator}watch=true&resourceVersion={begin}");
            watches.push(Client::over(&server, protocol).await.watch(&path, &[]).await);
        }
    }
    let quiet = format!("{WIDGETS}?watch=true&fieldSelector=metadata.name%3Dnone");
    let mut quiet = Client::new(&server).await.watch(&quiet, &[]).await;
    let path = format!("{CONFIG_MAPS}?watch=true&fieldSelector=metadata.name%3Dx");
    let mut foreign = Client::new(&server).await.watch(&path, &[]).await;

    remove_resource(&server, id).await;
    for mut events in watches {
        let rest = events.rest().await;
        let [event] = &rest[..] else { panic!("{rest:?}") };
        let object = &event["object"];
        assert_eq!((text(event, "/type"), text(object, "/metadata/name")), ("DELETED", "a"));
        assert_eq!(revision(object), begin + 1);
    }
    assert_eq!(quiet.rest().await, [] as [Value; 0]);
    client.post(CONFIG_MAPS, &named("x")).await.expect(201);
    assert_eq!(foreign.next_short().await.1, "x");
}

#[tokio::test]
async fn a_resource_that_is_added_again_is_another() {
    let server = start().await;
    let first = add_widgets(&server);
    let mut client = Client::new(&server).await;
    let old = client.post(WIDGETS, &widget("a", 1)).await.expect(201);
    client.post(WIDGETS, &widget("b", 1)).await.expect(201);
    remove_resource(&server, first).await;
    let second = add_widgets(&server);
    assert_ne!(first, second);

    let list = client.get(WIDGETS).await.expect(200);
    assert_eq!(names(&list), [""; 0]);
    // Both were created, and both were removed.
    assert!(revision(&list) >= revision(&old) + 3, "{list}");
    // The two resources have separate histories, also at revisions before the second one.
    let past = format!("{WIDGETS}?watch=true&resourceVersion={}", revision(&old));
    let mut events = Client::new(&server).await.watch(&past, &[]).await;
    let exact = format!("{WIDGETS}?resourceVersionMatch=Exact&resourceVersion={}", revision(&old));
    assert_eq!(names(&client.get(&exact).await.expect(200)), [""; 0]);
    let new = client.post(WIDGETS, &widget("a", 2)).await.expect(201);
    assert_ne!(text(&old, "/metadata/uid"), text(&new, "/metadata/uid"));
    assert_eq!(events.next_short().await, ("ADDED".into(), "a".into(), revision(&new)));
    assert_eq!(names(&client.get(WIDGETS).await.expect(200)), ["a"]);
    assert_eq!((left(&server, first), left(&server, second)), (0, 1));
}

#[tokio::test]
async fn what_a_request_under_way_would_create_is_refused_and_then_the_types_are_gone() {
    let server = start().await;
    let (description, types) = widgets();
    let id = add_resource(&server, description).expect("there are none yet");
    let mut client = Client::new(&server).await;
    client.post(WIDGETS, &widget("a", 1)).await.expect(201);
    let mut events = Client::new(&server).await.watch(&format!("{WIDGETS}?watch=true"), &[]).await;
    assert_eq!(events.next_short().await.1, "a");

    // The server sends `100 Continue` once it has found the resource.
    let body = widget("b", 1).to_string();
    let head = format!(
        "POST {WIDGETS} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n",
        server.admin_token(),
        body.len()
    );
    let mut stream = BufReader::new(TcpStream::connect(address(&server)).await.expect("the server listens"));
    stream.write_all(head.as_bytes()).await.expect("a head");
    let mut line = String::new();
    soon(stream.read_line(&mut line)).await.expect("an interim answer");
    assert_eq!(line, "HTTP/1.1 100 Continue\r\n");
    remove_resource(&server, id).await;
    assert_eq!(events.rest().await.len(), 1);
    assert!(types.upgrade().is_some(), "the request that is under way needs them");

    stream.write_all(body.as_bytes()).await.expect("a body");
    let mut answer = String::new();
    soon(stream.read_to_string(&mut answer)).await.expect("an answer");
    assert!(answer.contains("HTTP/1.1 404 Not Found"), "{answer}");
    assert!(answer.contains(r#""message":"the server could not find the requested resource","reason":"NotFound""#));
    assert_eq!(left(&server, id), 0);
    soon(async {
        while types.upgrade().is_some() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(client.get(WIDGETS).await.code, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_left_behind_by_writers_that_race_with_the_removal() {
    let server = start().await;
    for _ in 0..5 {
        let id = add_widgets(&server);
        let mut writers = JoinSet::new();
        for writer in 0..4 {
            let mut client = Client::over(&server, PROTOCOLS[writer % 2]).await;
            writers.spawn(async move {
                let mut number = 0;
                loop {
                    let answer = client.post(WIDGETS, &widget(&format!("w{writer}-{number}"), 1)).await;
                    match answer.code {
                        201 => number += 1,
                        404 => break number,
                        _ => panic!("{}", answer.text()),
                    }
                }
            });
        }
        let mut events = Client::new(&server).await.watch(&format!("{WIDGETS}?watch=true"), &[]).await;
        for _ in 0..50 {
            events.next().await.expect("they write on");
        }
        remove_resource(&server, id).await;
        let created: usize = soon(writers.join_all()).await.into_iter().sum();
        assert!(created >= 50 && left(&server, id) == 0);
        let rest = events.rest().await;
        let of = |kind: &str| rest.iter().filter(|event| text(event, "/type") == kind).count();
        assert_eq!((of("ADDED") + 50, of("DELETED")), (created, created));
    }
}

#[tokio::test]
async fn a_namespace_waits_for_objects_of_an_added_resource() {
    let server = start().await;
    let id = add_widgets(&server);
    let mut client = Client::new(&server).await;
    client.post("/api/v1/namespaces", &named("n")).await.expect(201);
    let held = json!({"metadata": {"name": "a", "finalizers": ["example.com/hold"]}});
    client.post("/apis/example.com/v1/namespaces/n/widgets", &held).await.expect(201);
    client.delete("/api/v1/namespaces/n").await.expect(200);
    let namespace = client.get("/api/v1/namespaces/n").await.expect(200);
    assert!(namespace.to_string().contains("widgets.example.com has 1 resource instances"), "{namespace}");
    remove_resource(&server, id).await;
    assert_eq!(client.get("/api/v1/namespaces/n").await.code, 404);
}

#[tokio::test]
async fn aggregated_discovery_names_group_and_version_of_defined_kinds() {
    let server = start().await;
    let mut client = Client::new(&server).await;
    let subresources =
        json!({"status": {}, "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}});
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let version =
        json!({"name": "v1", "served": true, "storage": true, "schema": schema, "subresources": subresources});
    let definition = json!({
        "metadata": {"name": "gadgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "gadgets", "kind": "Gadget"}, "versions": [version]},
    });
    client.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition).await.expect(201);
    let answer = client.ask("GET", "/apis", &[AGGREGATED], "").await;
    // As kube-apiserver 1.37 does; `cargo xtask crds` compares all of it.
    let gadget = r#""responseKind":{"group":"example.com","version":"v1","kind":"Gadget"}"#;
    for expected in [
        format!(r#"{{"resource":"gadgets",{gadget},"#),
        format!(r#""subresources":[{{"subresource":"status",{gadget},"verbs":["get","patch","update"]}},"#),
        r#"{"subresource":"scale","responseKind":{"group":"autoscaling","version":"v1","kind":"Scale"},"#.to_owned(),
    ] {
        assert!(answer.text().contains(&expected), "{expected}");
    }
}
