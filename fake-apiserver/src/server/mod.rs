//! Starting, stopping and reaching a server.

mod kubeconfig;
mod tls;
