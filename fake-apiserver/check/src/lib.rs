//! Verdicts on manifests, as a cluster would give them: an API server in this process, with all rules of a real one, is asked as `kubectl apply
//! --dry-run=server` asks.
//!
//! ```text
//!   files ── documents/ ──▶ objects ── order.rs ──▶ ranks ── judge/ ──▶ requests of kubectl/ ──▶ the server
//!                                                                          verdicts ◀── refusal.rs ◀──┘
//!                                           report/ ◀── text, JSON, JUnit, SARIF, annotations of GitHub
//! ```

pub mod capture;
mod cases;
mod client;
pub mod documents;
mod judge;
mod kinds;
mod kubectl;
mod options;
mod order;
mod refusal;
pub mod report;
mod session;
mod upgrade;
mod verdict;
mod webhooks;

pub use cases::{SCHEMA, test};
pub use client::User;
pub use judge::check;
pub use options::{Options, Unreached};
pub use report::Report;
pub use upgrade::upgrade;
pub use verdict::{Cause, Change, Finding, Identity, Judged, Rule, RuleKind, Verdict};
