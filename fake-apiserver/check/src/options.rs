//! The question: the objects, and the cluster that they are for.

use crate::client::User;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The treatment of webhooks that have no address here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unreached {
    /// They are not asked; the report says so.
    #[default]
    Skip,
    /// They are called as configured, which fails; their failure policy decides.
    Fail,
}

/// A question: would these objects be admitted?
#[derive(Debug, Clone)]
pub struct Options {
    /// The files and folders with the objects that are judged; `-` is the standard input.
    pub files: Vec<PathBuf>,
    /// The files and folders with objects that are in the cluster already.
    pub given: Vec<PathBuf>,
    /// The file with a captured cluster, as `capture` writes it. Without one the cluster is a new one.
    pub cluster: Option<PathBuf>,
    /// The namespace of objects that name none. In a new cluster it is made.
    pub namespace: String,
    /// Whether all namespaces are made that objects name.
    pub create_namespaces: bool,
    /// The user that applies the objects; an administrator by default.
    pub user: Option<User>,
    /// The addresses of webhooks, by their names.
    pub webhooks: BTreeMap<String, String>,
    /// The file with the certificates, in PEM, that those addresses are verified with; by default the ones of each webhook's configuration.
    pub webhook_authority: Option<PathBuf>,
    /// The treatment of the other webhooks.
    pub unreached: Unreached,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            files: Vec::new(),
            given: Vec::new(),
            cluster: None,
            namespace: "default".to_owned(),
            create_namespaces: false,
            user: None,
            webhooks: BTreeMap::new(),
            webhook_authority: None,
            unreached: Unreached::default(),
        }
    }
}
