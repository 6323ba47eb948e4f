//! Questions to a kubelet, as clients ask them by way of the API server.

use crate::resource::Key;
use jiff::Timestamp;
use std::net::SocketAddr;

/// A question about a container of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The pod.
    pub pod: Key,
    /// The container.
    pub container: String,
    /// The question.
    pub about: About,
}

/// A question about a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// Its log.
    Log {
        /// Of the run before.
        previous: bool,
    },
    /// The outcome of a command in it.
    Exec {
        /// The words of the command.
        command: Vec<String>,
    },
    /// The text of its log.
    Attach,
    /// Where ports of the pod lead; the container does not matter.
    Ports(Vec<u16>),
}

/// A kubelet's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The lines of a log, with their times.
    Log(Vec<(Timestamp, String)>),
    /// The output of a command, and the code with which it exits.
    Output {
        /// On its standard output.
        stdout: String,
        /// On its standard error.
        stderr: String,
        /// The code.
        code: i64,
    },
    /// Where ports lead, in the order of the question, or why one leads nowhere.
    Ports(Vec<(u16, Result<SocketAddr, String>)>),
    /// No answer: the status code, and why.
    Refused(u16, String),
}
