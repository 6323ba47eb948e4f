//! Tests of the crate through its public interface and its binary: over the wire and on a file system.

mod atomic_writer;
mod binary;
mod confined;
mod environment;
mod killed_writer;
mod managers;
mod node;
mod setup;
mod token_manager;
mod volume_content;
