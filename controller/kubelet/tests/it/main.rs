//! The crate as its users see it: over the wire, on a file system, through its public interface, and as a process.

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
