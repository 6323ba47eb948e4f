//! Costs of single requests to the server, judged without a clock: allocations, parses, walks, look-ups, copies, encodes, tasks; and
//! instructions, where valgrind can count them.
//!
//! ```text
//!   cases ──▶ measure ──▶ table ──▶ fixtures/costs.txt
//!               │  ▲
//!       connection  server (on a thread of its own)
//! ```
//! The client allocates nothing while it is measured, so that all allocations are the server's.

mod cases;
mod connection;
mod forks;
mod measure;
mod table;
mod webhook;
mod work;

pub use cases::{CASES, Case};
pub use forks::{Forks, forks};
pub use measure::{send, table};
pub use table::{Row, Table};
pub use work::Costs;

/// The allocator of the programs that measure.
pub use stats_alloc::{INSTRUMENTED_SYSTEM as COUNTED, StatsAlloc};
