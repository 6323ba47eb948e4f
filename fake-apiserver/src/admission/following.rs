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
use crate::store::{ResourceId, Store};
use std::future::Future;
use std::ops::Deref;
use std::sync::Arc;
use tree::Value;

/// An index of webhooks or policies, and those in files.
pub(crate) struct Following<S> {
    live: Live<S>,
    joint: Joint,
    files: Option<Arc<Folder<S>>>,
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

impl<S: Index + Send + Sync> Following<S> {
    /// An index of the objects of these resources in a store.
    pub(crate) fn new(store: &Store, resources: &[ResourceId]) -> Self {
        Following { live: Live::new(store.clone(), resources), joint: Joint::default(), files: None }
    }

    /// The same, with a folder whose items are asked first.
    pub(crate) fn with_files(self, files: Option<Arc<Folder<S>>>) -> Self {
        Following { files, ..self }
    }

    /// The verdict on a write of that object: that of `dispatch` with the items that `find` finds in the present states, or permission if
    /// there are none. It waits only for what is found, or has to be read first.
    pub(crate) fn verdict<'a, O, H, D>(
        &'a self,
        sight: Sight,
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
            (Sight::All, Some(files)) => self.known().map(|state| find(&[&**files, &state], &object)),
            (Sight::All, None) => self.known().map(|state| find(&[&state], &object)),
        };
        match found {
            Some(Ok(found)) if found.is_empty() => Verdict::Now(Ok(())),
            Some(Ok(found)) => Verdict::Later(Box::pin(dispatch(found, object))),
            Some(Err(late)) => Verdict::Now(Err(late)),
            None => Verdict::Later(Box::pin(async move {
                let state = self.current(deadline).await?;
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

    /// The state as it is now, if nothing has to be read for it.
    fn known(&self) -> Option<Current<S>> {
        self.live.since(self.live.last_change())
    }

    /// The state as it is now.
    ///
    /// # Errors
    /// 504, if the deadline has passed.
    async fn current(&self, deadline: &Deadline) -> ApiResult<Current<S>> {
        let change = self.live.last_change();
        let part = || match self.live.since(change) {
            Some(current) => Part::Result(current),
            None if self.live.step() => Part::Done,
            None => Part::Taken,
        };
        self.joint.work(deadline, part).await
    }
}
