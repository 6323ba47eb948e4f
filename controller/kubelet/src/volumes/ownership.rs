//! The owners of a volume's files.
//!
//! Follows kubernetes v1.37.1 `pkg/volume/volume_linux.go` and `FsUserFrom` of `pkg/volume/util/util.go`. As there, a
//! file that cannot be changed is logged and left.

use super::dir::{Dir, Entry};
use crate::containers::containers;
use k8s_openapi::api::core::v1::{Pod, PodSpec};
use std::io;
use tracing::warn;

/// The user and the group that own the files of a pod's volumes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Owners {
    /// The user of all its containers, if they share one.
    pub fs_user: Option<u32>,
    /// The group of its volumes.
    pub fs_group: Option<u32>,
}

impl Owners {
    /// The owners that `pod` asks for.
    pub fn of(pod: &Pod) -> Self {
        let Some(spec) = &pod.spec else { return Owners::default() };
        let fs_group = spec.security_context.as_ref().and_then(|context| context.fs_group).and_then(id);
        Owners { fs_user: fs_user(spec).and_then(id), fs_group }
    }
}

/// An id as the operating system has it; `None` out of range. (The API server refuses ids of more than 31 bits.)
fn id(id: i64) -> Option<u32> {
    u32::try_from(id).ok()
}

/// The user that all containers run as, if every one of them says so.
fn fs_user(spec: &PodSpec) -> Option<i64> {
    let of_pod = spec.security_context.as_ref().and_then(|context| context.run_as_user);
    let ephemeral = spec.ephemeral_containers.iter().flatten().map(|container| &container.security_context);
    let contexts = containers(spec).map(|container| &container.security_context).chain(ephemeral);
    let mut users = contexts.map(|context| context.as_ref().and_then(|context| context.run_as_user).or(of_pod));
    let first = users.next()??;
    users.all(|user| user == Some(first)).then_some(first)
}

/// Gives `volume` and everything below it to `group`, with permission to read (and to write, unless `read_only`).
///
/// # Errors
/// If a directory cannot be read.
pub(super) fn give_to_group(volume: &Dir, group: Option<u32>, read_only: bool) -> io::Result<()> {
    let Some(group) = group else { return Ok(()) };
    for name in volume.names()? {
        let entry = volume.entry(&name)?;
        if let Entry::Directory { .. } = entry {
            give_to_group(&volume.open(&name)?, Some(group), read_only)?;
            continue;
        }
        let path = volume.path().join(&name);
        if let Err(error) = volume.set_owner_of(&name, None, Some(group)) {
            warn!(path = %path.display(), group, %error, "Lchown failed");
        }
        // A link's permissions are those of what it points at.
        if let Entry::File { mode } = entry
            && let Err(error) = volume.set_mode_of(&name, mode | group_mode(read_only))
        {
            warn!(path = %path.display(), %error, "chmod failed");
        }
    }
    let path = volume.path().display();
    if let Err(error) = volume.set_group(group) {
        warn!(%path, group, %error, "Lchown failed");
    }
    if let Err(error) = volume.mode().and_then(|mode| volume.set_mode(mode | group_mode(read_only) | 0o2110)) {
        warn!(%path, %error, "chmod failed");
    }
    Ok(())
}

/// The permission bits of the group.
fn group_mode(read_only: bool) -> u32 {
    if read_only { 0o440 } else { 0o660 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn the_user_of_a_pod_is_the_one_that_all_its_containers_share() {
        let user = |pod: serde_json::Value, containers: serde_json::Value| {
            let spec = json!({"spec": {"securityContext": pod, "initContainers": [], "containers": containers}});
            Owners::of(&serde_json::from_value(spec).expect("a pod")).fs_user
        };
        let container = |user: i64| json!({"name": "c", "securityContext": {"runAsUser": user}});
        let silent = json!({"name": "c"});
        for (pod, containers, expected) in [
            (json!({}), json!([silent]), None),
            (json!({"runAsUser": 1000}), json!([silent]), Some(1000)),
            (json!({"runAsUser": 1000}), json!([silent, container(1000)]), Some(1000)),
            (json!({"runAsUser": 1000}), json!([silent, container(1001)]), None),
            (json!({}), json!([container(1002), container(1002)]), Some(1002)),
            (json!({}), json!([container(1002), silent]), None),
            (json!({}), json!([silent, container(1002)]), None),
            (json!({}), json!([container(0)]), Some(0)),
            (json!({"runAsUser": 1000}), json!([]), None),
            (json!({}), json!([container(1 << 40)]), None),
        ] {
            assert_eq!(user(pod.clone(), containers.clone()), expected, "{pod} {containers}");
        }
    }

    #[test]
    fn a_group_may_read_but_links_decide_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = |name: &str| directory.path().join(name);
        let mode = |name: &str| fs::symlink_metadata(path(name)).expect("a file").permissions().mode() & 0o7777;
        fs::create_dir(path("sub")).expect("made");
        fs::set_permissions(path("sub"), Permissions::from_mode(0o700)).expect("set");
        for (name, before) in [("token", 0o600), ("sub/open", 0o604), ("sub/mine", 0o400)] {
            fs::write(path(name), "").expect("written");
            fs::set_permissions(path(name), Permissions::from_mode(before)).expect("set");
        }
        symlink("token", path("link")).expect("linked");
        // The process's own group, which every user may set.
        let group = std::os::unix::fs::MetadataExt::gid(&fs::metadata(path("token")).expect("a file"));
        let open = |path: &std::path::Path| Dir::at(path).expect("a directory");
        give_to_group(&open(directory.path()), Some(group), true).expect("walked");
        let modes = ["token", "sub", "sub/open", "sub/mine"].map(mode);
        assert_eq!(modes, [0o640, 0o2750, 0o644, 0o440]);
        give_to_group(&open(&path("sub")), Some(group), false).expect("walked");
        assert_eq!(["sub", "sub/mine"].map(mode), [0o2770, 0o660]);
    }
}
