//! The step about versions that are served.

use super::{Builder, StartError};
use crate::discovery::Catalogs;
use crate::registry::{self, Registry};

impl Builder {
    /// Versions and resources to serve or not, as pairs of a key and `true` or `false` (`--runtime-config`): `apps/v1`,
    /// `apps/v1/deployments`, `api/all`, `api/ga`, `api/beta` or `api/alpha`. What cannot be served fails the start.
    #[must_use]
    pub fn runtime_config<K: Into<String>, V: Into<String>>(mut self, pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        self.runtime_config = pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        self
    }

    /// The resources that are served.
    pub(super) fn catalogs(&self) -> Result<Catalogs, StartError> {
        if self.runtime_config.is_empty() {
            return Ok(Catalogs::new());
        }
        let enabled = registry::enabled(&Registry::built_in(), &self.runtime_config);
        enabled.map(Catalogs::of).map_err(StartError::RuntimeConfig)
    }
}
