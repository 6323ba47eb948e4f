//! The objects in the files of a folder, decoded, with their defaults, and validated.
//!
//! Follows `pkg/admission/plugin/{webhook,policy}/manifest/loader/loader.go` of `k8s.io/apiserver` (v0.37.1), and
//! `pkg/admission/plugin/{webhook,policy}/manifest/loader` (v1.37.1).

use super::documents::{Document, documents};
use super::manifest::Manifest;
use super::rules::{Names, Role, check_references};
use crate::configuration::{Strictness, Undecoded, decode_found, list_type};
use crate::deadline::Deadline;
use crate::error::aggregate;
use crate::object::meta;
use crate::registry::{Context, Findings, Registry, Resource, items, text};
use crate::schema::{self, TypeRef};
use crate::store::{ResourceId, Store};
use jiff::Timestamp;
use std::path::Path;
use std::sync::Arc;
use tree::Value;

/// The version of manifests.
const VERSION: &str = "admissionregistration.k8s.io/v1";
/// Older versions, which are decoded and refused.
const OLDER: [&str; 2] = ["admissionregistration.k8s.io/v1beta1", "admissionregistration.k8s.io/v1alpha1"];
/// The kind of a list of anything.
const LIST: &str = "List";

/// Another kind that is decoded.
const STATUS: &str = "Status";

/// The manifests of a folder in the order of their names, and the hash of its content.
pub(super) struct Loaded {
    pub(super) manifests: Vec<Manifest>,
    pub(super) hash: String,
}

/// Reads the manifests of those kinds in a folder.
///
/// # Errors
/// If it cannot be read, or has something else.
pub(super) fn load(folder: &Path, kinds: &[ResourceId]) -> Result<Loaded, String> {
    let (documents, hash) = documents(folder)?;
    let registry = Registry::built_in();
    let resources = kinds.iter().map(|kind| registry.known(*kind).clone()).collect();
    let mut loading = Loading { kinds: kinds.into(), resources, names: Names::default(), manifests: Vec::new() };
    for Document { file, text } in &documents {
        let accepted = decode(text).and_then(|object| loading.accept(object, file));
        accepted.map_err(|why| format!("error loading {file}: {why}"))?;
    }
    let mut manifests = loading.manifests;
    check_references(&manifests, kinds)?;
    manifests.sort_by(|one, other| meta::name(&one.object).cmp(meta::name(&other.object)));
    Ok(Loaded { manifests, hash })
}

/// The manifests so far.
struct Loading {
    kinds: Box<[ResourceId]>,
    resources: Vec<Arc<Resource>>,
    names: Names,
    manifests: Vec<Manifest>,
}

impl Loading {
    /// Takes the objects in a document of a file, or in an item of a list there.
    fn accept(&mut self, mut object: Value, file: &str) -> Result<(), String> {
        let kind = text(&object, "/kind").to_owned();
        if kind == LIST {
            for item in items(&object, "/items") {
                let item = decode(&schema::encode_any(item));
                self.accept(item.map_err(|why| format!("failed to decode list item: {why}"))?, file)?;
            }
            return Ok(());
        }
        let is_one = |resource: &Resource| *resource.storage().kind == *kind;
        let is_known = |resource: &&Arc<Resource>| is_one(resource) || *resource.storage().list_kind == *kind;
        let version = text(&object, "/apiVersion").rsplit('/').next().unwrap_or_default();
        let Some(resource) = self.resources.iter().find(is_known).filter(|_| version == "v1").cloned() else {
            return Err(format!("unsupported resource type *{version}.{kind}"));
        };
        let mut objects = match is_one(&resource) {
            true => vec![object],
            false => object["items"].as_array_mut().map(std::mem::take).unwrap_or_default(),
        };
        for object in &mut objects {
            complete(&resource, object)?;
        }
        for object in objects {
            self.names.check(&resource, Role::of(resource.id, &self.kinds), &object, file)?;
            self.manifests.push(Manifest { kind: resource.id, object });
        }
        Ok(())
    }
}

fn decode(content: &str) -> Result<Value, String> {
    decode_found(content, ("", ""), Strictness::Strict, find).map_err(Undecoded::message)
}

/// The type of a kind that manifests may have.
fn find(api_version: &str, kind: &str) -> Result<TypeRef<'static>, Undecoded> {
    let known = match kind {
        // Whatever its version is.
        LIST => Some(list_type()),
        STATUS => schema::lookup("v1", STATUS),
        _ => schema::lookup(VERSION, kind).filter(|_| VERSION == api_version || OLDER.contains(&api_version)),
    };
    known.ok_or_else(|| Undecoded::not_registered(api_version, kind))
}

/// Sets the defaults of an object, and validates it.
fn complete(resource: &Resource, object: &mut Value) -> Result<(), String> {
    (resource.rules.strategy.default)(object);
    let (store, deadline) = (Store::new(1), Deadline::never());
    // The rules of these kinds know no time.
    let context = Context::of_server(VERSION, &store, Timestamp::UNIX_EPOCH, deadline);
    let Findings { errors, .. } = resource.validate(&context, object, None);
    if errors.is_empty() {
        return Ok(());
    }
    let why = aggregate(errors.iter().map(ToString::to_string));
    Err(format!("{} {:?}: {why}", resource.storage().kind, meta::name(object)))
}
