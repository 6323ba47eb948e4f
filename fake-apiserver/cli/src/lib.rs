//! The command line of the program `fake-apiserver`: kube-apiserver's flags where it has one for the purpose, and a few of a test
//! server's own. [`Flags`] read from text describe the same server to a program that embeds it.

#![warn(clippy::print_stderr, clippy::print_stdout)]

mod flags;

pub use flags::Flags;
