//! The command line of the program `fake-apiserver`: kube-apiserver's flags where they exist, and a few of a test server's
//! own. A program that embeds the server can parse [`Flags`] from text, too.

#![warn(clippy::print_stderr, clippy::print_stdout)]

pub mod control;
mod errors;
mod flags;

pub use errors::{Advised, exit_code};
pub use flags::{Flags, OWN_FLAGS};
