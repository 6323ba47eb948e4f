//! The chain of a server's plugins, and its two phases.

use super::manifests::Reloaded;
use super::plugin::{Attributes, Plugin, Verdict};
use super::plugins::namespace_lifecycle;
use crate::auth::Notes;
use crate::error::ApiResult;
use std::sync::Arc;
use tree::Value;

/// The plugins of a server by name, in upstream's order.
pub(crate) struct Chain(pub(super) Vec<(&'static str, Box<dyn Plugin>)>);

impl Chain {
    /// Whether objects are created only in a namespace that exists and is not terminating.
    pub(crate) fn needs_namespaces(&self) -> bool {
        self.0.iter().any(|(name, _)| *name == namespace_lifecycle::NAME)
    }

    /// The folders that are read again when they change.
    pub(crate) fn folders(&self) -> impl Iterator<Item = Arc<dyn Reloaded>> {
        self.0.iter().filter_map(|(_, plugin)| plugin.folder())
    }

    /// The mutating phase of all plugins, twice if one asks for that (`reinvoker` upstream).
    ///
    /// # Errors
    /// The first plugin's refusal.
    pub(crate) async fn mutate(&self, write: &Attributes<'_>, object: &mut Value, notes: &mut Notes) -> ApiResult<()> {
        self.round(write, object, notes).await?;
        if write.reinvocation.again() {
            self.round(write, object, notes).await?;
        }
        Ok(())
    }

    async fn round(&self, write: &Attributes<'_>, object: &mut Value, notes: &mut Notes) -> ApiResult<()> {
        for (name, plugin) in &self.0 {
            let verdict = match plugin.mutate(write, object, notes) {
                Verdict::Now(verdict) => verdict,
                Verdict::Later(verdict) => {
                    write.reinvocation.wait();
                    verdict.await
                }
            };
            verdict.inspect_err(|refusal| write.log_refusal(name, refusal))?;
        }
        Ok(())
    }

    /// The validating phase of all plugins.
    ///
    /// # Errors
    /// The first plugin's refusal.
    pub(crate) async fn validate(&self, write: &Attributes<'_>, object: &Value, notes: &mut Notes) -> ApiResult<()> {
        for (name, plugin) in &self.0 {
            let verdict = match plugin.validate(write, object, notes) {
                Verdict::Now(verdict) => verdict,
                Verdict::Later(verdict) => {
                    write.reinvocation.wait();
                    verdict.await
                }
            };
            verdict.inspect_err(|refusal| write.log_refusal(name, refusal))?;
        }
        Ok(())
    }
}
