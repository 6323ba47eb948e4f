//! The cache of built programs: outside the tree, by version, so that all checkouts share them.
//!
//! ```text
//! ~/.cache/fake-apiserver/v1.37.1/{etcd,kube-apiserver,kube-controller-manager,kube-scheduler,kubectl}
//! ~/.cache/fake-apiserver/v1.36.6/kubectl
//! ~/.cache/fake-apiserver/v1.25.4/kube-controller-manager
//! ```

use anyhow::{Context as _, Result, ensure};
use std::path::PathBuf;

/// The emulated version, and that of the control plane built for comparison.
pub const VERSION: &str = "v1.37.1";
/// The version of the controller manager that still creates tokens for accounts without one.
pub const TOKEN_GENERATING_VERSION: &str = "v1.25.4";
/// The version of the oldest kubectl that Kubernetes' policy of version skew allows with the emulated version: one minor version below.
pub const OLDEST_CLIENT_VERSION: &str = "v1.36.6";

/// The folder of the programs of one version, which need not exist. `XDG_CACHE_HOME` moves it.
///
/// # Errors
/// If neither `XDG_CACHE_HOME` nor `HOME` is set.
pub fn folder(version: &str) -> Result<PathBuf> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    Ok(cache.context("neither XDG_CACHE_HOME nor HOME is set")?.join("fake-apiserver").join(version))
}

/// The path of a program of one version.
///
/// # Errors
/// If it was not built.
pub fn program(version: &str, name: &str) -> Result<PathBuf> {
    let path = folder(version)?.join(name);
    ensure!(path.exists(), "{name} {version} was not built; `cargo xtask real build` does that (it needs Go)");
    Ok(path)
}
