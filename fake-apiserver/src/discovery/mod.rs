//! Discovery: documents about the served resources. All are functions of a [`Registry`].
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

/// A registry, and the documents that describe it.
#[derive(Default)]
pub(crate) struct Catalog {
    pub(crate) registry: Registry,
    /// Made when first requested: most tests never ask for them.
    documents: OnceLock<Documents>,
    shelf: Arc<Shelf>,
}

/// The documents about a registry.
pub(crate) struct Documents {
    pub(crate) plain: Plain,
    /// The core group.
    pub(crate) core: Aggregated,
    /// All other groups.
    pub(crate) groups: Aggregated,
    pub(crate) openapi: OpenApi,
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

    /// The documents of discovery and OpenAPI.
    pub(crate) fn documents(&self) -> &Documents {
        self.documents.get_or_init(|| Documents::of(&self.registry, &self.shelf))
    }
}

impl Documents {
    fn of(registry: &Registry, shelf: &Arc<Shelf>) -> Documents {
        let (core, named): (Vec<_>, Vec<_>) = groups::of(registry).into_iter().partition(|group| group.name.is_empty());
        Documents {
            plain: Plain::of(&core, &named),
            openapi: OpenApi::of(registry, shelf),
            core: Aggregated::of(&core),
            groups: Aggregated::of(&named),
        }
    }
}
