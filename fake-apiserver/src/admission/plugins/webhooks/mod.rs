//! The plugins that call webhooks.
//!
//! ```text
//!   configurations ──▶ hooks that are about the write ──▶ review ──▶ call ──▶ verdict ──▶ (mutating) patch ──▶ object
//! ```
//! While no webhook's rules are about a write, it costs a look at the index. Waiting for webhooks holds no lock and no thread.
//!
//! Follows `k8s.io/apiserver/pkg/admission/plugin/webhook/generic/webhook.go` (v0.37.1).

mod call;
mod configurations;
mod configured;
mod hook;
mod hooks;
pub(super) mod mutating;
mod patch;
mod review;
pub(super) mod validating;
