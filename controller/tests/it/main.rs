//! The crate as its users see it: over the wire, through its public interface, and as a process.


mod calls;

mod failures;
mod keys;

mod objects;
mod setup;
mod token_creation;
