//! The managers of secrets and config maps, and the connections that they share.

mod cached;
mod client;
mod faults;
mod gate;
mod many;
mod pods;
mod registry;
mod setup;
mod storm;
mod strategies;
mod test_clock;
mod watched;
