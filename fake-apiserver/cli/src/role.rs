//! The role of the program, by the name that it is called by.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The first word that makes the program under any name the stand-in for etcd.
pub(crate) const AS_ETCD: &str = "fake-apiserver:etcd";
/// The first word that makes it `kubectl`.
pub(crate) const AS_KUBECTL: &str = "fake-apiserver:kubectl";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// `fake-apiserver`, and any other name.
    FakeApiserver,
    /// `fake-apiserver assets`.
    Assets,
    /// `fake-apiserver capture`.
    Capture,
    /// `fake-apiserver check`.
    Check,
    /// `fake-apiserver cover`.
    Cover,
    /// `fake-apiserver ensure`.
    Ensure,
    /// `fake-apiserver replay`.
    Replay,
    /// `fake-apiserver report`.
    Report,
    /// `fake-apiserver completion`.
    Completion,
    /// `fake-apiserver run`.
    Run,
    /// `kube-apiserver`, with its defaults.
    KubeApiserver,
    /// The stand-in for `etcd`.
    Etcd,
    /// `fake-apiserver test`.
    Test,
    /// The `kubectl` that is installed.
    Kubectl,
}

impl Role {
    /// The role of a program that is called by that name, with that first argument; and whether that argument says so.
    pub(crate) fn of(called: &OsStr, first: Option<&OsString>) -> (Role, bool) {
        let first = first.and_then(|first| first.to_str());
        let name = Path::new(called).file_name().and_then(OsStr::to_str).unwrap_or_default();
        match (name.strip_suffix(".exe").unwrap_or(name), first) {
            (_, Some(AS_ETCD)) => (Role::Etcd, true),
            (_, Some(AS_KUBECTL)) => (Role::Kubectl, true),
            ("kube-apiserver", _) => (Role::KubeApiserver, false),
            ("etcd", _) => (Role::Etcd, false),
            ("kubectl", _) => (Role::Kubectl, false),
            (_, Some("assets")) => (Role::Assets, true),
            (_, Some("capture")) => (Role::Capture, true),
            (_, Some("check")) => (Role::Check, true),
            (_, Some("cover")) => (Role::Cover, true),
            (_, Some("ensure")) => (Role::Ensure, true),
            (_, Some("replay")) => (Role::Replay, true),
            (_, Some("report")) => (Role::Report, true),
            (_, Some("run")) => (Role::Run, true),
            (_, Some("test")) => (Role::Test, true),
            (_, Some("completion")) => (Role::Completion, true),
            _ => (Role::FakeApiserver, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_decide() {
        for (called, first, role) in [
            ("fake-apiserver", None, Role::FakeApiserver),
            ("/a/b/fake-apiserver", Some("assets"), Role::Assets),
            ("fake-apiserver", Some("run"), Role::Run),
            ("/a/b/kube-apiserver", Some("assets"), Role::KubeApiserver),
            ("kube-apiserver.exe", None, Role::KubeApiserver),
            ("./etcd", Some("--help"), Role::Etcd),
            ("kubectl", None, Role::Kubectl),
            ("kube-apiserver", Some(AS_ETCD), Role::Etcd),
            ("kube-apiserver", Some(AS_KUBECTL), Role::Kubectl),
            ("", None, Role::FakeApiserver),
        ] {
            assert_eq!(Role::of(called.as_ref(), first.map(OsString::from).as_ref()).0, role, "{called}");
        }
    }
}
