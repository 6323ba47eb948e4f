//! Webhooks and policies as they are stored at any time. The first writes after a change read what has changed, jointly: it may be much.

use super::manifests::{Folder, FromManifests, Reloaded};
use super::matching::Sight;
use super::plugin::Verdict;
use crate::deadline::Deadline;
use crate::error::ApiResult;
use crate::index::{Current, Index, Live};
use crate::joint::{Joint, Part};
use crate::object::meta;
use crate::registry::number;
use crate::store::{Kept, Store};
use std::future::Future;
use std::ops::Deref;
use std::sync::Arc;
use tree::Value;

/// The webhooks or policies in files, and the stored ones of any store.
pub(crate) struct Following<S> {
    files: Option<Arc<Folder<S>>>,
}

/// An index in a store, and those who read what has changed for it.
#[derive(Default)]
struct Meeting<S: Index> {
    live: Live<S>,
    joint: Joint,
}

impl<S: Index> Kept for Meeting<S> {
    const PLACE: usize = Live::<S>::PLACE;

    fn fork(&self, revision: u64) -> Self {
        Meeting { live: self.live.fork(revision), joint: Joint::default() }
    }

    fn renew(&self) {
        self.live.renew();
    }
}

/// The identity of what an object asks for: what is made of that can be kept as long as it is the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Generation {
    uid: Box<str>,
    number: Option<i64>,
}

impl Generation {
    /// That of a stored object.
    pub(crate) fn of(object: &Value) -> Self {
        Generation { uid: meta::uid(object).into(), number: number(object, "/metadata/generation") }
    }
}

impl<S: Index> Following<S> {
    /// Those in a folder are asked before those in a store.
    pub(crate) fn new(files: Option<Arc<Folder<S>>>) -> Self {
        Following { files }
    }

    /// The verdict on a write of that object: that of `dispatch` with the items that `find` finds in the present states, or permission if
    /// there are none. It waits only for what is found, or has to be read first.
    pub(crate) fn verdict<'a, O, H, D>(
        &'a self,
        sight: Sight,
        store: &'a Store,
        deadline: &'a Deadline,
        object: O,
        find: impl Fn(&[&S], &Value) -> ApiResult<Vec<H>> + Send + 'a,
        dispatch: impl FnOnce(Vec<H>, O) -> D + Send + 'a,
    ) -> Verdict<'a>
    where
        S: FromManifests,
        O: Deref<Target = Value> + Send + 'a,
        H: Send + 'a,
        D: Future<Output = ApiResult<()>> + Send + 'a,
    {
        let files = self.files.as_ref().map(|files| files.current());
        let found = match (sight, &files) {
            (Sight::Nothing, _) | (Sight::Files, None) => return Verdict::Now(Ok(())),
            (Sight::Files, Some(files)) => Some(find(&[&**files], &object)),
            (Sight::All, Some(files)) => known(store).map(|state: Current<S>| find(&[&**files, &state], &object)),
            (Sight::All, None) => known(store).map(|state: Current<S>| find(&[&state], &object)),
        };
        match found {
            Some(Ok(found)) if found.is_empty() => Verdict::Now(Ok(())),
            Some(Ok(found)) => Verdict::Later(Box::pin(dispatch(found, object))),
            Some(Err(late)) => Verdict::Now(Err(late)),
            None => Verdict::Later(Box::pin(async move {
                let state = current(store, deadline).await?;
                let found = match &files {
                    Some(files) => find(&[&**files, &state], &object)?,
                    None => find(&[&state], &object)?,
                };
                drop(state);
                if found.is_empty() { Ok(()) } else { dispatch(found, object).await }
            })),
        }
    }

    /// The folder of files.
    pub(crate) fn folder(&self) -> Option<Arc<dyn Reloaded>>
    where
        S: FromManifests,
    {
        self.files.clone().map(|files| files as Arc<dyn Reloaded>)
    }
}

/// The state as it is now, if nothing has to be read for it.
fn known<S: Index>(store: &Store) -> Option<Current<S>> {
    store.kept::<Meeting<S>>().live.since(store.last_change(S::RESOURCES))
}

/// The state as it is now.
///
/// # Errors
/// 504, if the deadline has passed.
async fn current<S: Index>(store: &Store, deadline: &Deadline) -> ApiResult<Current<S>> {
    let (change, Meeting { live, joint }) = (store.last_change(S::RESOURCES), store.kept());
    // The store may go back meanwhile.
    let part = || match live.since(change.min(store.last_change(S::RESOURCES))) {
        Some(current) => Part::Result(current),
        None if live.step(store) => Part::Done,
        None => Part::Taken,
    };
    joint.work(deadline, part).await
}
