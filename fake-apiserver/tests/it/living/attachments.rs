//! Attachments of volumes to nodes, when drivers fail, do nothing, or do what they are asked for.

use super::{Client, create, pass, quiet, told};
use crate::support::{MERGE_PATCH, text};
use fake_apiserver::{FakeApiServer, ManualClock};
use serde_json::{Value, json};

const ATTACHMENTS: &str = "/apis/storage.k8s.io/v1/volumeattachments";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// A cluster with a pod whose volume a driver is to attach.
async fn cluster() -> (FakeApiServer, Client) {
    let clock = ManualClock::new("2030-01-01T00:00:00Z".parse().unwrap());
    let server = FakeApiServer::builder().like_a_cluster().clock(clock).insecure().start().await.expect("it starts");
    let mut client = Client::new(&server).await;
    let volume = json!({"metadata": {"name": "v"}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "far",
        "csi": {"driver": "example.com", "volumeHandle": "h"},
    }});
    create(&mut client, "/api/v1/persistentvolumes", &volume).await;
    let claim = json!({"metadata": {"name": "data"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "storageClassName": "far", "volumeName": "v",
        "resources": {"requests": {"storage": "1Gi"}},
    }});
    create(&mut client, CLAIMS, &claim).await;
    let pod = json!({"metadata": {"name": "web"}, "spec": {
        "containers": [{"name": "c", "image": "i"}],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}],
    }});
    create(&mut client, PODS, &pod).await;
    quiet(&server).await;
    (server, client)
}

/// The attachments.
async fn all(client: &mut Client) -> Vec<Value> {
    client.get(ATTACHMENTS).await.expect(200)["items"].as_array().cloned().unwrap_or_default()
}

#[tokio::test]
async fn a_driver_that_does_nothing_is_told_of_and_one_that_fails() {
    let (server, mut client) = cluster().await;
    let attachments = all(&mut client).await;
    let [attachment] = &attachments[..] else { panic!("{attachments:?}") };
    assert_eq!(text(attachment, "/spec/nodeName"), "node-1");
    let failed = |why: &str| format!("FailedAttachVolume: AttachVolume.Attach failed for volume \"v\" : {why}");
    let late = failed("timed out waiting for external-attacher of example.com CSI driver to attach volume h");
    assert!(!told(&mut client, "Pod").await.contains(&late));
    pass(&server, 120).await;
    assert!(told(&mut client, "Pod").await.contains(&late));
    let path = format!("{ATTACHMENTS}/{}/status", text(attachment, "/metadata/name"));
    let error =
        json!({"status": {"attached": false, "attachError": {"message": "no room", "time": "2030-01-01T00:00:00Z"}}});
    client.patch(MERGE_PATCH, &path, &error).await.expect(200);
    quiet(&server).await;
    assert!(told(&mut client, "Pod").await.contains(&failed("no room")));
    client.patch(MERGE_PATCH, &path, &json!({"status": {"attached": true, "attachError": null}})).await.expect(200);
    quiet(&server).await;
    let succeeded = "SuccessfulAttachVolume: AttachVolume.Attach succeeded for volume \"v\" ";
    assert!(told(&mut client, "Pod").await.contains(&succeeded.to_owned()));
    let node = client.get("/api/v1/nodes/node-1").await.expect(200);
    assert_eq!(
        node["status"]["volumesAttached"],
        json!([{"name": "kubernetes.io/csi/example.com^h", "devicePath": ""}])
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_volume_in_use_is_waited_for_until_its_node_is_lost() {
    let (server, mut client) = cluster().await;
    let in_use = json!({"status": {"volumesInUse": ["kubernetes.io/csi/example.com^h"]}});
    client.patch(MERGE_PATCH, "/api/v1/nodes/node-1/status", &in_use).await.expect(200);
    client.delete(&format!("{PODS}/web")).await.expect(200);
    quiet(&server).await;
    client.get(&format!("{PODS}/web")).await.refusal(404);
    pass(&server, 600).await;
    assert_eq!(all(&mut client).await.len(), 1);
    let lost = json!({"spec": {"taints": [{"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}]}});
    client.patch(MERGE_PATCH, "/api/v1/nodes/node-1", &lost).await.expect(200);
    quiet(&server).await;
    assert_eq!(all(&mut client).await, [Value::Null; 0]);
    server.shutdown().await;
}
