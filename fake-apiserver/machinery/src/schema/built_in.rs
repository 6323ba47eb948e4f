//! Kubernetes' own types. Their definitions are compiled in as text; the types of a kind are read when they are first needed. Those of
//! versions that a server has only if it is asked for them are in a text of their own, which no other server looks at.

use super::data::read_kind;
use super::definitions::{Definitions, KindLine};
use super::types::{OwnedType, TypeRef};
use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

/// The text of the types of versions that a server has only if it is asked for them.
const OPTIONAL_TYPES: &str = include_str!("types_optional.txt");

/// The types of the versions that every server has.
static BUILT_IN: LazyLock<BuiltIn> =
    LazyLock::new(|| BuiltIn::of(Definitions::of(include_str!("types.txt")).expect(WRITTEN)));
/// The types of the others.
static OPTIONAL: LazyLock<BuiltIn> =
    LazyLock::new(|| BuiltIn::of(Definitions::over(&BUILT_IN.definitions, OPTIONAL_TYPES).expect(WRITTEN)));

/// The data is compiled in, and the tests load all of it.
const WRITTEN: &str = "`cargo xtask schema` writes definitions";

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
    fn of(definitions: Definitions<'static>) -> Self {
        let mut roots: Vec<Root> =
            definitions.kinds.iter().map(|line| Root { line: *line, ty: OnceLock::new() }).collect();
        roots.sort_by_key(|root| (root.line.kind, root.line.api_version));
        BuiltIn { definitions, roots }
    }

    fn root(&self, api_version: &str, kind: &str) -> Option<&Root> {
        let key = (kind, api_version);
        let at = self.roots.binary_search_by_key(&key, |root| (root.line.kind, root.line.api_version)).ok()?;
        Some(&self.roots[at])
    }
}

/// The kind in that version. `DeleteOptions` and its like are part of every version.
fn root(api_version: &str, kind: &str) -> Option<&'static Root> {
    let everywhere = || BUILT_IN.root("*", kind);
    let optional = || is_optional(api_version).then(|| OPTIONAL.root(api_version, kind))?;
    BUILT_IN.root(api_version, kind).or_else(everywhere).or_else(optional)
}

/// Whether a version is one that a server has only if it is asked for it: their kinds are at the head of the text.
fn is_optional(api_version: &str) -> bool {
    let kinds =
        OPTIONAL_TYPES.lines().skip_while(|line| line.starts_with('#')).map_while(|line| line.strip_prefix("kind "));
    kinds.map_while(|kind| kind.split(' ').next()).any(|version| version == api_version)
}

impl Root {
    fn ty(&self) -> &OwnedType {
        self.ty.get_or_init(|| {
            let of = if is_optional(self.line.api_version) { &OPTIONAL } else { &BUILT_IN };
            let types = read_kind(&of.definitions, self.line).expect("`cargo xtask schema` writes types");
            Arc::new(types).owned(self.line.api_version, self.line.kind).expect("the type of the kind was read")
        })
    }
}

impl ObjectType {
    /// The built-in type of a kind, not read yet.
    pub fn built_in(api_version: &str, kind: &str) -> Option<Self> {
        Some(ObjectType(Source::BuiltIn(root(api_version, kind)?)))
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
    Some(root(api_version, kind)?.ty().get())
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
    root(api_version, kind).is_some()
}

/// All built-in types that kinds contain; those in several kinds occur several times.
pub fn every_type() -> impl Iterator<Item = TypeRef<'static>> {
    [&BUILT_IN, &OPTIONAL].into_iter().flat_map(|built_in| &built_in.roots).flat_map(|root| root.ty().get().arena())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_types_load() {
        assert!(BUILT_IN.roots.len() > 100);
        for root in BUILT_IN.roots.iter().chain(&OPTIONAL.roots) {
            assert_eq!(root.ty().get().name(), root.line.type_name);
        }
    }
}
