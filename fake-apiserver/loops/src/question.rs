//! Questions to a kubelet, as clients ask them by way of the API server.

use crate::resource::Key;
use jiff::Timestamp;

/// A question about a container of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The pod.
    pub pod: Key,
    /// The container.
    pub container: String,
    /// What is asked.
    pub about: About,
}

/// What is asked about a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// Its log.
    Log {
        /// Of the run before.
        previous: bool,
    },
    /// What a command in it does.
    Exec {
        /// The words of the command.
        command: Vec<String>,
    },
    /// What it says.
    Attach,
}

/// A kubelet's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The lines of a log, with their times.
    Log(Vec<(Timestamp, String)>),
    /// What a command prints, and the code with which it exits.
    Output {
        /// On its standard output.
        stdout: String,
        /// On its standard error.
        stderr: String,
        /// The code.
        code: i64,
    },
    /// No answer: the status code, and why.
    Refused(u16, String),
}
