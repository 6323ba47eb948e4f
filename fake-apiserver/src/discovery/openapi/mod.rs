//! OpenAPI, in v3 and v2: everything that the real server publishes about the served resources.
//!
//! ```text
//!   recorded.txt ─▶ built_in.rs ─┐
//!                                ├─▶ document.rs ─▶ JSON ─▶ protobuf/ ─▶ protobuf
//!   template.txt ─▶ custom.rs ───┘
//! ```
//!
//! A document is made when it is requested. Only its hash is kept, as the index has those of all documents, until one of the
//! resources that it describes changes.

mod built_in;
mod convert;
mod custom;
mod document;
mod open;
mod protobuf;
mod recorded;
mod schema;
mod simplify;
mod template;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;

use super::aggregated::sha512_hex;
use super::groups::{self, Group, GroupVersion};
use crate::json::encode;
use crate::registry::{Registry, Served, is_added};
use crate::store::ResourceId;
use bytes::Bytes;
use document::Document;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use template::Form;
use tree::{Map, json};

/// The documents about a registry.
pub(crate) struct OpenApi {
    registry: Registry,
    hashes: Arc<Hashes>,
    index: OnceLock<Bytes>,
    /// The hash of the document of version 2.
    v2: OnceLock<String>,
}

/// The hashes of documents, by their paths, as they were last made for a cluster.
#[derive(Default)]
pub(super) struct Hashes {
    own: Mutex<BTreeMap<String, Hash>>,
    /// The hashes that all clusters share, of documents about built-in resources only.
    shared: Option<Arc<Hashes>>,
}

struct Hash {
    /// The versions of resources that the document describes.
    of: Vec<(ResourceId, u32)>,
    text: Arc<str>,
}

/// A document that is named by its hash.
pub(crate) struct Hashed<'d> {
    /// The hash in the URL's query and, in double quotes, in the entity tag.
    pub(crate) hash: String,
    /// The document; called only if it is to be sent.
    pub(crate) json: Box<dyn FnOnce() -> Bytes + 'd>,
    form: Form,
}

impl Hashed<'_> {
    /// The document in protobuf.
    ///
    /// # Errors
    /// If the schema of a custom resource has a member that the messages have no field for.
    pub(crate) fn protobuf(self) -> Result<Bytes, String> {
        let json = (self.json)();
        let protobuf = match self.form {
            Form::V2 => protobuf::v2(&json),
            Form::V3 => protobuf::v3(&json),
        };
        protobuf.map(Bytes::from)
    }
}

impl OpenApi {
    /// Describes a registry.
    pub(super) fn of(registry: &Registry, hashes: &Arc<Hashes>) -> Self {
        OpenApi { registry: registry.clone(), hashes: hashes.clone(), index: OnceLock::new(), v2: OnceLock::new() }
    }

    /// The document `/openapi/v3` with the URLs of the others.
    pub(crate) fn index(&self) -> &Bytes {
        self.index.get_or_init(|| {
            let paths: Map = self
                .hashes
                .all(&self.registry)
                .into_iter()
                .map(|(path, hash)| {
                    let url = format!("/openapi/v3/{path}?hash={hash}");
                    (path, json!({ "serverRelativeURL": url }))
                })
                .collect();
            encode(&json!({ "paths": paths })).into()
        })
    }

    /// The document at `/openapi/v3/{path}`.
    pub(crate) fn v3(&self, path: &str) -> Option<Hashed<'_>> {
        let subject = Subject::of(&self.registry, path)?;
        let json = Bytes::from(subject.v3(&self.registry));
        let hash = self.hashes.of(&subject, || json.clone()).to_string();
        Some(Hashed { hash, json: Box::new(move || json), form: Form::V3 })
    }

    /// The document at `/openapi/v2`, of all resources.
    pub(crate) fn v2(&self) -> Hashed<'_> {
        let made = OnceLock::new();
        let json = || {
            let mut document = Document::default();
            built_in::add(&mut document, Form::V2, ("", ""), built_in::served(&self.registry));
            self.registry.versions().for_each(|served| custom::add(&mut document, served, Form::V2));
            Bytes::from(document.v2())
        };
        let hash = self.v2.get_or_init(|| sha512_hex(made.get_or_init(json))).clone();
        Hashed { hash, json: Box::new(move || made.into_inner().unwrap_or_else(json)), form: Form::V2 }
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
    fn v3(&self, registry: &Registry) -> String {
        let mut document = Document::default();
        let mut recorded = built_in::served(registry).filter(|recorded| recorded.document() == self.path).peekable();
        if recorded.peek().is_some() {
            built_in::add(&mut document, Form::V3, (self.group, self.version), recorded);
        }
        for served in &self.resources {
            match !served.version.is_custom() && is_added(served.resource.id) {
                true => open::add(&mut document, &self.path, *served),
                false => custom::add(&mut document, *served, Form::V3),
            }
        }
        document.v3()
    }

    /// Whether it is the same in all clusters.
    fn is_built_in(&self) -> bool {
        self.resources.iter().all(|served| !is_added(served.resource.id))
    }

    /// The versions of resources that the document describes.
    fn described(&self) -> Vec<(ResourceId, u32)> {
        self.resources.iter().map(|served| (served.resource.id, served.version.number)).collect()
    }
}

impl Hashes {
    /// The hashes of a cluster, which starts with those that all clusters share.
    pub(super) fn sharing(shared: &Arc<Hashes>) -> Self {
        Hashes { shared: Some(shared.clone()), ..Hashes::default() }
    }

    /// The hash of the document about a subject.
    fn of(&self, subject: &Subject<'_>, json: impl FnOnce() -> Bytes) -> Arc<str> {
        if let Some(shared) = self.shared.as_ref().filter(|_| subject.is_built_in()) {
            return shared.of(subject, json);
        }
        let of = subject.described();
        let known = self.own().get(&subject.path).and_then(|hash| hash.text_if(&of));
        known.unwrap_or_else(|| {
            let text: Arc<str> = sha512_hex(&json()).into();
            self.own().insert(subject.path.clone(), Hash { of, text: text.clone() });
            text
        })
    }

    /// The hashes of all documents, by path. Hashes of other documents are dropped.
    fn all(&self, registry: &Registry) -> BTreeMap<String, Arc<str>> {
        let hash = |subject: Subject<'_>| {
            let hash = self.of(&subject, || subject.v3(registry).into());
            (subject.path, hash)
        };
        let all: BTreeMap<String, Arc<str>> = Subject::all(registry).map(hash).collect();
        self.own().retain(|path, _| all.contains_key(path));
        all
    }

    fn own(&self) -> MutexGuard<'_, BTreeMap<String, Hash>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hash {
    fn text_if(&self, of: &[(ResourceId, u32)]) -> Option<Arc<str>> {
        (self.of == of).then(|| self.text.clone())
    }
}
