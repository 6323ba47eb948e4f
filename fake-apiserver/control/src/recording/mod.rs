//! Recordings: what happened in a run of a server, in a file with a line of JSON each.
//!
//! ```text
//!   {"fakeApiserverRecording":1,"kubernetes":"v1.37.1",...}      the first line
//!   {"at":0,...,"base":{"objects":1}}                            all objects follow, as they are then
//!   {"at":9,...,"present":{...},"object":{...}}
//!   {"at":2041,...,"request":{...}}                              a request, when it was answered
//!   {"at":2060,...,"change":{...},"object":{...}}                an object was stored or removed
//!   {"at":2090,...,"cluster":"one","begun":{}}                   a cluster begins, with what the first one had then
//!   {"at":9120,...,"ended":{}}                                   the last line, unless the server was killed
//! ```
//! Written by servers, and read by those who look at the run afterwards: a report draws it ([`Recording`]), and another server serves the
//! cluster as it was at some moment ([`Moment`]).

mod begun;
mod file;
mod line;
mod moment;
#[cfg(test)]
mod tests;

pub use file::{FORMAT, Header, Recording, RecordingError};
pub use line::{ChangeType, Line, Missed, Sent, Stored, WatchEnded, What};
pub use moment::{At, Kept, Moment};
