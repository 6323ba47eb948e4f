//! The crate as its users see it: over the wire, through its public interface, and as a process.

mod binary;
mod calls;
mod election;
mod failures;
mod keys;
mod legacy_token_cleaner;
mod life;
mod objects;
mod retry_after;
mod root_ca;
mod service_accounts;
mod serving;
mod setup;
mod steps;
mod token_creation;
