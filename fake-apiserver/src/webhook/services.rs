//! The services that webhooks are behind: where a connection to one leads.

use std::fmt;

/// A host, by name or address, and a port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// The addresses of services (`ServiceResolver` upstream).
pub(crate) trait Services: fmt::Debug + Send + Sync {
    /// The address to connect to for a port of a service.
    ///
    /// # Errors
    /// The reason that there is none, in upstream's words.
    fn address(&self, namespace: &str, name: &str, port: u16) -> Result<Address, String>;
}
