//! Control loops in the server: a cluster that lives.
//!
//! ```text
//!   store ── history ──▶ known.rs: objects, in the versions that loops know ──▶ Engine (the crate `loops`) decides
//!     ▲                                                                          │ one request at a time
//!     └────────────── http/: the one pipeline ◀── send.rs, as the loop's user ◀──┘
//! ```
//! A cluster with loops has one task, which sleeps until something is written, due, or asked for. A cluster without loops has none, and its
//! store nobody who follows it. The loops' requests are those of any client: authorized, admitted, struck by faults, audited, recorded. Only
//! their user needs no credentials, as it is known from within the process, and nobody else can be it.

mod furniture;
mod kinds;
mod known;
mod life;
mod send;
mod signing;

pub(crate) use send::Stepped;
pub(crate) use signing::Signing;

use crate::http::Replica;
use crate::kubelets::Kubelets;
use futures::future::BoxFuture;
use life::{Life, Order};
use loops::{Answer, Loop, Question, Rest};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The loops of a cluster. They end when the server does.
pub(crate) struct Living {
    names: Vec<&'static str>,
    /// Those that are paused.
    paused: Mutex<BTreeSet<&'static str>>,
    orders: mpsc::UnboundedSender<Order>,
    tasks: TaskTracker,
}

impl Living {
    /// Lets loops live by requests to that replica, until `stop`; `furnished`, the cluster gets a class of volumes and a kind for rules.
    pub(crate) fn start(
        replica: Arc<Replica>,
        loops: Vec<Box<dyn Loop>>,
        furnished: bool,
        stop: CancellationToken,
        runtime: &Handle,
    ) -> Living {
        let names = loops.iter().map(|one| one.profile().name).collect();
        let (orders, taken) = mpsc::unbounded_channel();
        let tasks = TaskTracker::new();
        tasks.spawn_on(Life::new(replica, loops, taken, stop).live(furnished), runtime);
        tasks.close();
        Living { names, paused: Mutex::default(), orders, tasks }
    }

    /// The names of the loops.
    pub(crate) fn names(&self) -> &[&'static str] {
        &self.names
    }

    /// Whether a loop is paused.
    pub(crate) fn is_paused(&self, name: &str) -> bool {
        self.paused().contains(name)
    }

    /// Pauses a loop, or lets it go on; waits until the key in progress is done.
    pub(crate) async fn pause(&self, name: &'static str, paused: bool) {
        match paused {
            true => self.paused().insert(name),
            false => self.paused().remove(name),
        };
        self.ask(|done| Order::Pause { name, paused, done }).await;
    }

    /// Lets a loop go on, at some time.
    pub(crate) fn resume(&self, name: &'static str) {
        self.paused().remove(name);
        let (done, _) = oneshot::channel();
        self.orders.send(Order::Pause { name, paused: false, done }).ok();
    }

    /// Lets a paused loop deal with its next key; `None` if it has none.
    pub(crate) async fn step(&self, name: &'static str) -> Option<Stepped> {
        self.ask(|done| Order::Step { name, done }).await.flatten()
    }

    /// Completes when the loops that are not paused know all that was written so far, and have nothing left to do now.
    pub(crate) async fn settled(&self) -> Rest {
        self.ask(Order::Settle).await.unwrap_or_default()
    }

    /// The work that is left.
    pub(crate) async fn rest(&self) -> Rest {
        self.ask(Order::Rest).await.unwrap_or_default()
    }

    /// Those of them who answer for pods.
    pub(crate) fn kubelets(&self) -> Arc<dyn Kubelets> {
        Arc::new(Answering(self.orders.clone()))
    }

    /// Completes when the loops have ended.
    pub(crate) async fn ended(&self) {
        self.tasks.wait().await;
    }

    /// The answer to an order; `None` if the loops have ended.
    async fn ask<T>(&self, order: impl FnOnce(oneshot::Sender<T>) -> Order) -> Option<T> {
        let (done, answer) = oneshot::channel();
        self.orders.send(order(done)).ok()?;
        answer.await.ok()
    }

    fn paused(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.paused.lock().expect("no holder of this lock can panic")
    }
}

/// The loops, as clients that have questions about pods know them.
struct Answering(mpsc::UnboundedSender<Order>);

impl Kubelets for Answering {
    fn ask(&self, question: Question) -> BoxFuture<'static, Option<Answer>> {
        let (done, answer) = oneshot::channel();
        let is_sent = self.0.send(Order::Ask { question, done }).is_ok();
        Box::pin(async move { if is_sent { answer.await.ok().flatten() } else { None } })
    }
}
