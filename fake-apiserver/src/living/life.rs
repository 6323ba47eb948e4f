//! The task of a cluster's loops.

use super::known::Known;
use super::send::{Sender, Stepped};
use super::{furniture, kinds};
use crate::clock::{Clock, later};
use crate::discovery::Catalog;
use crate::http::Replica;
use crate::store::{Entry, Event, Follower, Key, ResourceId, Scope, Snapshot};
use loops::{Answer, Engine, Loop, Question, Rest, Run};
use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{block_in_place, yield_now};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// The number of changes from which on a thread that serves others, too, is not kept for them.
const MANY: usize = 64;
/// The longest sleep by a clock that may be moved without a word.
const NAP: Duration = Duration::from_millis(500);
/// The time for which a failed key is waited for by those who wait until all have come to rest.
const PATIENCE: Duration = Duration::from_secs(1);

/// An order to the loops.
pub(super) enum Order {
    Pause { name: &'static str, paused: bool, done: oneshot::Sender<()> },
    Step { name: &'static str, done: oneshot::Sender<Option<Stepped>> },
    Settle(oneshot::Sender<Rest>),
    Rest(oneshot::Sender<Rest>),
    Ask { question: Question, done: oneshot::Sender<Option<Answer>> },
}

/// The loops, and all that they live by.
pub(super) struct Life {
    replica: Arc<Replica>,
    engine: Engine,
    senders: HashMap<&'static str, Sender>,
    known: Known,
    catalog: Arc<Catalog>,
    follower: Follower,
    orders: mpsc::UnboundedReceiver<Order>,
    /// Those who wait until all have come to rest.
    waiting: Vec<oneshot::Sender<Rest>>,
    clock: Arc<dyn Clock>,
    stop: CancellationToken,
}

impl Life {
    /// The life of loops, which know the present content of the cluster.
    pub(super) fn new(
        replica: Arc<Replica>,
        loops: Vec<Box<dyn Loop>>,
        orders: mpsc::UnboundedReceiver<Order>,
        stop: CancellationToken,
    ) -> Life {
        let engine = Engine::new(loops);
        let senders = engine.profiles().map(|profile| (profile.name, Sender::of(profile))).collect();
        let (catalog, clock) = (replica.cluster.catalog(), replica.cluster.reconcilers.cluster().clock.clone());
        let (snapshot, follower) = replica.cluster.store.follow();
        let (known, waiting) = Default::default();
        let mut life = Life { engine, senders, known, catalog, follower, orders, waiting, clock, stop, replica };
        life.engine.set_kinds(kinds::of(&life.catalog.registry));
        life.known.extend(&life.catalog.registry, &life.engine);
        life.begin_with(&snapshot);
        life
    }

    /// Lives until the server ends; `furnished`, it begins with what a cluster comes with.
    pub(super) async fn live(mut self, furnished: bool) {
        let stop = self.stop.clone();
        let life = async {
            if furnished {
                furniture::put(&self.replica).await;
            }
            self.go_on().await;
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = life => {}
        }
    }

    async fn go_on(&mut self) {
        loop {
            while let Ok(order) = self.orders.try_recv() {
                self.obey(order).await;
            }
            // After the orders: whoever waits has written before.
            self.catch_up();
            let now = self.clock.now();
            if let Some(run) = self.engine.begin(now) {
                self.carry_out(run).await;
                yield_now().await;
                continue;
            }
            self.answer_at_rest();
            if let Some(order) = self.sleep().await {
                self.obey(order).await;
            }
        }
    }

    /// Sleeps until something is written, due or asked for.
    async fn sleep(&mut self) -> Option<Order> {
        let manual = self.clock.manual();
        let moved = async {
            match &manual {
                Some(clock) => clock.moved().await,
                None => std::future::pending().await,
            }
        };
        // A clock that is moved from now on wakes it, and one that was moved before shows that.
        let mut moved = std::pin::pin!(moved);
        let due = tokio::select! {
            biased;
            () = &mut moved => return None,
            due = std::future::ready(self.engine.next_due()) => due,
        };
        let left = due.map(|due| Duration::try_from(due.duration_since(self.clock.now())).unwrap_or_default());
        if left == Some(Duration::ZERO) {
            return None;
        }
        let runs = manual.as_ref().is_none_or(|clock| !clock.is_frozen());
        let nap = left.filter(|_| runs).map(|left| later(Instant::now(), left.min(NAP)));
        let (follower, orders) = (&self.follower, &mut self.orders);
        tokio::select! {
            biased;
            order = orders.recv() => order,
            () = poll_fn(|context| follower.poll_news(context)) => None,
            () = moved => None,
            () = nap_until(nap) => None,
        }
    }

    /// Carries out what a loop has decided.
    async fn carry_out(&mut self, mut run: Run) -> Stepped {
        let sender = &self.senders[run.profile.name];
        let mut next = self.engine.next(&mut run, self.clock.now());
        while let Some(request) = next {
            let answer = sender.send(&self.replica, &request).await;
            if let Err(refusal) = &answer {
                let (controller, key, path) = (run.profile.name, &run.key, &request.path);
                tracing::debug!(controller, key, method = request.method, path, %refusal, "A request of a control loop was refused");
            }
            let now = self.clock.now();
            next = match self.engine.answered(&mut run, answer, now) {
                Some(first) => Some(first),
                None => self.engine.next(&mut run, now),
            };
        }
        let requests = run.done.iter().map(|done| {
            let code = done.refused.as_ref().map_or(200, |refusal| refusal.code);
            (format!("{} {}", done.request.method, done.request.path), code)
        });
        let stepped = Stepped { key: run.key.clone(), requests: requests.collect() };
        // What it did is known before it fails, and looks at it again.
        self.catch_up();
        self.engine.end(run, self.clock.now());
        stepped
    }

    async fn obey(&mut self, order: Order) {
        self.catch_up();
        match order {
            Order::Pause { name, paused, done } => {
                self.engine.pause(name, paused);
                done.send(()).ok();
            }
            Order::Step { name, done } => {
                let run = self.engine.step(name, self.clock.now());
                let stepped = match run {
                    Some(run) => Some(self.carry_out(run).await),
                    None => None,
                };
                done.send(stepped).ok();
            }
            Order::Settle(done) => self.waiting.push(done),
            Order::Ask { question, done } => {
                done.send(self.engine.answer(&question)).ok();
            }
            Order::Rest(done) => {
                done.send(self.engine.rest(self.clock.now())).ok();
            }
        }
    }

    /// Answers those who wait until all have come to rest, unless a failed key is about to be tried again.
    fn answer_at_rest(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let now = self.clock.now();
        let rest = self.engine.rest(now);
        let is_frozen = self.clock.manual().is_some_and(|clock| clock.is_frozen());
        let soon = |due: jiff::Timestamp| Duration::try_from(due.duration_since(now)).is_ok_and(|left| left < PATIENCE);
        if !is_frozen && rest.failing.iter().any(|failing| failing.due.is_some_and(soon)) {
            return;
        }
        for waiting in self.waiting.drain(..) {
            waiting.send(rest.clone()).ok();
        }
    }

    /// Takes note of all that was written.
    fn catch_up(&mut self) {
        let news = self.follower.news();
        let catalog = self.replica.cluster.catalog();
        if !Arc::ptr_eq(&catalog, &self.catalog) {
            self.catalog = catalog;
            self.serve_others();
        }
        match news {
            Ok(events) if events.len() < MANY => events.iter().for_each(|event| self.note(event)),
            Ok(events) => block_in_place(|| events.iter().for_each(|event| self.note(event))),
            Err(snapshot) => block_in_place(|| self.begin_with(&snapshot)),
        }
    }

    fn note(&mut self, event: &Event) {
        match &event.after {
            Some(entry) => self.observe(entry),
            None => self.forget(event.key()),
        }
    }

    fn observe(&mut self, entry: &Entry) {
        let Some((resource, key)) = self.known.place(&entry.key) else { return };
        self.engine.observe(resource, &key, Some(self.known.object(entry)), self.clock.now());
    }

    fn forget(&mut self, key: &Key) {
        let Some((resource, key)) = self.known.place(key) else { return };
        self.engine.observe(resource, &key, None, self.clock.now());
    }

    /// Begins anew with a content: nobody knows what led to it.
    fn begin_with(&mut self, snapshot: &Snapshot) {
        let all = snapshot.all().filter_map(|entry| {
            let (resource, key) = self.known.place(&entry.key)?;
            Some((resource.clone(), key, self.known.object(entry)))
        });
        self.engine.observe_all(all.collect(), self.clock.now());
    }

    /// Takes note of what is served from now on.
    fn serve_others(&mut self) {
        self.engine.set_kinds(kinds::of(&self.catalog.registry));
        let new: Vec<ResourceId> = self.known.extend(&self.catalog.registry, &self.engine);
        if new.is_empty() {
            return;
        }
        let snapshot = self.replica.cluster.store.snapshot();
        for scope in new.into_iter().map(Scope::all) {
            snapshot.range(&scope, "").for_each(|entry| self.observe(entry));
        }
    }
}

/// Completes then; never, without a time.
async fn nap_until(until: Option<Instant>) {
    match until {
        Some(until) => sleep_until(until).await,
        None => std::future::pending().await,
    }
}
