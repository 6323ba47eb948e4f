//! The judge: compares a run with its scenario, with a real kube-apiserver's recorded answers, and with the guarantees of every API server.
//!
//! * a [`scenario`] is a text: commands, and the observation expected under each;
//! * a [`history`] is the record of one run, a [`dialogue`] the same in the words of the scenario;
//! * a [`check`] is a pure function of these: the dialogue with the text, and the guarantees that always hold;
//! * an [`exchange`] is a whole answer with words in place of what differs from run to run ([`normalise`]), to be
//!   compared with a recorded one;
//! * the [`ledger`] lists the known differences, a [`verdict`] says what a finding means, [`report`] and [`score`] show the results.
//!
//! Nothing here sends a request: the crate depends neither on the server nor on a client of it.

pub mod baseline;
pub mod check;
pub mod dialogue;
pub mod exchange;
pub mod history;
pub mod ledger;
pub mod names;
pub mod normalise;
pub mod observation;
pub mod report;
pub mod scenario;
pub mod score;
pub mod verdict;
