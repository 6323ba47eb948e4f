//! The words in which a fake-apiserver is told what to do, and asked what it has seen.
//!
//! ```text
//!   a test in Rust ──────────────▶ Order, Question ──▶ Obeys: the server, or a client of its control port
//!   HTTP: /_fake/v1/... (serde) ──────▲
//!   a scenario's line (FromStr) ──────┘
//! ```
//! One vocabulary stands behind three doors, and knows none of them: neither the server nor the wire. What can be decided about records of
//! requests alone is decided here too, by pure functions: whether one matches ([`Match`]), which come close and why not ([`Wait`]), whether
//! they are those that a test expects ([`Verify`]), what no test thought of ([`findings`]), and what a recorded run was like at some moment
//! ([`recording`]).

mod answer;
mod changes;
pub mod coverage;
mod decode;
pub mod fault;
pub mod findings;
mod glob;
mod matching;
pub mod near;
mod number;
mod obeys;
mod object;
mod order;
mod preset;
mod question;
pub mod recording;
mod refusal;
mod request;
mod text;
mod verify;
mod wait;

pub use answer::{
    Answer, ClockAnswer, ClusterAnswer, FaultAnswer, FaultStatus, ReplicaAnswer, SeedAnswer, SettledAnswer,
    SnapshotAnswer,
};
pub use changes::{Change, Changes, Named, Writer};
pub use coverage::CoveredRule;
pub use decode::decode;
pub use fault::Rule;
pub use findings::Finding;
pub use glob::{escaped, glob};
pub use matching::{Match, Requested};
pub use obeys::{Asking, Obeying, Obeys};
pub use object::WaitObject;
pub use order::{
    ClusterUser, Cut, Ending, Endpoint, From, HoldOnly, NewCluster, Order, Pace, ReplicaChange, Revisions, Running,
    ViewState,
};
pub use preset::Preset;
pub use question::{Question, Requests, Watches};
pub use refusal::{Cause, Details, Refusal};
pub use request::{Request, Struck};
pub use verify::{Expected, Others, Sequence, Verify};
pub use wait::{Count, NearMiss, Wait, satisfied};
