//! Claims and volumes that are bound, provisioned and released.

use super::{Client, create, quiet, told};
use crate::support::{MERGE_PATCH, names, text};
use fake_apiserver::{AuthorizationMode, Controller, FakeApiServer, ManualClock};
use serde_json::{Value, json};

const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const VOLUMES: &str = "/api/v1/persistentvolumes";
const CLASSES: &str = "/apis/storage.k8s.io/v1/storageclasses";
const PODS: &str = "/api/v1/namespaces/default/pods";

async fn binding(others: &[Controller]) -> (FakeApiServer, Client) {
    let clock = ManualClock::new("2030-01-01T00:00:00Z".parse().unwrap());
    let controllers = [&[Controller::PersistentVolumeBinder, Controller::EphemeralVolume], others].concat();
    let builder = FakeApiServer::builder().controllers(controllers).clock(clock);
    let modes = [AuthorizationMode::Node, AuthorizationMode::Rbac];
    let server = builder.authorization_mode(modes).insecure().start().await.expect("a server starts");
    let client = Client::new(&server).await;
    (server, client)
}

fn volume(name: &str, size: &str, other: Value) -> Value {
    let mut spec = json!({
        "capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": format!("/tmp/{name}")},
        "persistentVolumeReclaimPolicy": "Retain", "storageClassName": "",
    });
    spec.as_object_mut().unwrap().extend(other.as_object().cloned().unwrap_or_default());
    json!({"metadata": {"name": name, "labels": {"name": name}}, "spec": spec})
}

fn claim(name: &str, size: &str, other: Value) -> Value {
    let mut spec = json!({
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, "storageClassName": "",
    });
    spec.as_object_mut().unwrap().extend(other.as_object().cloned().unwrap_or_default());
    json!({"metadata": {"name": name}, "spec": spec})
}

/// The phase of a claim, and its volume.
async fn of_claim(client: &mut Client, name: &str) -> (String, String) {
    let claim = client.get(&format!("{CLAIMS}/{name}")).await.expect(200);
    (text(&claim, "/status/phase").to_owned(), claim["spec"]["volumeName"].as_str().unwrap_or_default().to_owned())
}

async fn phase(client: &mut Client, volume: &str) -> String {
    text(&client.get(&format!("{VOLUMES}/{volume}")).await.expect(200), "/status/phase").to_owned()
}

fn bound(volume: &str) -> (String, String) {
    ("Bound".to_owned(), volume.to_owned())
}

fn pending() -> (String, String) {
    ("Pending".to_owned(), String::new())
}

#[tokio::test]
async fn a_claim_gets_the_smallest_volume_that_will_do() {
    let (server, mut client) = binding(&[]).await;
    let table = [
        ("large", "9Gi", json!({})),
        ("small", "3Gi", json!({})),
        ("tiny", "1Gi", json!({})),
        ("shared", "2Gi", json!({"accessModes": ["ReadWriteOnce", "ReadWriteMany"]})),
        ("device", "2Gi", json!({"volumeMode": "Block"})),
        ("classy", "2Gi", json!({"storageClassName": "fast"})),
    ];
    for (name, size, other) in table {
        create(&mut client, VOLUMES, &volume(name, size, other)).await;
    }
    quiet(&server).await;
    assert_eq!(phase(&mut client, "large").await, "Available");
    for (name, other, wanted) in [
        ("a", json!({}), bound("small")),
        ("b", json!({"volumeMode": "Block"}), bound("device")),
        ("c", json!({"storageClassName": "fast"}), bound("classy")),
        ("d", json!({"accessModes": ["ReadWriteMany"]}), bound("shared")),
        ("e", json!({"selector": {"matchLabels": {"name": "other"}}}), pending()),
        ("f", json!({"selector": {"matchLabels": {"name": "large"}}}), bound("large")),
    ] {
        create(&mut client, CLAIMS, &claim(name, "2Gi", other)).await;
        quiet(&server).await;
        assert_eq!(of_claim(&mut client, name).await, wanted, "{name}");
    }
    let a = client.get(&format!("{CLAIMS}/a")).await.expect(200);
    assert_eq!(a["status"]["capacity"], json!({"storage": "3Gi"}));
    assert_eq!(a["status"]["accessModes"], json!(["ReadWriteOnce"]));
    let annotations = json!({"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"});
    assert_eq!(a["metadata"]["annotations"], annotations);
    let small = client.get(&format!("{VOLUMES}/small")).await.expect(200);
    assert_eq!(small["spec"]["claimRef"]["uid"], a["metadata"]["uid"]);
    assert_eq!(text(&small, "/status/phase"), "Bound");
    // The claim that waits gets a volume as soon as there is one.
    create(&mut client, VOLUMES, &volume("other", "5Gi", json!({}))).await;
    quiet(&server).await;
    assert_eq!(of_claim(&mut client, "e").await, bound("other"));
    server.shutdown().await;
}

#[tokio::test]
async fn a_claim_and_a_volume_may_name_each_other() {
    let (server, mut client) = binding(&[]).await;
    let reserved = json!({"claimRef": {"kind": "PersistentVolumeClaim", "namespace": "default", "name": "mine"}});
    create(&mut client, VOLUMES, &volume("reserved", "9Gi", reserved)).await;
    create(&mut client, VOLUMES, &volume("free", "1Gi", json!({}))).await;
    quiet(&server).await;
    create(&mut client, CLAIMS, &claim("other", "2Gi", json!({"volumeName": "reserved"}))).await;
    create(&mut client, CLAIMS, &claim("large", "2Gi", json!({"volumeName": "free"}))).await;
    create(&mut client, CLAIMS, &claim("mine", "1Gi", json!({}))).await;
    quiet(&server).await;
    assert_eq!(of_claim(&mut client, "mine").await, bound("reserved"));
    assert_eq!(of_claim(&mut client, "other").await.0, "Pending");
    let said = told(&mut client, "PersistentVolumeClaim").await;
    assert!(
        said.contains(
            &r#"VolumeMismatch: Cannot bind to requested volume "free": requested PV is too small"#.to_owned()
        ),
        "{said:?}"
    );
    assert!(
        said.contains(&r#"FailedBinding: volume "reserved" already bound to a different claim."#.to_owned()),
        "{said:?}"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_volume_whose_claim_goes_is_retained_or_deleted() {
    let (server, mut client) = binding(&[]).await;
    for (name, other) in [
        ("kept", json!({})),
        ("gone", json!({"persistentVolumeReclaimPolicy": "Delete"})),
        ("stuck", json!({"persistentVolumeReclaimPolicy": "Delete", "hostPath": {"path": "/data"}})),
    ] {
        create(&mut client, VOLUMES, &volume(name, "1Gi", other)).await;
        create(&mut client, CLAIMS, &claim(name, "1Gi", json!({"volumeName": name}))).await;
    }
    quiet(&server).await;
    for name in ["kept", "gone", "stuck"] {
        assert_eq!(of_claim(&mut client, name).await, bound(name));
        // Nobody here lets go what is in use, so that nothing is held.
        for path in [format!("{VOLUMES}/{name}"), format!("{CLAIMS}/{name}")] {
            client.patch(MERGE_PATCH, &path, &json!({"metadata": {"finalizers": null}})).await.expect(200);
        }
        client.delete(&format!("{CLAIMS}/{name}")).await.expect(200);
    }
    quiet(&server).await;
    assert_eq!(phase(&mut client, "kept").await, "Released");
    client.get(&format!("{VOLUMES}/gone")).await.refusal(404);
    assert_eq!(phase(&mut client, "stuck").await, "Failed");
    let why = "host_path deleter only supports /tmp/.+ but received provided /data";
    assert_eq!(text(&client.get(&format!("{VOLUMES}/stuck")).await.expect(200), "/status/message"), why);
    // A bound claim whose volume somebody takes away is lost.
    create(&mut client, VOLUMES, &volume("taken", "1Gi", json!({}))).await;
    create(&mut client, CLAIMS, &claim("poor", "1Gi", json!({"volumeName": "taken"}))).await;
    quiet(&server).await;
    client
        .patch(MERGE_PATCH, &format!("{VOLUMES}/taken"), &json!({"metadata": {"finalizers": null}}))
        .await
        .expect(200);
    client.delete(&format!("{VOLUMES}/taken")).await.expect(200);
    quiet(&server).await;
    assert_eq!(of_claim(&mut client, "poor").await.0, "Lost");
    server.shutdown().await;
}

#[tokio::test]
async fn volumes_are_provisioned_on_the_host_or_by_others() {
    let (server, mut client) = binding(&[]).await;
    for (name, provisioner) in
        [("local", "kubernetes.io/host-path"), ("far", "example.com/driver"), ("none", "kubernetes.io/no-provisioner")]
    {
        create(&mut client, CLASSES, &json!({"metadata": {"name": name}, "provisioner": provisioner})).await;
        create(&mut client, CLAIMS, &claim(name, "1Gi", json!({"storageClassName": name}))).await;
    }
    quiet(&server).await;
    let local = client.get(&format!("{CLAIMS}/local")).await.expect(200);
    let name = format!("pvc-{}", text(&local, "/metadata/uid"));
    assert_eq!(of_claim(&mut client, "local").await, bound(&name));
    let far = client.get(&format!("{CLAIMS}/far")).await.expect(200);
    assert_eq!(text(&far, "/metadata/annotations/volume.kubernetes.io~1storage-provisioner"), "example.com/driver");
    let said = told(&mut client, "PersistentVolumeClaim").await;
    let has = |part: &str| assert!(said.iter().any(|event| event.contains(part)), "{part} in {said:?}");
    has(&format!("ProvisioningSucceeded: Successfully provisioned volume {name} using kubernetes.io/host-path"));
    has(
        "ExternalProvisioning: Waiting for a volume to be created either by the external provisioner 'example.com/driver'",
    );
    has("ProvisioningFailed: no volume plugin matched name: kubernetes.io/no-provisioner");
    let held = json!({"metadata": {"finalizers": ["kubernetes.io/pv-controller"]}});
    client.patch(MERGE_PATCH, &format!("{VOLUMES}/{name}"), &held).await.expect(200);
    let free = json!({"metadata": {"finalizers": null}});
    client.patch(MERGE_PATCH, &format!("{CLAIMS}/local"), &free).await.expect(200);
    client.delete(&format!("{CLAIMS}/local")).await.expect(200);
    quiet(&server).await;
    client.get(&format!("{VOLUMES}/{name}")).await.refusal(404);
    server.shutdown().await;
}

fn pod(name: &str, volume: Value) -> Value {
    json!({"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}], "volumes": [volume]}})
}

#[tokio::test]
async fn a_pod_waits_for_its_claims() {
    let (server, mut client) = binding(&[Controller::Scheduler, Controller::Kubelet]).await;
    let of = |claim: &str| json!({"name": "v", "persistentVolumeClaim": {"claimName": claim}});
    create(&mut client, PODS, &pod("p", of("data"))).await;
    quiet(&server).await;
    let why = |reason: &str| {
        format!(
            "FailedScheduling: 0/1 nodes are available: {reason}. preemption: 0/1 nodes are available: 1 Preemption is not helpful \
             for scheduling."
        )
    };
    assert_eq!(told(&mut client, "Pod").await, [why(r#"persistentvolumeclaim "data" not found"#)]);
    create(&mut client, CLAIMS, &claim("data", "1Gi", json!({}))).await;
    quiet(&server).await;
    assert!(told(&mut client, "Pod").await.contains(&why("pod has unbound immediate PersistentVolumeClaims")));
    create(&mut client, VOLUMES, &volume("v", "1Gi", json!({}))).await;
    quiet(&server).await;
    let p = client.get(&format!("{PODS}/p")).await.expect(200);
    assert_eq!((text(&p, "/spec/nodeName"), text(&p, "/status/phase")), ("node-1", "Running"));
    server.shutdown().await;
}

#[tokio::test]
async fn a_class_may_wait_for_the_first_consumer() {
    let (server, mut client) = binding(&[Controller::Scheduler, Controller::Kubelet]).await;
    for (name, provisioner) in [("late", "kubernetes.io/no-provisioner"), ("made", "kubernetes.io/host-path")] {
        let class = json!({"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"});
        create(&mut client, CLASSES, &class).await;
        create(&mut client, CLAIMS, &claim(name, "1Gi", json!({"storageClassName": name}))).await;
    }
    let node = |name: &str| {
        json!({"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "kubernetes.io/hostname", "operator": "In", "values": [name]},
    ]}]}}, "storageClassName": "late"})
    };
    create(&mut client, VOLUMES, &volume("elsewhere", "1Gi", node("node-9"))).await;
    quiet(&server).await;
    for name in ["late", "made"] {
        assert_eq!(of_claim(&mut client, name).await, pending(), "{name}");
        let of = json!({"name": "v", "persistentVolumeClaim": {"claimName": name}});
        create(&mut client, PODS, &pod(name, of)).await;
    }
    quiet(&server).await;
    let late = client.get(&format!("{PODS}/late")).await.expect(200);
    let message = text(&late, "/status/conditions/0/message");
    assert!(message.contains("1 node(s) didn't find available persistent volumes to bind"), "{message}");
    create(&mut client, VOLUMES, &volume("here", "1Gi", node("node-1"))).await;
    quiet(&server).await;
    assert_eq!(of_claim(&mut client, "late").await, bound("here"));
    let made = client.get(&format!("{CLAIMS}/made")).await.expect(200);
    assert_eq!(text(&made, "/metadata/annotations/volume.kubernetes.io~1selected-node"), "node-1");
    for name in ["late", "made"] {
        let pod = client.get(&format!("{PODS}/{name}")).await.expect(200);
        assert_eq!(text(&pod, "/status/phase"), "Running", "{name}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn an_ephemeral_volume_has_a_claim() {
    let (server, mut client) = binding(&[]).await;
    let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": claim("", "1Gi", json!({}))["spec"]});
    let ephemeral = json!({"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}});
    create(&mut client, CLAIMS, &claim("taken-scratch", "1Gi", json!({}))).await;
    for name in ["p", "taken"] {
        create(&mut client, PODS, &pod(name, ephemeral.clone())).await;
    }
    quiet(&server).await;
    assert_eq!(names(&client.get(CLAIMS).await.expect(200)), ["p-scratch", "taken-scratch"]);
    let made = client.get(&format!("{CLAIMS}/p-scratch")).await.expect(200);
    assert_eq!(text(&made, "/metadata/ownerReferences/0/name"), "p");
    assert_eq!(text(&made, "/metadata/labels/a"), "b");
    let why = "PVC default/taken-scratch was not created for pod default/taken (pod is not owner)";
    assert!(told(&mut client, "Pod").await.contains(&format!("FailedBinding: ephemeral volume scratch: {why}")));
    server.shutdown().await;
}

#[tokio::test]
async fn a_cluster_comes_with_a_default_class() {
    let server = FakeApiServer::builder().like_a_cluster().insecure().start().await.expect("a server starts");
    let mut client = Client::new(&server).await;
    quiet(&server).await;
    let mut data = claim("data", "1Gi", json!({}));
    data["spec"].as_object_mut().unwrap().remove("storageClassName");
    create(&mut client, CLAIMS, &data).await;
    quiet(&server).await;
    let data = client.get(&format!("{CLAIMS}/data")).await.expect(200);
    assert_eq!((text(&data, "/spec/storageClassName"), text(&data, "/status/phase")), ("standard", "Bound"));
    client.delete(&format!("{CLAIMS}/data")).await.expect(200);
    quiet(&server).await;
    assert_eq!(names(&client.get(VOLUMES).await.expect(200)), [""; 0]);
    server.shutdown().await;
}
