//! OpenAPI: of custom resources all that the real server publishes, in v3 and v2; of built-in ones as much as `kubectl create`,
//! `apply`, `replace` and `edit` look up in v3 before they leave validation to the server.
//!
//! A document is made when it is asked for. What is kept is its hash, for the index has those of all documents, until one of the
//! resources that it describes changes.

mod built_in;
mod custom;
mod document;
mod schema;
mod simplify;
mod template;
#[cfg(test)]
mod vectors;

use super::aggregated::sha512_hex;
use super::groups::{self, Group, GroupVersion};
use crate::json::encode;
use crate::registry::Registry;
use crate::store::ResourceId;
use bytes::Bytes;
use document::Document;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
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

/// The hashes of the documents of versions of groups, by their paths, as they were last made for a cluster.
#[derive(Default)]
pub(super) struct Hashes(Mutex<BTreeMap<String, Hash>>);

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
                .all(&groups::of(&self.registry))
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
        let group = path.strip_prefix("apis/").and_then(|path| path.split_once('/')).map_or("", |(group, _)| group);
        let (of, json) = groups::of_group(&self.registry, group).and_then(|group| {
            let version = group.versions.iter().find(|version| group.path(version.name) == path)?;
            Some((described(version), v3(&group, version)))
        })?;
        let json = Bytes::from(json);
        Some(Hashed { hash: self.hashes.of(path, of, || json.clone()).to_string(), json: Box::new(move || json) })
    }

    /// The document at `/openapi/v2`, of the custom resources.
    pub(crate) fn v2(&self) -> Hashed<'_> {
        let made = OnceLock::new();
        let json = || {
            let mut document = Document::default();
            self.registry.versions().for_each(|served| document.add(served, Form::V2));
            Bytes::from(document.v2())
        };
        let hash = self.v2.get_or_init(|| sha512_hex(made.get_or_init(json))).clone();
        Hashed { hash, json: Box::new(move || made.into_inner().unwrap_or_else(json)) }
    }
}

/// The document of a version of a group.
fn v3(group: &Group<'_>, version: &GroupVersion<'_>) -> String {
    let mut document = Document::default();
    for served in &version.resources {
        match served.version.is_custom() {
            true => document.add(*served, Form::V3),
            false => built_in::add(&mut document, &group.path(version.name), *served),
        }
    }
    document.v3()
}

fn described(version: &GroupVersion<'_>) -> Vec<(ResourceId, u32)> {
    version.resources.iter().map(|served| (served.resource.id, served.version.number)).collect()
}

impl Hashes {
    /// The hash of the document at a path, which describes those versions of resources.
    fn of(&self, path: &str, of: Vec<(ResourceId, u32)>, json: impl FnOnce() -> Bytes) -> Arc<str> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path).and_then(|hash| hash.text_if(&of));
        known.unwrap_or_else(|| {
            let text: Arc<str> = sha512_hex(&json()).into();
            let hash = Hash { of, text: text.clone() };
            self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), hash);
            text
        })
    }

    /// The hashes of all documents, by path. Others are forgotten.
    fn all(&self, groups: &[Group<'_>]) -> BTreeMap<String, Arc<str>> {
        let mut all = BTreeMap::new();
        for group in groups {
            for version in &group.versions {
                let path = group.path(version.name);
                let hash = self.of(&path, described(version), || v3(group, version).into());
                all.insert(path, hash);
            }
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|path, _| all.contains_key(path));
        all
    }
}

impl Hash {
    fn text_if(&self, of: &[(ResourceId, u32)]) -> Option<Arc<str>> {
        (self.of == of).then(|| self.text.clone())
    }
}
