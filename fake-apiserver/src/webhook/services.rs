//! The services that webhooks are behind: where a connection to one leads.

use std::fmt;

/// A host, by name or address, and a port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Address {
    /// `host:port`, as in URLs.
    pub(crate) fn authority(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

/// The addresses of services (`ServiceResolver` upstream).
pub(crate) trait Services: fmt::Debug + Send + Sync {
    /// The address to connect to for a port of a service.
    ///
    /// # Errors
    /// The reason that there is none, in upstream's words.
    fn address(&self, namespace: &str, name: &str, port: u16) -> Result<Address, String>;

    /// Whether somebody has said where a port of a service leads, whatever the cluster knows of it.
    fn is_given(&self, namespace: &str, name: &str, port: u16) -> bool;
}
