//! The orders about objects: snapshots, and what is put in the place of what there is.

use super::state::MOST_SNAPSHOTS;
use crate::commit::content::{Content, Place};
use crate::commit::saved::StateError;
use crate::server::FakeApiServer;
use control::{Answer, Cause, Refusal, Revisions, SnapshotAnswer};
use serde_json::{Value, json};

impl FakeApiServer {
    /// The present objects.
    fn content(&self) -> Content {
        Content::of(&self.cluster.store, &self.cluster.catalog().registry)
    }

    pub(super) fn save(&self, name: &str) -> Result<SnapshotAnswer, Refusal> {
        self.keep(name, self.content())
    }

    pub(super) fn import(&self, name: &str, text: &str) -> Result<SnapshotAnswer, Refusal> {
        let content = Content::parse(text.as_bytes(), &self.cluster.catalog().registry);
        let content = content.map_err(|error: StateError| {
            Refusal::invalid("snapshots", name, vec![Cause::invalid("content", "...", error)])
        })?;
        self.keep(name, content)
    }

    fn keep(&self, name: &str, content: Content) -> Result<SnapshotAnswer, Refusal> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || name.len() > 253 || !name.chars().all(is_name) {
            let why = "a name has 1 to 253 letters, digits, '-', '_' and '.'";
            return Err(Refusal::invalid("snapshots", name, vec![Cause::invalid("snapshot", name, why)]));
        }
        let mut snapshots = self.control.snapshots();
        if snapshots.contains_key(name) {
            return Err(Refusal::conflict("snapshots", name, format_args!("snapshots {name:?} already exists")));
        }
        if snapshots.len() >= MOST_SNAPSHOTS {
            let why = format!("there are at most {MOST_SNAPSHOTS} snapshots at a time");
            return Err(Refusal::conflict("snapshots", name, why));
        }
        let answer = answer(name, &content);
        snapshots.insert(name.to_owned(), content);
        Ok(answer)
    }

    pub(super) fn forget(&self, name: &str) -> Result<Answer, Refusal> {
        self.control.snapshot(name)?;
        self.control.snapshots().remove(name);
        Ok(Answer::Done {})
    }

    pub(super) fn list_snapshots(&self) -> Value {
        let snapshots = self.control.snapshots();
        let items: Vec<SnapshotAnswer> = snapshots.iter().map(|(name, content)| answer(name, content)).collect();
        json!({"items": items})
    }

    pub(super) fn exported(&self, name: &str) -> Result<Value, Refusal> {
        let text = self.control.snapshot(name)?.text();
        Ok(String::from_utf8(text).map_err(Refusal::internal)?.into())
    }

    pub(super) async fn restore(&self, name: &str, revisions: Revisions) -> Result<Answer, Refusal> {
        let content = self.control.snapshot(name)?;
        let _replacing = self.control.replacing.lock().await;
        match revisions {
            Revisions::Continue => Ok(self.put_back(&content).await),
            Revisions::Bump => {
                let answer = self.put_back(&content).await;
                // Those too get 410 that have seen all of it.
                self.cluster.store.advance(1);
                self.compact();
                self.disconnect_watches();
                Ok(answer)
            }
            Revisions::Rewind => Ok(self.rewind(&content).await),
        }
    }

    /// Goes back to a content and its revisions. Watches see nothing of the way: they end, as those of API servers that are stopped while
    /// their etcd is restored.
    pub(super) async fn rewind(&self, content: &Content) -> Answer {
        let cluster = &self.cluster;
        let replicas = self.replicas();
        for replica in &replicas {
            replica.inner().view.hold(&cluster.store, None);
        }
        // Whatever follows from objects, such as what is served, is as it was then.
        let mut answer = self.put_back(content).await;
        cluster.rewind(content.takeover(&cluster.catalog().registry));
        for replica in &replicas {
            if let Some(flow) = &replica.inner().flow {
                flow.renew();
            }
            replica.disconnect_watches();
            replica.release();
        }
        if let Answer::Written { revision, .. } = &mut answer {
            *revision = cluster.store.revision().to_string();
        }
        answer
    }

    pub(super) async fn reset(&self, name: Option<&str>) -> Result<Answer, Refusal> {
        let content = match name {
            Some(name) => self.control.snapshot(name)?,
            None => self.control.first.clone(),
        };
        let _replacing = self.control.replacing.lock().await;
        let replicas = self.replicas();
        for (index, replica) in replicas.iter().enumerate().filter(|(_, replica)| replica.is_stopped()) {
            let failed = |error| Refusal::conflict("replicas", &index.to_string(), error);
            replica.start().await.map_err(failed)?;
        }
        self.faults().clear();
        for replica in &replicas {
            replica.release();
            replica.set_unready(false);
        }
        self.resume_controllers();
        Ok(self.put_back(&content).await)
    }

    /// Puts a content in the place of the objects that there are.
    pub(super) async fn put_back(&self, content: &Content) -> Answer {
        let cluster = &self.cluster;
        let ticket = cluster.reconcilers.ticket();
        let commits = ticket.commits(&cluster.store);
        let mut writes = 0;
        // Custom resources go before what defines them, and come after it.
        for (removes, added) in [(true, true), (true, false), (false, false), (false, true)] {
            let catalog = cluster.catalog();
            let place = Place { store: &cluster.store, commits, registry: &catalog.registry };
            writes += match removes {
                true => content.remove_others(&place, added).await,
                false => content.put(&place, added).await,
            };
            ticket.done().await;
        }
        Answer::Written { writes, revision: cluster.store.revision().to_string() }
    }

    /// The present objects, to be put back if an order fails.
    pub(super) fn before(&self) -> Content {
        self.content()
    }
}

fn answer(name: &str, content: &Content) -> SnapshotAnswer {
    SnapshotAnswer { name: name.to_owned(), objects: content.len(), revision: content.revision().to_string() }
}
