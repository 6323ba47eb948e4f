//! The crate as its users see it: over the wire, through its public interface, and as a process.

mod binary;
mod calls;
mod election;
mod failures;
mod keys;
mod life;
mod objects;
mod retry_after;
mod setup;
mod token_creation;
