//! The watches that are open, and their end.

use crate::audit::{Ending as Ends, Watched};
use crate::server::{FakeApiServer, RunningReplica};
use control::{Answer, Ending, Match, Refusal, Request};
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// An open watch.
#[derive(Serialize)]
struct Open {
    request: Request,
    /// The number of its events.
    events: u64,
}

impl FakeApiServer {
    /// The watches that are open.
    ///
    /// # Errors
    /// If requests are not recorded, or the pattern could match nothing.
    fn watches_of(&self, on: &Match) -> Result<Vec<Arc<Watched>>, Refusal> {
        if !self.cluster.log.is_on() {
            return Err(Refusal::conflict("watches", "", "this server does not record requests"));
        }
        on.check()?;
        let matches = |watched: &Arc<Watched>| {
            watched.request().is_some_and(|(cursor, request)| on.matches(&request.request(*cursor)))
        };
        Ok(self.cluster.log.watches().into_iter().filter(matches).collect())
    }

    pub(super) fn open_watches(&self, on: &Match) -> Result<Value, Refusal> {
        let watches = self.watches_of(on)?;
        let items = watches.iter().filter_map(|watched| {
            let (cursor, request) = watched.request()?;
            Some(Open { request: request.request(*cursor), events: watched.events() })
        });
        Ok(json!({"items": items.collect::<Vec<_>>()}))
    }

    pub(super) fn end_watches(&self, replicas: &[usize], on: Option<&Match>, how: Ending) -> Result<Answer, Refusal> {
        let found: Result<Vec<Arc<RunningReplica>>, Refusal> = match replicas {
            [] => Ok(self.replicas()),
            some => some.iter().map(|index| self.checked_replica(*index)).collect(),
        };
        let found = found?;
        if on.is_none() && how == Ending::End {
            let watches =
                self.cluster.log.is_on().then(|| self.watches_of(&on_replicas(replicas)).map(|all| all.len()));
            found.iter().for_each(|replica| replica.disconnect_watches());
            return Ok(Answer::Ended { replicas: found.len(), watches: watches.transpose()? });
        }
        let mut watches = self.watches_of(on.unwrap_or(&Match::default()))?;
        let is_on = |watched: &Arc<Watched>| watched.request().is_some_and(|(_, of)| replicas.contains(&of.replica));
        watches.retain(|watched| replicas.is_empty() || is_on(watched));
        let how = match how {
            Ending::End => Ends::End,
            Ending::Reset => Ends::Reset,
            Ending::Expired => Ends::Expired,
        };
        watches.iter().for_each(|watched| watched.end(how));
        Ok(Answer::Ended { replicas: found.len(), watches: Some(watches.len()) })
    }
}

impl FakeApiServer {
    pub(super) fn send_bookmarks(&self, on: Option<&Match>) -> Result<Answer, Refusal> {
        let mut watches = self.watches_of(on.unwrap_or(&Match::default()))?;
        let allows = |value: &str| matches!(value, "1" | "t" | "T" | "true" | "TRUE" | "True");
        watches.retain(|watched| {
            let request = watched.request().map(|(cursor, request)| request.request(*cursor));
            request.is_some_and(|request| request.parameter("allowWatchBookmarks").is_some_and(|value| allows(&value)))
        });
        watches.iter().for_each(|watched| watched.bookmark());
        Ok(Answer::Bookmarked { watches: watches.len() })
    }
}

impl FakeApiServer {
    pub(super) fn thaw_watches(&self, on: Option<&Match>) -> Result<Answer, Refusal> {
        let watches = self.watches_of(on.unwrap_or(&Match::default()))?;
        Ok(Answer::Thawed { watches: watches.iter().filter(|watched| watched.thaw()).count() })
    }
}

/// The requests to replicas.
fn on_replicas(replicas: &[usize]) -> Match {
    Match { replicas: replicas.to_vec(), ..Match::default() }
}
