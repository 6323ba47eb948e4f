//! Webhooks and policies in files: the folder that the configuration of a plugin names (`staticManifestsDir`).
//!
//! ```text
//!   folder ──▶ documents, a hash ──▶ objects: decoded, defaults set, validated ──▶ the state that the plugin asks, before that of the store
//!     └── changes ──────────────────────────▶ again; if something is wrong, the state stays
//! ```
//! Follows `pkg/admission/plugin/{manifest,webhook/manifest,policy/manifest}` of `k8s.io/apiserver` (v0.37.1), and
//! `pkg/admission/plugin/{webhook,policy}/manifest/loader` (v1.37.1).

mod documents;
mod folder;
mod load;
mod manifest;
mod rules;

pub(crate) use folder::{Folder, Reloaded, check};
pub(crate) use manifest::{FromManifests, Manifest};
