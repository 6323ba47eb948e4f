//! Discovery: documents about the served resources. All are functions of a [`Registry`], and [`Merged`] adds
//! what servers tell that extend this one.
//!
//! There are two dialects: a document for each group and version ([`Plain`]), and all in one ([`Aggregated`]), which most clients
//! ask for first. The texts are kube-apiserver's, key order included.

mod aggregated;
mod catalogs;
mod groups;
mod merged;
mod openapi;
mod plain;
mod rest_mapper;
#[cfg(test)]
pub(crate) mod samples;

pub(crate) use aggregated::{AGGREGATED, Aggregated};
pub(crate) use catalogs::Catalogs;
pub(crate) use merged::{Extension, Merged, Registration};
pub(crate) use openapi::{Hashed, OpenApi, Part, Parts};
pub(crate) use plain::{Plain, api_versions};
pub(crate) use rest_mapper::{GroupVersionKind, RestMapper};

use crate::registry::{Registry, Served};
use groups::Group;
use openapi::Shelf;
use std::sync::{Arc, LazyLock, OnceLock};

/// The resources in the versions that clients prefer, group by group: each in the first version of its group that has it.
pub(crate) fn preferred(registry: &Registry) -> impl Iterator<Item = Served<'_>> {
    groups::of(registry).into_iter().flat_map(|group| {
        let mut all: Vec<Served<'_>> = Vec::new();
        for served in group.versions.into_iter().flat_map(|version| version.resources) {
            if all.iter().all(|known| known.resource.id != served.resource.id) {
                all.push(served);
            }
        }
        all
    })
}

/// A registry, and the documents that describe it: each is made when it is first requested, since most tests ask for few of them.
#[derive(Default)]
pub(crate) struct Catalog {
    pub(crate) registry: Registry,
    plain: OnceLock<Plain>,
    core: OnceLock<Aggregated>,
    groups: OnceLock<Aggregated>,
    openapi: OnceLock<OpenApi>,
    shelf: Arc<Shelf>,
}

impl Catalog {
    /// A catalog without documents yet.
    pub(crate) fn new(registry: Registry) -> Catalog {
        Catalog { registry, ..Catalog::default() }
    }

    /// A catalog of a cluster, whose earlier ones had those documents.
    fn after(shelf: &Arc<Shelf>, registry: Registry) -> Catalog {
        shelf.forget_all_but(&registry);
        Catalog { shelf: shelf.clone(), ..Catalog::new(registry) }
    }

    /// The built-in resources; all clusters begin with this one.
    pub(crate) fn built_in() -> Arc<Catalog> {
        static BUILT_IN: LazyLock<Arc<Catalog>> = LazyLock::new(|| Catalog::new(Registry::built_in()).into());
        BUILT_IN.clone()
    }

    /// A document for each group and version.
    pub(crate) fn plain(&self) -> &Plain {
        self.plain.get_or_init(|| Plain::of(&self.core_group(), &self.named_groups()))
    }

    /// The core group in one document.
    pub(crate) fn core(&self) -> &Aggregated {
        self.core.get_or_init(|| Aggregated::of(&self.core_group()))
    }

    /// All other groups in one document.
    pub(crate) fn groups(&self) -> &Aggregated {
        self.groups.get_or_init(|| Aggregated::of(&self.named_groups()))
    }

    /// The documents of OpenAPI.
    pub(crate) fn openapi(&self) -> &OpenApi {
        self.openapi.get_or_init(|| OpenApi::of(&self.registry, &self.shelf))
    }

    fn core_group(&self) -> Vec<Group<'_>> {
        groups::of(&self.registry).into_iter().filter(|group| group.name.is_empty()).collect()
    }

    fn named_groups(&self) -> Vec<Group<'_>> {
        groups::of(&self.registry).into_iter().filter(|group| !group.name.is_empty()).collect()
    }
}
