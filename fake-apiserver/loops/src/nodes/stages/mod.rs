//! Stages: the way of pods and nodes through their lives, as files of kwok (`kwok.x-k8s.io/v1alpha1`, v0.8.0) describe it.
//!
//! ```text
//!   files, objects ── read.rs, template/, query.rs ──▶ Stage ── choice.rs: which one, and when ──▶ play.rs: acts
//! ```

mod choice;
mod file;
mod play;
mod query;
mod read;
mod shelf;
mod template;

pub use file::{StageError, Stages};
pub(super) use play::{Played, Player};
pub(super) use shelf::{STAGES, Shelf};

use crate::act::PatchType;
use query::Query;
use std::time::Duration;
use template::Template;

/// The kinds of objects that stages are about here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stageable {
    Pod,
    Node,
}

/// A stage.
#[derive(Debug, Clone, PartialEq)]
struct Stage {
    name: String,
    about: Stageable,
    /// None selects nothing.
    selector: Option<Selector>,
    weight: i64,
    weight_from: Option<Query>,
    delay: Option<Delay>,
    steps: Vec<Step>,
}

/// All of it must hold.
#[derive(Debug, Clone, Default, PartialEq)]
struct Selector {
    labels: Vec<(String, String)>,
    annotations: Vec<(String, String)>,
    requirements: Vec<Requirement>,
}

#[derive(Debug, Clone, PartialEq)]
struct Requirement {
    query: Query,
    operator: Operator,
    values: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

/// How long a stage takes to come: a time, or one between that and the end.
#[derive(Debug, Clone, Default, PartialEq)]
struct Delay {
    duration: Duration,
    duration_from: Option<Query>,
    end: Option<Duration>,
    end_from: Option<Query>,
}

#[derive(Debug, Clone, PartialEq)]
enum Step {
    Event { warning: bool, reason: String, message: String },
    Finalizers { add: Vec<String>, remove: Vec<String>, empty: bool },
    Delete,
    Patch { subresource: &'static str, root: String, template: Template, patch_type: PatchType },
}
