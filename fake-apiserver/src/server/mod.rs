//! Starting, stopping and reaching a server.

pub mod kubeconfig;
pub mod tls;
