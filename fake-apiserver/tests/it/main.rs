//! The server from outside.

mod binary;
