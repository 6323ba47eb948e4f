//! Written scenarios, played against an API server and judged.
//!
//! * a [`scenario`] is a text that reads aloud: commands, and what is observed under each;
//! * a [`target`] is what it is played against: the fake as a library, as a process, or a real kube-apiserver;
//! * [`play`] carries out the commands (the [`verbs`]) and writes a [`history`];
//! * a [`check`] is a pure function of a history: the dialogue with the text, and the guarantees that always hold;
//! * the [`ledger`] lists the known differences, and the [`report`] says how it went.

pub mod bless;
pub mod check;
pub mod cli;
mod client;
pub mod control_plane;
pub mod controllers;
pub mod exchange;
pub mod history;
pub mod kubelets;
pub mod ledger;
pub mod names;
pub mod normalise;
pub mod observation;
pub mod play;
pub mod policy;
pub mod report;
mod resources;
pub mod scenario;
pub mod score;
pub mod soak;
pub mod stage;
pub mod suite;
pub mod target;
pub mod verbs;
pub mod verdict;
