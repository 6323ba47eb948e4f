//! Kubernetes' own types. Their definitions are compiled in as text; the types of a kind are read when they are first needed.

use super::data::read_kind;
use super::definitions::{Definitions, KindLine};
use super::types::{OwnedType, TypeRef};
use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

static BUILT_IN: LazyLock<BuiltIn> = LazyLock::new(BuiltIn::load);

struct BuiltIn {
    definitions: Definitions<'static>,
    /// Ordered by kind and `apiVersion`.
    roots: Vec<Root>,
}

/// A built-in kind.
struct Root {
    line: KindLine<'static>,
    ty: OnceLock<OwnedType>,
}

/// The type of the objects of a resource.
#[derive(Clone)]
pub struct ObjectType(Source);

#[derive(Clone)]
enum Source {
    BuiltIn(&'static Root),
    Own(OwnedType),
}

impl BuiltIn {
    /// # Panics
    /// If the data is not what `cargo xtask schema` writes: it is compiled in, and the tests load all of it.
    fn load() -> Self {
        let definitions = Definitions::of(include_str!("types.txt")).expect("`cargo xtask schema` writes definitions");
        let mut roots: Vec<Root> =
            definitions.kinds.iter().map(|line| Root { line: *line, ty: OnceLock::new() }).collect();
        roots.sort_by_key(|root| (root.line.kind, root.line.api_version));
        BuiltIn { definitions, roots }
    }

    /// `DeleteOptions` and its like are part of every version.
    fn root(&self, api_version: &str, kind: &str) -> Option<&Root> {
        let find = |api_version: &str| {
            let key = (kind, api_version);
            self.roots.binary_search_by_key(&key, |root| (root.line.kind, root.line.api_version)).ok()
        };
        let at = find(api_version).or_else(|| find("*"))?;
        Some(&self.roots[at])
    }
}

impl Root {
    fn ty(&self) -> &OwnedType {
        self.ty.get_or_init(|| {
            let types = read_kind(&BUILT_IN.definitions, self.line).expect("`cargo xtask schema` writes types");
            Arc::new(types).owned(self.line.api_version, self.line.kind).expect("the type of the kind was read")
        })
    }
}

impl ObjectType {
    /// The built-in type of a kind, not read yet.
    pub fn built_in(api_version: &str, kind: &str) -> Option<Self> {
        Some(ObjectType(Source::BuiltIn(BUILT_IN.root(api_version, kind)?)))
    }

    /// The type.
    pub fn get(&self) -> TypeRef<'_> {
        match &self.0 {
            Source::BuiltIn(root) => root.ty().get(),
            Source::Own(ty) => ty.get(),
        }
    }
}

impl From<OwnedType> for ObjectType {
    fn from(ty: OwnedType) -> Self {
        ObjectType(Source::Own(ty))
    }
}

impl fmt::Debug for ObjectType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

/// The built-in type of `kind` in `api_version`, e.g. of `Lease` in `coordination.k8s.io/v1`. `DeleteOptions` and its like
/// are part of every version.
pub fn lookup(api_version: &str, kind: &str) -> Option<TypeRef<'static>> {
    Some(BUILT_IN.root(api_version, kind)?.ty().get())
}

/// `ObjectMeta`, the type of `metadata` of every built-in kind.
///
/// # Panics
/// If the data is not what `cargo xtask schema` writes.
pub fn object_meta() -> TypeRef<'static> {
    let object = lookup("v1", "ConfigMap").expect("ConfigMap is a built-in kind");
    object.of(object.field("metadata").expect("every kind has metadata"))
}

/// Whether the built-in type exists, without reading it.
pub fn knows(api_version: &str, kind: &str) -> bool {
    BUILT_IN.root(api_version, kind).is_some()
}

/// All built-in types that kinds contain; those in several kinds occur several times.
pub fn every_type() -> impl Iterator<Item = TypeRef<'static>> {
    BUILT_IN.roots.iter().flat_map(|root| root.ty().get().arena())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_types_load() {
        assert!(BUILT_IN.roots.len() > 100);
        for root in &BUILT_IN.roots {
            assert_eq!(root.ty().get().name(), root.line.type_name);
        }
    }
}
