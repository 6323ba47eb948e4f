//! The control loops of a cluster that lives: those of kube-controller-manager and kube-scheduler, and a kubelet by rule.
//!
//! ```text
//!   what was written ─▶ Objects (what all loops know) ─▶ Loop::wants ─▶ a queue ─▶ Loop::sync ─▶ Plan: acts, and when again
//!          ▲                                                                                       │
//!          └──────────────────────────── the server, as it answers any client ◀────────────────────┘
//! ```
//! A loop decides, and does nothing else: what it knows, it is given; what it wants, it returns. It knows no server, waits for nothing, and
//! reads no clock, so that the same objects at the same time lead to the same acts, which a test can look at one by one.

mod act;
mod autoscaling;
mod certificates;
mod controller;
mod engine;
mod garbage;
mod kinds;
mod lifecycle;
mod migration;
pub mod nodes;
mod objects;
mod plan;
mod profile;
mod question;
mod resource;
mod services;
mod tools;
mod upkeep;
mod volumes;
pub mod workloads;

pub use act::{Act, Deletion, PatchType, Propagation, Refusal};
pub use controller::{Controller, UnknownController};
pub use engine::{Done, Engine, Failing, Request, Rest, Run};
pub use kinds::{Kinds, ServedKind};
pub use objects::{Change, Objects};
pub use plan::{Keys, Loop, Plan, View};
pub use profile::Profile;
pub use question::{About, Answer, Question};
pub use resource::{Key, Resource};
pub use tools::{Asked, Certificates, Measure, SigningOrder, Tools};
