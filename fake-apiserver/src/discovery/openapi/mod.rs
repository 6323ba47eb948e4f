//! OpenAPI, in v3 and v2: everything that the real server publishes about the served resources.
//!
//! ```text
//!   recorded.txt ─▶ built_in.rs ─┐
//!                                ├─▶ document.rs ─▶ JSON ─▶ protobuf/ ─▶ protobuf
//!   template.txt ─▶ custom.rs ───┤
//!   what other servers say ─▶ part.rs ┘ (version 2; their documents of version 3 come from them)
//! ```
//!
//! A document is made when it is first requested, or its hash is, which the index has of all documents. It is kept until one of the
//! resources that it describes changes (`kept.rs`).

mod built_in;
mod convert;
mod custom;
mod document;
mod kept;
mod open;
mod part;
mod protobuf;
mod recorded;
mod schema;
mod simplify;
mod template;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;

pub(crate) use kept::{Hashed, Shelf};
pub(crate) use part::Part;

use super::groups::{self, Group, GroupVersion};
use crate::deadline::Deadline;
use crate::error::ApiResult;
use crate::json::encode;
use crate::registry::{Registry, Served, is_added};
use bytes::Bytes;
use document::Document;
use kept::{Described, Kept};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use template::Form;
use tokio::sync::OnceCell;
use tree::{Map, json};

/// The documents about a registry.
pub(crate) struct OpenApi {
    registry: Registry,
    shelf: Arc<Shelf>,
    index: OnceCell<Bytes>,
    /// The document of version 2.
    v2: Arc<Kept>,
    /// The one with the parts of other servers, and those parts.
    merged: Mutex<(Parts, Arc<Kept>)>,
}

/// The parts of other servers in the document of version 2, in their order.
pub(crate) type Parts = Arc<Vec<Arc<Part>>>;

impl OpenApi {
    /// Describes a registry, whose documents may be on a shelf.
    pub(super) fn of(registry: &Registry, shelf: &Arc<Shelf>) -> Self {
        let (index, v2, merged) = Default::default();
        OpenApi { registry: registry.clone(), shelf: shelf.clone(), index, v2, merged }
    }

    /// The document `/openapi/v3` with the URLs of the others.
    ///
    /// # Errors
    /// 504, if the time is up.
    pub(crate) async fn index(&self, deadline: &Deadline) -> ApiResult<Bytes> {
        let index = || async {
            let mut paths = BTreeMap::new();
            for subject in Subject::all(&self.registry) {
                let hash = self.place(&subject).hash(|| subject.v3(&self.registry, deadline)).await?;
                let url = format!("/openapi/v3/{}?hash={hash}", subject.path);
                paths.insert(subject.path, json!({ "serverRelativeURL": url }));
            }
            let paths: Map = paths.into_iter().collect();
            Ok(encode(&json!({ "paths": paths })).into())
        };
        self.index.get_or_try_init(index).await.cloned()
    }

    /// The document at `/openapi/v3/{path}`, if there is one.
    ///
    /// # Errors
    /// 504, if the time is up.
    pub(crate) async fn v3<'d>(&'d self, path: &str, deadline: &'d Deadline) -> ApiResult<Option<Hashed<'d>>> {
        let Some(subject) = Subject::of(&self.registry, path) else { return Ok(None) };
        let kept = self.place(&subject);
        let make = Box::new(move || subject.v3(&self.registry, deadline));
        Hashed::of(kept, Form::V3, make, deadline).await.map(Some)
    }

    /// The document at `/openapi/v2`, of all resources, with these parts of other servers.
    ///
    /// # Errors
    /// 504, if the time is up.
    pub(crate) async fn v2<'d>(&'d self, parts: Parts, deadline: &'d Deadline) -> ApiResult<Hashed<'d>> {
        let kept = self.v2_with(&parts);
        let make = Box::new(move || {
            let mut document = Document::default();
            built_in::add(&mut document, Form::V2, ("", ""), built_in::served(&self.registry));
            self.registry.versions().try_for_each(|served| custom::add(&mut document, served, Form::V2, deadline))?;
            for part in &*parts {
                deadline.check()?;
                part::merge(&mut document, part);
            }
            Ok(Bytes::from(document.v2()))
        });
        Hashed::of(kept, Form::V2, make, deadline).await
    }

    /// The place of the document of version 2 with these parts.
    fn v2_with(&self, parts: &Parts) -> Arc<Kept> {
        if parts.is_empty() {
            return self.v2.clone();
        }
        let mut merged = self.merged.lock().unwrap_or_else(PoisonError::into_inner);
        if merged.0 != *parts {
            *merged = (parts.clone(), Arc::default());
        }
        merged.1.clone()
    }

    fn place(&self, subject: &Subject<'_>) -> Arc<Kept> {
        self.shelf.place(&subject.path, subject.described(), subject.is_built_in())
    }
}

/// The subject of a document of version 3.
struct Subject<'r> {
    /// Its path, below `/openapi/v3`.
    path: String,
    /// The group and the version, if it is one.
    group: &'r str,
    version: &'r str,
    resources: Vec<Served<'r>>,
}

impl<'r> Subject<'r> {
    /// The subject of the document at a path, if there is one.
    fn of(registry: &'r Registry, path: &str) -> Option<Self> {
        let group = path.strip_prefix("apis/").and_then(|path| path.split_once('/')).map_or("", |(group, _)| group);
        let of_group = groups::of_group(registry, group);
        let mut of_versions = of_group.into_iter().flat_map(Subject::versions);
        of_versions.find(|subject| subject.path == path).or_else(|| {
            let is_there = built_in::served(registry).any(|recorded| recorded.document() == path);
            is_there.then(|| Subject { path: path.to_owned(), group: "", version: "", resources: Vec::new() })
        })
    }

    /// The subjects of all documents, in no order.
    fn all(registry: &'r Registry) -> impl Iterator<Item = Self> {
        let versions: Vec<Self> = groups::of(registry).into_iter().flat_map(Subject::versions).collect();
        let recorded: BTreeSet<&str> = built_in::served(registry).map(recorded::Path::document).collect();
        let others = recorded.into_iter().filter(|path| versions.iter().all(|subject| subject.path != *path));
        let others =
            others.map(|path| Subject { path: path.to_owned(), group: "", version: "", resources: Vec::new() });
        let others: Vec<Self> = others.collect();
        versions.into_iter().chain(others)
    }

    fn versions(group: Group<'r>) -> impl Iterator<Item = Self> {
        let path = |version: &GroupVersion<'_>| group.path(version.name);
        let paths: Vec<String> = group.versions.iter().map(path).collect();
        let subject = move |(path, version): (String, GroupVersion<'r>)| Subject {
            path,
            group: group.name,
            version: version.name,
            resources: version.resources,
        };
        paths.into_iter().zip(group.versions).map(subject)
    }

    /// The document.
    ///
    /// # Errors
    /// 504, if the time is up.
    fn v3(&self, registry: &Registry, deadline: &Deadline) -> ApiResult<Bytes> {
        deadline.check()?;
        let mut document = Document::default();
        let mut recorded = built_in::served(registry).filter(|recorded| recorded.document() == self.path).peekable();
        if recorded.peek().is_some() {
            built_in::add(&mut document, Form::V3, (self.group, self.version), recorded);
        }
        for served in &self.resources {
            match !served.version.is_defined() && is_added(served.resource.id) {
                true => open::add(&mut document, &self.path, *served),
                false => custom::add(&mut document, *served, Form::V3, deadline)?,
            }
        }
        Ok(document.v3().into())
    }

    /// Whether it is the same in all clusters.
    fn is_built_in(&self) -> bool {
        self.resources.iter().all(|served| !is_added(served.resource.id))
    }

    /// The versions of resources that the document describes.
    fn described(&self) -> Described {
        self.resources.iter().map(|served| (served.resource.id, served.version.number)).collect()
    }
}
