//! Measurement of creates that a quota counts, each of which changes its status.

use super::Bench;
use super::load::COUNTED_CREATES;

impl Bench<'_> {
    /// Measures creates in a namespace with a quota.
    pub(super) async fn counted_creates(&mut self) -> anyhow::Result<()> {
        if !self.wants(COUNTED_CREATES.name) {
            return Ok(());
        }
        for server in self.api_servers() {
            server.limit().await?;
        }
        let servers = self.servers.clone();
        self.load(&COUNTED_CREATES, &servers).await
    }
}
