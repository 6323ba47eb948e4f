//! Pods whose names and links lead out of the root: nothing there is read, written or removed.

use crate::setup::{NODE, Setup, text};
use k8s_openapi::api::core::v1::Pod;
use kubelet::volumes::mounter::Place;
use kubelet::volumes::set_up::Volumes;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A secret `s`, volumes, and a directory outside of the root that they must not touch.
struct Confined {
    setup: Setup,
    volumes: Volumes,
    outside: tempfile::TempDir,
}

impl Confined {
    async fn new() -> Self {
        let setup = Setup::new().await;
        setup.create_secret("s", json!({"key": "secret"})).await;
        let outside = tempfile::tempdir().expect("a directory");
        fs::write(outside.path().join("precious"), "precious").expect("written");
        Confined { volumes: setup.volumes(setup.tokens()), setup, outside }
    }

    fn outside(&self) -> &Path {
        self.outside.path()
    }

    async fn set_up(&self, pod: &Pod) -> Result<bool, String> {
        let volume = &pod.spec.as_ref().expect("a spec").volumes.as_ref().expect("volumes")[0];
        self.volumes.set_up(pod, volume).await.map_err(|error| error.to_string())
    }

    /// Checks that the directory outside is unchanged.
    fn check(&self, case: &str) {
        let names: Vec<_> =
            fs::read_dir(self.outside()).expect("it is there").map(|entry| entry.expect("an entry")).collect();
        let names: Vec<_> = names.iter().map(|entry| entry.file_name().into_string().expect("a name")).collect();
        assert_eq!(
            (names, text(self.outside().join("precious"))),
            (vec!["precious".to_owned()], "precious".to_owned()),
            "{case}"
        );
    }
}

fn pod(uid: &str, volume: &str) -> Pod {
    let volumes: Value = json!([{"name": volume, "secret": {"secretName": "s", "defaultMode": 0o644}}]);
    let pod = json!({
        "metadata": {"name": "web", "namespace": "default", "uid": uid},
        "spec": {"nodeName": NODE, "containers": [], "volumes": volumes},
    });
    serde_json::from_value(pod).expect("a pod")
}

#[tokio::test]
async fn names_that_are_no_segment_of_a_path_are_refused() {
    let confined = Confined::new().await;
    let outside = confined.outside().to_str().expect("text");
    let up = format!("../../..{outside}");
    let long = "u".repeat(256);
    for name in [outside, &up, "", ".", "..", "a/b", "a\0b", &long] {
        let quoted = format!("{name:?}").replace("\\0", "\\x00");
        for (pod, what) in [(pod(name, "v"), "the uid of a pod"), (pod("u", name), "the name of a volume")] {
            let expected = format!("{what} must be one segment of a path: {quoted}");
            assert_eq!(confined.set_up(&pod).await, Err(expected));
        }
        confined.volumes.tear_down(name).await.expect("there is nothing of that name to remove");
        assert!(Place::new(name, "kubernetes.io~secret", "v").is_err(), "{name:?}");
        confined.check(name);
    }
    assert!(!confined.setup.root.path().join("pods").exists(), "nothing was made either");
}

#[tokio::test]
async fn links_on_the_way_are_not_followed() {
    let volume = "pods/u/volumes/kubernetes.io~secret/v";
    // Each directory from the pods' down to the volume.
    let names: Vec<_> = volume.split('/').collect();
    for depth in 1..=names.len() {
        let confined = Confined::new().await;
        let link: PathBuf = confined.setup.root.path().join(names[..depth].join("/"));
        fs::create_dir_all(link.parent().expect("a parent")).expect("made");
        symlink(confined.outside(), &link).expect("linked");
        let error = confined.set_up(&pod("u", "v")).await.expect_err("a link is no directory");
        assert!(error.ends_with("Not a directory (os error 20)"), "{error}");
        confined.check(&format!("{} after the set-up", link.display()));
        let removed = confined.volumes.tear_down("u").await;
        assert_eq!(removed.is_ok(), depth > 1, "a link below pods/ is removed itself: {removed:?}");
        confined.check(&format!("{} after the tear-down", link.display()));
    }
}

/// A pod may write to its volumes, links included.
#[tokio::test]
async fn links_in_a_volume_are_replaced() {
    let confined = Confined::new().await;
    let pod = pod("u", "v");
    confined.set_up(&pod).await.expect("set up");
    let volume = confined.setup.volume(&pod, "secret", "v");
    for name in ["..data", "..data_tmp"] {
        let _ = fs::remove_file(volume.join(name));
        symlink(confined.outside(), volume.join(name)).expect("linked");
        confined.set_up(&pod).await.expect("set up");
        assert_eq!(text(volume.join("key")), "secret", "{name}");
        confined.check(name);
    }
    let current = volume.join(fs::read_link(volume.join("..data")).expect("a link"));
    fs::remove_dir_all(&current).expect("removed");
    symlink(confined.outside(), &current).expect("linked");
    assert_eq!(confined.set_up(&pod).await, Ok(true), "a link is no data");
    assert_eq!(text(volume.join("key")), "secret");
    confined.check("the data");

    symlink(confined.outside(), volume.join("elsewhere")).expect("linked");
    confined.volumes.tear_down("u").await.expect("torn down");
    assert!(!confined.setup.root.path().join("pods/u").exists());
    confined.check("the tear-down");
}
