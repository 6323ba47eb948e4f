//! Rules for what becomes of pods: `app=web: ready after 2s; image=*:bad: ImagePullBackOff; job/*: fail 1 of 3`.
//!
//! The first rule decides whose selector selects the pod. A pod without a rule is ready at once; if it is a job's, it succeeds at once.

mod clauses;
mod glob;
mod parse;
mod scan;

use crate::objects::Objects;
use crate::resource::{Key, Resource};
use crate::workloads::facts::{owners, read};
use glob::Glob;
use machinery::object::meta;
pub use parse::RuleError;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tree::Value;

/// The resources whose objects may stand between a pod and what a rule names.
pub(crate) const SETS: Resource = Resource::new("apps", "v1", "replicasets");
pub(crate) const JOBS: Resource = Resource::new("batch", "v1", "jobs");

/// Rules, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules(Vec<Rule>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    /// All of them must hold.
    selectors: Vec<Selector>,
    fate: Fate,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Selector {
    Label {
        key: String,
        value: Glob,
    },
    Image(Glob),
    Namespace(Glob),
    /// The pod, its controller, or the controller of that, by kind in lower case and name.
    Object {
        kind: String,
        name: Glob,
    },
}

/// The fate of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fate {
    pub(super) outcome: Outcome,
    /// How long it takes to end when it is deleted.
    pub(super) gone: Gone,
    /// The use of each of its containers, in thousandths, by resource.
    pub(super) usage: Vec<(String, i64)>,
    /// The text of its log.
    pub(super) log: Option<String>,
    pub(super) execs: Vec<Exec>,
    /// Where ports lead.
    pub(super) ports: Vec<(u16, SocketAddr)>,
    /// The rule, or nothing.
    pub(super) rule: Arc<str>,
}

/// The outcome of a command in a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Exec {
    /// The command, with blanks between its words.
    pub(super) command: Glob,
    pub(super) prints: String,
    /// The code with which it exits.
    pub(super) code: i64,
}

impl Fate {
    /// The life of a pod about which nothing else is said.
    fn of(outcome: Outcome) -> Fate {
        let (gone, usage, log, execs, ports) = Default::default();
        Fate { outcome, gone, usage, log, execs, ports, rule: "".into() }
    }
}

/// How long a pod takes to end when it is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Gone {
    #[default]
    AtOnce,
    /// Its grace is not enough, and is used up.
    AfterGrace,
    After(Duration),
}

/// The life of a pod that is on a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Its containers run at once, and are ready later.
    Ready { after: Duration },
    /// Its containers run later, and are never ready.
    Running { after: Duration },
    /// Its containers are never created.
    Pending,
    /// The images of its containers, or of those that match, are not there.
    NoImage(Option<GlobOfImage>),
    /// Its containers exit.
    Exit { code: i64, after: Duration },
    /// The first ones of so many pods with the same owner exit with 1, and the others do what pods without a rule do.
    Fail { first: u64, of: u64, after: Duration },
}

/// A pattern of images.
pub(super) type GlobOfImage = Glob;

impl Rules {
    /// The fate of a pod by the first rule that selects it.
    pub(super) fn fate(&self, pod: &Value, objects: &Objects) -> Option<&Fate> {
        let rule = self.0.iter().find(|rule| rule.selectors.iter().all(|selector| selector.selects(pod, objects)));
        rule.map(|rule| &rule.fate)
    }
}

/// The fate of a pod without a rule.
pub(super) fn without(pod: &Value) -> Fate {
    Fate::of(by_default(pod))
}

/// The life of a pod without a rule.
pub(super) fn by_default(pod: &Value) -> Outcome {
    match owners::controller(pod).map(|owner| read::text(owner, "/kind")) {
        Some("Job") => Outcome::Exit { code: 0, after: Duration::ZERO },
        _ => Outcome::Ready { after: Duration::ZERO },
    }
}

impl Selector {
    fn selects(&self, pod: &Value, objects: &Objects) -> bool {
        match self {
            Selector::Label { key, value } => meta::labels(pod).get(key).is_some_and(|label| value.matches(label)),
            Selector::Namespace(namespace) => namespace.matches(meta::namespace(pod)),
            Selector::Image(image) => images(pod).any(|other| image.matches(other)),
            Selector::Object { kind, name } => {
                (kind == "pod" && name.matches(meta::name(pod))) || is_of(pod, kind, name, objects)
            }
        }
    }
}

fn images(pod: &Value) -> impl Iterator<Item = &str> {
    let containers = read::list(pod, "/spec/initContainers").iter().chain(read::list(pod, "/spec/containers"));
    containers.map(|container| read::text(container, "/image"))
}

fn is_of(pod: &Value, kind: &str, name: &Glob, objects: &Objects) -> bool {
    let Some(owner) = owners::controller(pod) else { return false };
    let is = |owner: &Value| {
        read::text(owner, "/kind").eq_ignore_ascii_case(kind) && name.matches(read::text(owner, "/name"))
    };
    is(owner) || parent(pod, owner, objects).is_some_and(|parent| owners::controller(&parent).is_some_and(is))
}

/// The object that a reference is to, if it may have a controller.
fn parent(pod: &Value, owner: &Value, objects: &Objects) -> Option<Arc<Value>> {
    let resource = match read::text(owner, "/kind") {
        "ReplicaSet" => SETS,
        "Job" => JOBS,
        _ => return None,
    };
    let key = Key { namespace: meta::namespace(pod).to_owned(), name: read::text(owner, "/name").to_owned() };
    objects.get(&resource, &key).cloned()
}
