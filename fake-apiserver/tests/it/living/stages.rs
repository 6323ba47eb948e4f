//! Pods and nodes that go through stages.

use super::{Client, create, pass, quiet, told};
use crate::support::{MERGE_PATCH, text};
use fake_apiserver::{FakeApiServer, ManualClock, Stages};
use serde_json::{Value, json};

const PODS: &str = "/api/v1/namespaces/default/pods";
const STAGES: &str = "/apis/kwok.x-k8s.io/v1alpha1/stages";
const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Nodes get ready after 3 s, and say every 20 s that they are. Pods warm up for 2 s, by their annotation for longer; get a finalizer; are ready; and
/// once they are deleted lose it, and go.
const LIFE: &str = r#"
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: node-begins}
spec:
  resourceRef: {kind: Node}
  selector:
    matchExpressions:
    - {key: '.status.conditions.[] | select(.type == "Ready") | .status', operator: NotIn, values: ["True"]}
  delay: {durationMilliseconds: 3000}
  next:
    statusTemplate: |
      {{ $now := Now }}
      phase: Running
      conditions:
      {{ range NodeConditions }}
      - {type: {{ .type }}, status: {{ .status | Quote }}, lastTransitionTime: {{ $now | Quote }}}
      {{ end }}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: node-goes-on}
spec:
  resourceRef: {kind: Node}
  selector:
    matchExpressions: [{key: .status.phase, operator: In, values: [Running]}]
  delay: {durationMilliseconds: 20000, jitterDurationMilliseconds: 25000}
  next:
    patches:
    - subresource: status
      root: status
      template: |
        conditions: [{type: Ready, lastHeartbeatTime: {{ Now | Quote }}}]
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-warms-up}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: .status.podIP, operator: DoesNotExist}
  next:
    event: {type: Normal, reason: Warming, message: It gets warm}
    finalizers: {add: [{value: example.com/warm}]}
    statusTemplate: |
      podIP: {{ PodIPWith .spec.nodeName (or .spec.hostNetwork false) .metadata.uid .metadata.name .metadata.namespace | Quote }}
      hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-is-ready}
spec:
  resourceRef: {kind: Pod}
  selector:
    matchLabels: {app: web}
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: .status.podIP, operator: Exists}
    - {key: .status.phase, operator: In, values: [Pending]}
  delay:
    durationMilliseconds: 2000
    durationFrom: {expressionFrom: '.metadata.annotations["example.com/delay"]'}
  next:
    statusTemplate: |
      {{ $now := Now }}
      phase: Running
      containerStatuses:
      {{ range $i, $c := .spec.containers }}
      - name: {{ $c.name }}
        image: {{ $c.image | Quote }}
        ready: true
        restartCount: {{ $i }}
        state: {running: {startedAt: {{ $now | Quote }}}}
      {{ end }}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-goes}
spec:
  resourceRef: {kind: Pod}
  selector:
    matchExpressions: [{key: .metadata.deletionTimestamp, operator: Exists}]
  steps:
  - finalizers: {remove: [{value: example.com/warm}]}
  - delete: true
"#;

async fn cluster(stages: &str) -> (FakeApiServer, Client) {
    let clock = ManualClock::new("2030-01-01T00:00:00Z".parse().unwrap());
    let builder = FakeApiServer::builder().like_a_cluster().clock(clock).pods("pod/ruled: ready".parse().unwrap());
    let builder = builder.stages(stages.parse().expect("stages"));
    let server = builder.insecure().start().await.expect("a server starts");
    let client = Client::new(&server).await;
    quiet(&server).await;
    (server, client)
}

async fn add_pod(client: &mut Client, name: &str, annotations: Value) {
    let metadata = json!({"name": name, "labels": {"app": "web"}, "annotations": annotations});
    let pod = json!({"metadata": metadata, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    create(client, PODS, &pod).await;
}

async fn pod(client: &mut Client, name: &str) -> Value {
    client.get(&format!("{PODS}/{name}")).await.expect(200)
}

#[tokio::test]
async fn nodes_and_pods_go_through_stages() {
    let (server, mut client) = cluster(LIFE).await;
    let node = client.get("/api/v1/nodes/node-1").await.expect(200);
    assert_eq!(node["status"]["conditions"], Value::Null);
    pass(&server, 3).await;
    let node = client.get("/api/v1/nodes/node-1").await.expect(200);
    let ready = &node["status"]["conditions"][0];
    assert_eq!((&ready["type"], &ready["lastTransitionTime"]), (&json!("Ready"), &json!("2030-01-01T00:00:03Z")));
    add_pod(&mut client, "web", json!({})).await;
    add_pod(&mut client, "late", json!({"example.com/delay": "1m"})).await;
    quiet(&server).await;
    let web = pod(&mut client, "web").await;
    assert_eq!((&web["status"]["phase"], &web["status"]["hostIP"]), (&json!("Pending"), &json!("192.168.0.2")));
    assert_eq!(web["metadata"]["finalizers"], json!(["example.com/warm"]));
    assert!(text(&web, "/status/podIP").starts_with("10.244."), "{web}");
    pass(&server, 2).await;
    let web = pod(&mut client, "web").await;
    let expected = json!([{
        "name": "c", "image": "i", "imageID": "", "ready": true, "restartCount": 0, "lastState": {},
        "state": {"running": {"startedAt": "2030-01-01T00:00:05Z"}},
    }]);
    assert_eq!((&web["status"]["phase"], &web["status"]["containerStatuses"]), (&json!("Running"), &expected));
    assert_eq!(pod(&mut client, "late").await["status"]["phase"], "Pending");
    pass(&server, 58).await;
    assert_eq!(pod(&mut client, "late").await["status"]["phase"], "Running");
    let node = client.get("/api/v1/nodes/node-1").await.expect(200);
    let beat = text(&node, "/status/conditions/0/lastHeartbeatTime");
    assert!(("2030-01-01T00:00:38Z"..="2030-01-01T00:01:03Z").contains(&beat), "{beat}");
    client.delete(&format!("{PODS}/web")).await.expect(200);
    quiet(&server).await;
    client.get(&format!("{PODS}/web")).await.refusal(404);
    assert!(told(&mut client, "Pod").await.contains(&"Warming: It gets warm".to_owned()));
    server.shutdown().await;
}

#[tokio::test]
async fn a_rule_comes_before_stages() {
    let (server, mut client) = cluster(LIFE).await;
    add_pod(&mut client, "ruled", json!({})).await;
    pass(&server, 3).await;
    assert_eq!(pod(&mut client, "ruled").await["status"]["phase"], "Running");
    server.shutdown().await;
}

/// A stage of pods in that phase, which leads to another one.
fn leads(name: &str, from: &str, to: &str) -> Value {
    json!({
        "apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name}, "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
            "selector": {"matchExpressions": [{"key": ".status.phase", "operator": "In", "values": [from]}]},
            "next": {"statusTemplate": format!("phase: {to}\n")},
        },
    })
}

#[tokio::test]
async fn stages_may_be_objects() {
    let (server, mut client) = cluster("").await;
    add_pod(&mut client, "web", json!({})).await;
    quiet(&server).await;
    assert_eq!(pod(&mut client, "web").await["status"]["phase"], "Running");
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let version = json!({"name": "v1alpha1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    let names = json!({"kind": "Stage", "listKind": "StageList", "plural": "stages", "singular": "stage"});
    let spec = json!({"group": "kwok.x-k8s.io", "scope": "Cluster", "names": names, "versions": [version]});
    create(&mut client, CRDS, &json!({"metadata": {"name": "stages.kwok.x-k8s.io"}, "spec": spec})).await;
    create(&mut client, STAGES, &leads("ends", "Running", "Succeeded")).await;
    let mut wrong = leads("wrong", "Running", "{{ toYaml . }}");
    create(&mut client, STAGES, &wrong).await;
    quiet(&server).await;
    assert_eq!(pod(&mut client, "web").await["status"]["phase"], "Succeeded");
    wrong["spec"]["next"] = json!({"statusPatchAs": {"username": "u"}});
    client.patch(MERGE_PATCH, &format!("{STAGES}/wrong"), &json!({"spec": wrong["spec"]})).await.expect(200);
    quiet(&server).await;
    let said = told(&mut client, "Stage").await;
    let expected = [
        "InvalidStage: spec.next.statusTemplate: the function toYaml is not supported in a template",
        "InvalidStage: spec.next.statusPatchAs: statusPatchAs is not supported here",
    ];
    assert_eq!(said, expected);
    server.shutdown().await;
}

#[tokio::test]
async fn stages_that_lead_to_each_other_are_slowed_down_and_told_of() {
    let stages: String = [leads("one", "Pending", "Running"), leads("two", "Running", "Pending")]
        .map(|stage| format!("{stage}\n---\n"))
        .concat();
    let (server, mut client) = cluster(&stages).await;
    add_pod(&mut client, "web", json!({})).await;
    quiet(&server).await;
    let said = told(&mut client, "Pod").await;
    let expected = "StageLoop: 100 stages within a second, the last one one: they lead to each other";
    assert!(said.contains(&expected.to_owned()), "{said:?}");
    server.shutdown().await;
}

#[test]
fn what_is_not_supported_is_named_with_its_line() {
    let stage = |spec: &str| {
        format!("# stages\n---\napiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {{name: a}}\nspec:\n{spec}")
    };
    let about = "  resourceRef: {kind: Pod}\n";
    for (spec, expected) in [
        (
            "  resourceRef: {kind: Deployment, apiGroup: apps/v1}\n".to_owned(),
            "line 7: spec.resourceRef: stages of Deployment in apps/v1 are not supported: only those of Pod and Node in v1",
        ),
        (
            format!("{about}  selector:\n    matchExpressions:\n    - cel: {{expression: 'true'}}\n"),
            "line 10: spec.selector.matchExpressions[0].cel: cel is not supported here",
        ),
        (
            format!("{about}  selector:\n    matchExpressions:\n    - {{key: .a | length, operator: Exists}}\n"),
            "line 10: spec.selector.matchExpressions[0].key: \"length\" is not supported in a query",
        ),
        (
            format!("{about}  delay: {{durationMilliseconds: -1}}\n"),
            "line 8: spec.delay.durationMilliseconds: expected a whole number that is not negative",
        ),
        (
            format!("{about}  next:\n    statusTemplate: |\n      a: 1\n      b: {{{{ lower .a }}}}\n"),
            "line 11: spec.next.statusTemplate: the function lower is not supported in a template",
        ),
        (
            format!("{about}  next:\n    event: {{type: Odd}}\n"),
            "line 9: spec.next.event.type: an event is Normal or Warning, and not \"Odd\"",
        ),
        (
            format!("{about}  steps:\n  - apply: {{template: a}}\n"),
            "line 9: spec.steps[0].apply: apply is not supported here",
        ),
    ] {
        let error = stage(&spec).parse::<Stages>().unwrap_err();
        assert_eq!(error.to_string(), expected, "{spec}");
    }
    let other = "apiVersion: v1\nkind: Pod\n".parse::<Stages>().unwrap_err();
    assert_eq!(other.to_string(), "line 2: Pod of v1 is no stage of kwok.x-k8s.io/v1alpha1");
}
