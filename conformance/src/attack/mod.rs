//! Attacks on an API server, and whether it stays well.
//!
//! ```text
//! fixtures/attacks/*.toml ─▶ data ─ pieces, frames ─▶ exchange ──▶ what came back ─▶ verdict ◀─ answers of a real server, ledger
//! coded/ ───────────────────────────────────────────────┘            vigil, vitals ───┘ └▶ report, score
//! ```
//!
//! During an attack a [`vigil`](crate::vigil) polls the server on a thread of its own, and afterwards the [`vitals`] of the process have
//! to be back within bounds. The expected answers are those of a real kube-apiserver.

pub mod act;
pub mod answers;
pub mod catalogue;
pub mod cli;
pub mod coded;
pub mod connect;
pub mod data;
pub mod events;
pub mod exchange;
pub mod frames;
pub mod ground;
pub mod pieces;
pub mod record;
pub mod requests;
pub mod score;
pub mod suite;
pub mod verdict;
pub mod vitals;
