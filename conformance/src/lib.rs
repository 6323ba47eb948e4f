//! The player of written scenarios: against the fake and against real API servers.
//!
//! * a [`subject`] is what they are played against: the fake as a library, as a process, or a real kube-apiserver;
//! * [`play`] carries out the commands (the [`verbs`]) on a [`stage`] and writes a history;
//! * the [`suite`] lets the crate `conformance-judge`, which knows no server, judge what happened;
//! * [`bless`] lets a real server say what is right;
//! * [`soak`] is a storm of writes for a real controller.

mod answers;
pub mod bless;
pub mod cli;
mod client;
pub mod control_plane;
mod credentials;
mod deadline;
pub mod kinds;
pub mod kubelets;
pub mod play;
pub mod policy;
mod recorder;
mod resources;
pub mod soak;
pub mod stage;
pub mod subject;
pub mod suite;
pub mod verbs;
