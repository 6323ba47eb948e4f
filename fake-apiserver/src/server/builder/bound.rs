//! The bound ports of replicas.

use super::error::StartError;
use crate::server::listener;
use std::net::{IpAddr, SocketAddr};
use tokio::net::TcpListener;

/// The bound ports of a replica.
pub(super) struct Bound {
    pub(super) secure: Option<(TcpListener, SocketAddr)>,
    pub(super) insecure: Option<(TcpListener, SocketAddr)>,
}

impl Bound {
    /// The address of the HTTPS port, or of the plain HTTP port if it has only that.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.secure.as_ref().or(self.insecure.as_ref()).map(|(_, address)| *address)
    }
}

/// Binds the ports of all replicas: the HTTPS ports from the one on, the plain HTTP ports from the other.
///
/// # Errors
/// If a port is taken, or there are too few.
pub(super) fn bind(
    address: IpAddr,
    [secure, insecure]: [Option<u16>; 2],
    replicas: usize,
) -> Result<Vec<Bound>, StartError> {
    let listen = |first: Option<u16>, index| first.map(|first| listen(address, first, index, replicas)).transpose();
    let bound = |index| Ok(Bound { secure: listen(secure, index)?, insecure: listen(insecure, index)? });
    (0..replicas).map(bound).collect()
}

/// Binds the port of a replica: `first` and those that follow it, or any.
fn listen(ip: IpAddr, first: u16, replica: usize, replicas: usize) -> Result<(TcpListener, SocketAddr), StartError> {
    let port = match first {
        0 => Some(0),
        _ => u16::try_from(replica).ok().and_then(|replica| first.checked_add(replica)),
    };
    let address = SocketAddr::new(ip, port.ok_or(StartError::Ports { first, replicas })?);
    let failed = |source| StartError::Listen { address, source };
    let listener = listener::bind(address).map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}
