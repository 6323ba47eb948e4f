//! A real Kubernetes control plane, built from Kubernetes' Go modules (`conformance/control-plane/`).
//!
//! ```text
//! cargo xtask real build      programs ─▶ cache
//! cargo xtask real up         cache, plan ─▶ programs that stay until `down`
//! --target real               cache, plan ─▶ programs that end with the run
//! --target kcm                cache ─▶ controller managers that end with the scenario, on the fake
//! ```

mod build;
pub mod cache;
pub mod cli;
mod detached;
mod failures;
mod guard;
mod kubeconfig;
mod launch;
pub mod manager;
pub(crate) mod plan;
pub mod sentinel;

pub use launch::ControlPlane;
pub use plan::{Options, RECORDED_USERS};
