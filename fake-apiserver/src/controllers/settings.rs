//! The settings of controllers.

use crate::living::Signing;
use loops::Controller;
use loops::nodes::{Rules, Stages};
use std::collections::BTreeSet;

/// The controllers to run, and their options.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    pub(crate) kinds: BTreeSet<Controller>,
    /// Whether every service account gets a token secret, as up to Kubernetes 1.23, but not in the server's version.
    pub(crate) auto_generate_tokens: bool,
    /// The nodes of the kubelet; `node-1` if none is named.
    pub(crate) nodes: Vec<String>,
    /// The rules by which pods run.
    pub(crate) pods: Rules,
    /// The stages of pods and nodes.
    pub(crate) stages: Stages,
    /// Whether the cluster has a class of volumes, and the kind of objects with rules for pods.
    pub(crate) furnished: bool,
    /// The signer of requests for certificates.
    pub(crate) signing: Signing,
}
