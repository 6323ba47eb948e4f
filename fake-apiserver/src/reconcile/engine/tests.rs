//! The engine with reconcilers of its own. The runtime's time passes at once when nothing else can.

use super::*;
use crate::error::ApiResult;
use crate::reconcile::loopback::Sent;
use futures::future::{BoxFuture, pending};
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::advance;
use tokio_util::sync::CancellationToken;

/// The keys that were worked on, in order.
type Done = Arc<Mutex<Vec<String>>>;

/// A server that refuses all requests.
struct Closed;

impl Loopback for Closed {
    fn serve<'a>(&'a self, _: Sent<'a>, _: &'a Ticket<'a>) -> BoxFuture<'a, ApiResult<()>> {
        async { Err(ApiError::internal("it is closed")) }.boxed()
    }
}

/// A reconciler that does what its key says.
struct Obedient {
    /// The keys that it wants at the start.
    wants: &'static [&'static str],
    done: Done,
}

impl Reconciler for Obedient {
    fn wants(&self, event: &Event<'_>, _: &Shared) -> Vec<Box<str>> {
        let wanted = self.wants.iter().filter(|_| matches!(event, Event::Start));
        wanted.map(|key| (*key).into()).collect()
    }

    fn sync<'a>(&'a self, key: &'a str, context: &'a Context<'a>) -> BoxFuture<'a, ApiResult<()>> {
        async move {
            let runs = {
                let mut done = self.done.lock().expect("no holder panics");
                done.push(key.to_owned());
                done.iter().filter(|one| *one == key).count()
            };
            match key {
                "hangs" => pending().await,
                "asks" => assert_eq!(context.remotely(pending::<()>()).await, None, "it is interrupted"),
                "waits" => context.patiently(pending(), Run::release).await,
                "fails" => return Err(ApiError::internal("never")),
                "fails twice" if runs < 3 => return Err(ApiError::internal("not yet")),
                "panics once" if runs < 2 => panic!("as it is told"),
                "adds" => context.add("added"),
                _ => {}
            }
            Ok(())
        }
        .boxed()
    }
}

/// An engine with such reconcilers, and the means to stop it.
fn engine(wants: &[&'static [&'static str]]) -> (Arc<Engine>, Done, CancellationToken) {
    let (done, stop) = (Done::default(), CancellationToken::new());
    let obedient =
        |wants: &&'static [&'static str]| -> Arc<dyn Reconciler> { Arc::new(Obedient { wants, done: done.clone() }) };
    let reconcilers = wants.iter().map(obedient).collect();
    let engine = Engine::new(Shared::empty(), Arc::new(Closed), reconcilers, stop.clone(), Handle::current());
    (engine, done, stop)
}

/// Starts, and waits until all that follows was tried once.
async fn start(engine: &Arc<Engine>) {
    let ticket = Ticket::new(&**engine, None);
    ticket.note(&Event::Start);
    ticket.done().await;
}

fn taken(done: &Done) -> Vec<String> {
    std::mem::take(&mut *done.lock().expect("no holder panics"))
}

#[tokio::test(start_paused = true)]
async fn works_are_done_in_order_with_what_they_add() {
    let (engine, done, _stop) = engine(&[&["b", "adds", "c"], &["a"]]);
    start(&engine).await;
    assert_eq!(taken(&done), ["adds", "added", "b", "c", "a"]);
}

#[tokio::test(start_paused = true)]
async fn what_hangs_holds_up_no_other_and_ends_with_the_engine() {
    let (engine, done, stop) = engine(&[&["a", "z"], &["hangs", "b"]]);
    let starting = tokio::spawn({
        let engine = engine.clone();
        async move { start(&engine).await }
    });
    while done.lock().expect("no holder panics").len() < 4 {
        tokio::task::yield_now().await;
    }
    assert_eq!(taken(&done), ["a", "z", "b", "hangs"]);
    assert!(!starting.is_finished());
    stop.cancel();
    starting.await.expect("it is told");
}

#[tokio::test(start_paused = true)]
async fn what_failed_is_tried_again() {
    let (engine, done, _stop) = engine(&[&["fails twice", "panics once"]]);
    start(&engine).await;
    assert_eq!(*done.lock().expect("no holder panics"), ["fails twice", "panics once"]);
    while done.lock().expect("no holder panics").len() < 5 {
        advance(Duration::from_millis(1)).await;
    }
    advance(Duration::from_hours(1)).await;
    let mut all = taken(&done);
    all.sort();
    assert_eq!(all, ["fails twice", "fails twice", "fails twice", "panics once", "panics once"]);
}

#[tokio::test(start_paused = true)]
async fn another_server_is_not_waited_for() {
    let (engine, done, _stop) = engine(&[&["asks"]]);
    start(&engine).await;
    assert_eq!(taken(&done), ["asks"]);
    start(&engine).await;
    assert_eq!(taken(&done), ["asks"], "the run that waited has ended");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_waits_for_another_server_holds_up_no_later_writers() {
    let (engine, done, _stop) = engine(&[&["waits"]]);
    start(&engine).await;
    start(&engine).await;
    assert_eq!(taken(&done), ["waits"], "it still waits");
}

#[tokio::test(start_paused = true)]
async fn what_fails_again_and_again_is_rest() {
    let (engine, done, _stop) = engine(&[&["fails", "a"]]);
    start(&engine).await;
    engine.rested().await;
    assert_eq!(taken(&done).iter().filter(|key| *key == "fails").count(), 9);
}
