//! The recorder: what happens in a run goes to a file, while it happens.
//!
//! ```text
//!   requests, watches, faults, orders ──▶ Tape, a bounded queue ──▶ a thread ──▶ Lines ──▶ file
//!   store ─────────────────────────────── followed ────────────────────┤
//!   clock ─────────────────────────────── watched ─────────────────────┘
//! ```
//! Those who serve do no more than put a line into the queue, and its text is made by the thread. Objects are not even put there: the thread
//! follows the store. What finds no room is counted, and the file says so. The words of the lines are those of the crate `control`.

mod followed;
mod lines;
mod pace;
mod tape;
mod writer;

pub(crate) use tape::Recorder;
pub(crate) use writer::{Subject, start};
