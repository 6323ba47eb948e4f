//! A folder of manifests, which is read again when it changes.

use super::load::{Loaded, load};
use super::manifest::FromManifests;
use crate::admission::config::Config;
use crate::admission::error::PluginError;
use crate::error::FieldError;
use crate::files;
use crate::reloads::{Reloads, Subject};
use arc_swap::ArcSwap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A folder of manifests, and what is made of them.
pub(crate) struct Folder<S> {
    plugin: &'static str,
    path: PathBuf,
    current: ArcSwap<S>,
    /// The hash of the content that was read last.
    hash: Mutex<String>,
    reloads: Arc<Reloads>,
}

/// A folder that is read again when it changes.
pub(crate) trait Reloaded: Send + Sync {
    /// The folder.
    fn path(&self) -> &Path;

    /// Reads it again. What is wrong is logged and counted, and changes nothing else.
    fn reload(&self);

    /// The count of that.
    fn reloads(&self) -> &Arc<Reloads>;
}

impl<S: FromManifests> Folder<S> {
    /// The folder that the configuration of a plugin names, with manifests of the resources of its state; `None`, if it names none.
    ///
    /// # Errors
    /// If there is no such folder, or it has wrong manifests.
    pub(crate) fn named(
        path: &str,
        plugin: &'static str,
        config: &Config,
    ) -> Result<Option<Arc<Folder<S>>>, PluginError> {
        if path.is_empty() {
            return Ok(None);
        }
        check(path, config).map_err(|finding| PluginError::not_made(plugin, finding))?;
        let what = if plugin.ends_with("Webhook") { "webhook" } else { "policy" };
        let Loaded { manifests, hash } = load(Path::new(path), S::RESOURCES).map_err(|why| {
            let why = format!("failed to load static {what} manifests from {path:?}: {why}");
            PluginError::not_initialized(plugin, why)
        })?;
        let reloads = Reloads::new(Subject::Manifests(plugin), config.clock.clone());
        reloads.succeeded(&hash);
        Ok(Some(Arc::new(Folder {
            plugin,
            path: path.into(),
            current: ArcSwap::from_pointee(S::of(manifests)),
            hash: hash.into(),
            reloads: reloads.into(),
        })))
    }

    /// The state that is made of the manifests as they were read last.
    pub(crate) fn current(&self) -> Arc<S> {
        self.current.load_full()
    }
}

impl<S: FromManifests> Reloaded for Folder<S> {
    fn path(&self) -> &Path {
        &self.path
    }

    fn reload(&self) {
        match load(&self.path, S::RESOURCES) {
            Err(why) => {
                tracing::error!(plugin = self.plugin, dir = %self.path.display(), "reloading manifest config: {why}");
                self.reloads.failed();
            }
            Ok(Loaded { manifests, hash }) => {
                let mut known = self.hash.lock().unwrap_or_else(PoisonError::into_inner);
                if *known == hash {
                    return;
                }
                self.current.store(Arc::new(S::of(manifests)));
                tracing::info!(plugin = self.plugin, dir = %self.path.display(), "reloaded manifest config");
                self.reloads.succeeded(&hash);
                *known = hash;
            }
        }
    }

    fn reloads(&self) -> &Arc<Reloads> {
        &self.reloads
    }
}

/// Checks the name of a folder in the configuration of a plugin (`ValidateStaticManifestsDir`).
///
/// # Errors
/// If it is not the path of one, or may not be used.
pub(crate) fn check(path: &str, config: &Config) -> Result<(), FieldError> {
    const FIELD: &str = "staticManifestsDir";
    if path.is_empty() {
        return Ok(());
    }
    if config.without_manifests {
        let why = "staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled";
        return Err(FieldError::forbidden(FIELD, why));
    }
    let invalid = |why: &str| Err(FieldError::invalid(FIELD, &path.into(), why));
    if !path.starts_with('/') {
        return invalid("must be an absolute file path");
    }
    match std::fs::metadata(path) {
        Err(error) => invalid(&format!("unable to read: stat {path}: {}", files::reason(&error))),
        Ok(found) if !found.is_dir() => invalid("must be a directory"),
        Ok(_) => Ok(()),
    }
}
