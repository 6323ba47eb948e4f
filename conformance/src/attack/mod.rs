//! Attacks on an API server, and whether it stays well.
//!
//! ```text
//! fixtures/attacks/*.toml ─▶ data ─ pieces, frames ─▶ exchange ──▶ what came back ─▶ verdict ◀─ answers of a real server, ledger
//! coded/ ───────────────────────────────────────────────┘            vigil, vitals ───┘ └▶ report, score
//! ```
//!
//! While a server is attacked, a [`vigil`] asks on a thread of its own whether it is well, and the [`vitals`] of its process have
//! to come back when the attack is over. What the answers are is for a real kube-apiserver to say.

pub mod act;
pub mod answers;
pub mod catalogue;
pub mod cli;
pub mod coded;
pub mod connect;
pub mod data;
pub mod exchange;
pub mod frames;
pub mod ground;
pub mod pieces;
pub mod record;
pub mod requests;
pub mod score;
pub mod suite;
pub mod verdict;
pub mod vigil;
pub mod vitals;
