//! Tests of the crate through its public interface and its binary, over the wire.

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
