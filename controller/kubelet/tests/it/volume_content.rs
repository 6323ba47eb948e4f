//! The files of volumes, for pods of a server.

use crate::setup::{NODE, Setup, text};
use fake_apiserver::On;
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::{Node, Pod, Secret};
use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use kubelet::volumes::set_up::Volumes;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Sets up all volumes of the pod, in order; returns the last error, if any.
async fn set_up(volumes: &Volumes, pod: &Pod) -> Result<(), String> {
    let mut result = Ok(());
    for volume in pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten()) {
        if let Err(error) = volumes.set_up(pod, volume).await {
            result = Err(error.to_string());
        }
    }
    result
}

/// The visible names of a directory.
fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).expect("a directory").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<_> = entries.map(|name| name.into_string().expect("a name")).collect();
    names.retain(|name| !name.starts_with(".."));
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("a file").permissions().mode() & 0o7777
}

fn projected(sources: Value) -> Value {
    json!([{"name": "all", "projected": {"sources": sources}}])
}

// TestPlugin of all four.
#[tokio::test]
async fn all_kinds_are_filled() {
    let setup = Setup::new().await;
    setup.create_secret("credentials", json!({"user": "admin"})).await;
    setup.create_config_map("settings", json!({"color": "blue", "shape": "round"})).await;
    let volumes = json!([
        {"name": "s", "secret": {"secretName": "credentials", "defaultMode": 0o400}},
        {"name": "c", "configMap": {"name": "settings", "items": [{"key": "color", "path": "deep/er/color"}]}},
        {"name": "d", "downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
        {"name": "e", "emptyDir": {}},
        {"name": "h", "hostPath": {"path": "/nonexistent"}},
        {"name": "p", "projected": {"sources": [
            {"secret": {"name": "credentials", "items": [{"key": "user", "path": "a/user", "mode": 0o440}]}},
            {"configMap": {"name": "settings"}},
            {"downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]}},
            {"serviceAccountToken": {"path": "token", "audience": "vault", "expirationSeconds": 600}},
        ]}},
    ]);
    let pod = setup.create_pod("web", json!({}), volumes).await;
    let tokens = setup.tokens();
    let volumes = setup.volumes(tokens.clone());
    set_up(&volumes, &pod).await.expect("set up");
    assert_eq!(tokens.count(), 1);
    let volume = |plugin: &str, name: &str| setup.volume(&pod, plugin, name);
    assert_eq!(text(volume("secret", "s").join("user")), "admin");
    assert_eq!(mode(&volume("secret", "s").join("user")), 0o400);
    assert_eq!(names(&volume("configmap", "c")), ["deep"]);
    assert_eq!(text(volume("configmap", "c").join("deep/er/color")), "blue");
    assert_eq!(text(volume("downward-api", "d").join("labels")), "app=\"demo\"");
    let all = volume("projected", "p");
    assert_eq!(names(&all), ["a", "color", "name", "shape", "token"]);
    assert_eq!([text(all.join("a/user")), text(all.join("name"))], ["admin", "web"]);
    assert_eq!([mode(&all.join("a/user")), mode(&all.join("token"))], [0o440, 0o644]);
    let token = text(all.join("token"));
    assert_eq!(token.split('.').count(), 3, "a JWT, and no newline: {token:?}");
    assert!(names(&volume("empty-dir", "e")).is_empty());
    assert_eq!(mode(&volume("empty-dir", "e")), 0o777);
    assert_eq!(names(&setup.root.path().join("pods")).len(), 1);
    assert_eq!(mode(&volumes.mounter.pod_directory(pod.metadata.uid.as_deref().expect("a uid"))), 0o750);

    volumes.tear_down(pod.metadata.uid.as_deref().expect("a uid")).await.expect("torn down");
    assert!(names(&setup.root.path().join("pods")).is_empty());
    assert_eq!(tokens.count(), 0, "its tokens are forgotten");
    volumes.tear_down(pod.metadata.uid.as_deref().expect("a uid")).await.expect("nothing is left to tear down");
}

// TestCollectDataWithServiceAccountToken.
#[tokio::test]
async fn tokens_are_for_whom_the_pod_says() {
    for (source, owners, mode_expected, audience, seconds) in [
        (
            json!({"path": "a", "audience": "https://example.com", "expirationSeconds": 3607}),
            json!({}),
            0o644,
            json!(["https://example.com"]),
            3607,
        ),
        (json!({"path": "deep/path"}), json!({}), 0o644, json!(null), 3600),
        (json!({"path": "a"}), json!({"runAsUser": 1000}), 0o600, json!(null), 3600),
        (json!({"path": "a"}), json!({"fsGroup": 10_000}), 0o640, json!(null), 3600),
        (json!({"path": "a"}), json!({"runAsUser": 1000, "fsGroup": 10_000}), 0o640, json!(null), 3600),
    ] {
        let setup = Setup::new().await;
        let volumes = projected(json!([{"serviceAccountToken": source}]));
        let pod = setup.create_pod("web", owners.clone(), volumes).await;
        let me = fs::metadata(setup.root.path()).expect("a directory");
        set_up(&setup.volumes(setup.tokens()), &pod).await.expect("set up");
        let file = setup.volume(&pod, "projected", "all").join(source["path"].as_str().expect("a path"));
        assert_eq!(mode(&file), mode_expected, "{source} {owners}");
        let metadata = fs::metadata(&file).expect("a file");
        // Only root may change owners.
        let given = |to: &Value, mine: u32| to.as_u64().filter(|_| me.uid() == 0).unwrap_or(mine.into());
        let expected = (given(&owners["runAsUser"], me.uid()), given(&owners["fsGroup"], me.gid()));
        assert_eq!((metadata.uid().into(), metadata.gid().into()), expected, "{source} {owners}");
        let requests = setup.server.requests();
        let asked = requests.iter().find(|request| request.subresource == "token").expect("a request");
        let body = asked.body.as_ref().expect("a body");
        assert_eq!(body["spec"]["audiences"], audience);
        assert_eq!(body["spec"]["expirationSeconds"], seconds);
        let bound = json!({"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": pod.metadata.uid});
        assert_eq!(body["spec"]["boundObjectRef"], bound);
    }
}

// TestInvalidPathSecret, TestInvalidPathProjected, TestInvalidConfigMapSetup.
#[tokio::test]
async fn what_is_missing_is_named_and_leaves_no_directory() {
    let setup = Setup::new().await;
    setup.create_secret("s", json!({"there": "1"})).await;
    setup.create_config_map("c", json!({"there": "1"})).await;
    let items = json!([{"key": "absent", "path": "x"}]);
    let both = json!([
        {"secret": {"name": "s", "items": items}},
        {"serviceAccountToken": {"path": "token"}},
        {"configMap": {"name": "nothing"}},
        {"configMap": {"name": "nothing"}},
    ]);
    for (index, (volume, expected)) in [
        (json!({"secret": {"secretName": "s", "items": items}}), "references non-existent secret key: absent"),
        (json!({"configMap": {"name": "c", "items": items}}), "configmap references non-existent config key: absent"),
        (json!({"secret": {"secretName": "nothing"}}), r#"secrets "nothing" not found"#),
        (json!({"configMap": {"name": "nothing"}}), r#"configmaps "nothing" not found"#),
        (
            json!({"projected": {"sources": both}}),
            r#"[references non-existent secret key: absent, configmaps "nothing" not found]"#,
        ),
        (
            json!({"projected": {"sources": [{"clusterTrustBundle": {"name": "b", "path": "p"}}]}}),
            "projected volume source clusterTrustBundle is not supported",
        ),
        (
            json!({"downwardAPI": {"items": [{"path": "p", "resourceFieldRef": {"containerName": "c", "resource": "limits.cpu", "divisor": "1"}}]}}),
            "",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let mut named = volume.clone();
        named["name"] = "v".into();
        let pod = setup.create_pod(&format!("web-{index}"), json!({}), json!([named])).await;
        let done = set_up(&setup.volumes(setup.tokens()), &pod).await;
        if expected.is_empty() {
            done.expect("a node that does not exist limits nothing");
            continue;
        }
        assert_eq!(done, Err(expected.to_owned()), "{volume}");
        assert!(!setup.root.path().join("pods").join(pod.metadata.uid.expect("a uid")).exists(), "{volume}");
    }
}

// TestPluginOptional, TestPluginOptionalKeys.
#[tokio::test]
async fn what_is_optional_may_be_missing_but_only_if_the_server_says_so() {
    let setup = Setup::new().await;
    setup.create_secret("s", json!({"there": "1"})).await;
    let items = json!([{"key": "absent", "path": "x"}, {"key": "there", "path": "there"}]);
    let volumes = json!([
        {"name": "nothing", "secret": {"secretName": "nothing", "optional": true}},
        {"name": "keys", "secret": {"secretName": "s", "items": items, "optional": true}},
        {"name": "all", "projected": {"sources": [
            {"configMap": {"name": "nothing", "optional": true}},
            {"secret": {"name": "s", "items": items, "optional": true}},
        ]}},
    ]);
    let pod = setup.create_pod("web", json!({}), volumes).await;
    let volumes = setup.volumes(setup.tokens());
    set_up(&volumes, &pod).await.expect("set up");
    assert!(names(&setup.volume(&pod, "secret", "nothing")).is_empty());
    assert!(setup.volume(&pod, "secret", "nothing").join("..data").is_dir());
    assert_eq!(names(&setup.volume(&pod, "secret", "keys")), ["there"]);
    assert_eq!(names(&setup.volume(&pod, "projected", "all")), ["there"]);
    setup.fail(On::get("secrets"), 500);
    set_up(&volumes, &pod).await.expect_err("a failing server does not say that there is nothing");
    assert_eq!(names(&setup.volume(&pod, "secret", "keys")), ["there"], "what cannot be read anew stays");
}

#[tokio::test]
async fn limits_that_a_container_does_not_state_are_the_nodes() {
    let setup = Setup::new().await;
    let nodes: Api<Node> = Api::all(setup.server.client());
    let node = json!({"metadata": {"name": NODE}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi"}}});
    nodes
        .create(&PostParams::default(), &serde_json::from_value(node.clone()).expect("a node"))
        .await
        .expect("created");
    let patch = Patch::Merge(node);
    nodes.patch_status(NODE, &PatchParams::default(), &patch).await.expect("patched");
    let item = |resource: &str, divisor: &str| json!({"path": resource, "resourceFieldRef": {"containerName": "c", "resource": resource, "divisor": divisor}});
    let volumes =
        json!([{"name": "d", "downwardAPI": {"items": [item("limits.cpu", "1"), item("limits.memory", "1Gi")]}}]);
    let pod = setup.create_pod("web", json!({}), volumes).await;
    set_up(&setup.volumes(setup.tokens()), &pod).await.expect("set up");
    let directory = setup.volume(&pod, "downward-api", "d");
    assert_eq!([text(directory.join("limits.cpu")), text(directory.join("limits.memory"))], ["4", "8"]);
}

// One failing source blocks the volume, which stays as it was.
#[tokio::test]
async fn nothing_partial_is_written() {
    let setup = Setup::new().await;
    setup.create_secret("s", json!({"key": "old"})).await;
    let sources =
        json!([{"secret": {"name": "s"}}, {"serviceAccountToken": {"path": "token", "expirationSeconds": 600}}]);
    let pod = setup.create_pod("web", json!({}), projected(sources)).await;
    let volumes = setup.volumes(setup.tokens());
    set_up(&volumes, &pod).await.expect("set up");
    let volume = setup.volume(&pod, "projected", "all");
    let (before, token) = (fs::read_link(volume.join("..data")).expect("a link"), text(volume.join("token")));
    setup
        .live::<Secret>()
        .patch("s", &PatchParams::default(), &Patch::Merge(json!({"stringData": {"key": "new"}})))
        .await
        .expect("patched");
    setup.fail(On::create("serviceaccounts/token"), 500);
    setup.advance(SignedDuration::from_secs(601));
    let error = set_up(&volumes, &pod).await.expect_err("the token has expired");
    assert!(error.contains(" expired and refresh failed: "), "{error}");
    assert_eq!(fs::read_link(volume.join("..data")).expect("a link"), before);
    setup.server.faults().clear();
    set_up(&volumes, &pod).await.expect("set up");
    assert_eq!(text(volume.join("key")), "new");
    assert_ne!(text(volume.join("token")), token);
}

#[tokio::test]
async fn what_cannot_be_written_leaves_no_volume() {
    let setup = Setup::new().await;
    setup.create_secret("s", json!({"key": "1"})).await;
    let pod = setup.create_pod("web", json!({}), json!([])).await;
    let with_path = |path: &str| {
        let mut pod = pod.clone();
        let token = json!({"serviceAccountToken": {"path": path, "expirationSeconds": 600}});
        let secret = json!({"secret": {"name": "s", "items": [{"key": "key", "path": "a"}]}});
        let mut volumes = projected(json!([token, secret]));
        volumes[0]["projected"]["defaultMode"] = 0o644.into();
        pod.spec.as_mut().expect("a spec").volumes = serde_json::from_value(volumes).expect("volumes");
        pod
    };
    let tokens = setup.tokens();
    let volumes = setup.volumes(tokens.clone());
    set_up(&volumes, &with_path("token")).await.expect("set up");
    let volume = setup.volume(&pod, "projected", "all");
    assert!(volume.join("token").exists());
    let error = set_up(&volumes, &with_path("a/b")).await.expect_err("a file is no directory");
    assert!(error.starts_with("mkdir ") || error.starts_with("write "), "{error}");
    assert!(!volume.exists());
    assert_eq!(tokens.count(), 0);
    let error = set_up(&volumes, &with_path("../../etc/passwd")).await.expect_err("that leads out");
    assert_eq!(error, "invalid path: must not contain '..': ../../etc/passwd");
}

// As upstream, only the projected plugin drops tokens.
#[tokio::test]
async fn tokens_survive_what_happens_to_other_volumes() {
    let setup = Setup::new().await;
    let mut pod = setup.create_pod("web", json!({}), json!([])).await;
    let item = |path: &str| json!({"path": path, "fieldRef": {"fieldPath": "metadata.name"}});
    let volumes = json!([
        {"name": "t", "projected": {"defaultMode": 0o644, "sources": [{"serviceAccountToken": {"path": "token"}}]}},
        {"name": "d", "downwardAPI": {"defaultMode": 0o644, "items": [item("a"), item("a/b")]}},
    ]);
    pod.spec.as_mut().expect("a spec").volumes = serde_json::from_value(volumes).expect("volumes");
    let tokens = setup.tokens();
    set_up(&setup.volumes(tokens.clone()), &pod).await.expect_err("a file is no directory");
    assert!(!setup.volume(&pod, "downward-api", "d").exists());
    assert_eq!(tokens.count(), 1);
}

// The pod's files are left alone.
#[tokio::test]
async fn an_empty_directory_is_made_and_then_left_alone() {
    let setup = Setup::new().await;
    let pod = setup.create_pod("web", json!({"fsGroup": 10_000}), json!([{"name": "e", "emptyDir": {}}])).await;
    let volumes = setup.volumes(setup.tokens());
    set_up(&volumes, &pod).await.expect("set up");
    let directory = setup.volume(&pod, "empty-dir", "e");
    assert_eq!(mode(&directory), 0o2777);
    let file = directory.join("mine");
    fs::write(&file, "private").expect("written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("set");
    set_up(&volumes, &pod).await.expect("set up");
    assert_eq!((text(&file), mode(&file)), ("private".to_owned(), 0o600));
}
