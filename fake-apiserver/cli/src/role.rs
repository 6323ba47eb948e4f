//! The role of the program, by the name that it is called by.

use std::ffi::{OsStr, OsString};
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// `fake-apiserver`, and any other name.
    FakeApiserver,
    /// `fake-apiserver assets`.
    Assets,
    /// `kube-apiserver`, with its defaults.
    KubeApiserver,
    /// The stand-in for `etcd`.
    Etcd,
    /// The `kubectl` that is installed.
    Kubectl,
}

impl Role {
    /// The role of a program that is called by that name, with that first argument.
    pub(crate) fn of(called: &OsStr, first: Option<&OsString>) -> Role {
        let name = Path::new(called).file_name().and_then(OsStr::to_str).unwrap_or_default();
        match name.strip_suffix(".exe").unwrap_or(name) {
            "kube-apiserver" => Role::KubeApiserver,
            "etcd" => Role::Etcd,
            "kubectl" => Role::Kubectl,
            _ if first.is_some_and(|first| first == "assets") => Role::Assets,
            _ => Role::FakeApiserver,
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
            ("/a/b/kube-apiserver", Some("assets"), Role::KubeApiserver),
            ("kube-apiserver.exe", None, Role::KubeApiserver),
            ("./etcd", Some("--help"), Role::Etcd),
            ("kubectl", None, Role::Kubectl),
            ("", None, Role::FakeApiserver),
        ] {
            assert_eq!(Role::of(called.as_ref(), first.map(OsString::from).as_ref()), role, "{called}");
        }
    }
}
