//! The resources that scenarios call by their plural alone: those of the record. Everything else is reached with `request METHOD /path`.
//!
//! They are not read from discovery, which is itself under test. A scenario adds to them with a line `custom`.

use conformance_judge::scenario::CustomResource;
use std::borrow::Cow;
use std::sync::LazyLock;

/// A resource: its path and its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// The plural: `configmaps`.
    pub plural: Cow<'static, str>,
    /// The API version: `v1`, `apps/v1`.
    pub api_version: Cow<'static, str>,
    /// The kind: `ConfigMap`.
    pub kind: Cow<'static, str>,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

/// The record of a real server's resources, in which the fake finds its own, too.
const RECORD: &str = include_str!("../../fake-apiserver/src/registry/kinds.txt");
/// The record of those that it serves only if it is asked for them.
const OPTIONAL: &str = include_str!("../../fake-apiserver/src/registry/kinds_optional.txt");

/// A resource of the record.
struct Recorded {
    resource: Resource,
    /// Whether objects are stored in this version, and can be created.
    is_stored: bool,
    /// The subresources that have kinds of their own: name, API version, kind.
    subresources: Vec<(&'static str, &'static str, &'static str)>,
}

/// The resources of the record; the storage version first, where there are several.
static RECORDED: LazyLock<Vec<Recorded>> = LazyLock::new(|| {
    let blocks = |record: &'static str| {
        record.split("\n\n").filter(|block| !block.starts_with(['#', ' ']) && !block.starts_with("text "))
    };
    let (stored, others): (Vec<&str>, Vec<&str>) = blocks(RECORD).partition(|block| !block.contains("\n  stored "));
    let optional = blocks(OPTIONAL).map(|block| Recorded { is_stored: false, ..Recorded::read(block) });
    stored.into_iter().chain(others).map(Recorded::read).chain(optional).collect()
});

impl Recorded {
    /// Reads the lines of a resource, which the head of the record describes.
    fn read(block: &'static str) -> Recorded {
        let (head, rest) = block.split_once('\n').unwrap_or((block, ""));
        let [version, plural, _, kind, scope] = words(head);
        let resource = Resource {
            plural: plural.into(),
            api_version: api_version(version).into(),
            kind: kind.into(),
            namespaced: scope == "namespaced",
        };
        let verbs = rest.lines().find_map(|line| line.strip_prefix("  verbs ")).unwrap_or_default();
        let has = |wanted: &str| verbs.split(' ').any(|verb| verb == wanted);
        let is_stored = has("create") && has("get") && !block.contains("\n  stored ");
        let subresources = rest.lines().filter_map(|line| {
            let [name, own, written, _] = words(line.strip_prefix("  sub ")?);
            let version = api_version(if own == "-" { version } else { own });
            (own != "-" || written != kind).then_some((name, version, written))
        });
        Recorded { resource, is_stored, subresources: subresources.collect() }
    }
}

/// The stored resources whose objects clients create, in their storage versions.
pub(crate) fn stored() -> impl Iterator<Item = &'static Resource> {
    RECORDED.iter().filter(|one| one.is_stored).map(|one| &one.resource)
}

/// The resource with that plural in that API version.
pub(crate) fn served(plural: &str, api_version: &str) -> Option<&'static Resource> {
    let mut all = RECORDED.iter().map(|one| &one.resource);
    all.find(|resource| resource.plural == plural && resource.api_version == api_version)
}

/// The resource of that kind in that API version.
pub(crate) fn of_kind(api_version: &str, kind: &str) -> Option<&'static Resource> {
    let mut all = RECORDED.iter().map(|one| &one.resource);
    all.find(|resource| resource.kind == kind && resource.api_version == api_version)
}

/// All resources, in the order of the record.
pub(crate) fn in_order() -> Vec<&'static Resource> {
    let heads = RECORD.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', ' ']));
    let heads = heads.filter(|line| !line.starts_with("text "));
    heads.map(words).filter_map(|[version, plural, _]| served(plural, api_version(version))).collect()
}

/// The first `N` words of a line; the last one includes the rest.
fn words<const N: usize>(line: &'static str) -> [&'static str; N] {
    let mut words = line.splitn(N, ' ');
    std::array::from_fn(|_| words.next().unwrap_or_else(|| panic!("too few words in the record: {line:?}")))
}

/// The API version of a group and a version with a slash, of which the core group has none.
fn api_version(text: &'static str) -> &'static str {
    text.strip_prefix('/').unwrap_or(text)
}

impl Resource {
    /// The plural with the group, if it has one: `pods`, `deployments.apps`.
    pub(crate) fn name(&self) -> String {
        match self.api_version.split_once('/') {
            Some((group, _)) => format!("{}.{group}", self.plural),
            None => self.plural.to_string(),
        }
    }

    /// The path of the collection, in `namespace` (`None`: in all).
    pub(crate) fn collection(&self, namespace: Option<&str>) -> String {
        let Resource { plural, api_version, namespaced, .. } = self;
        let root = if api_version.contains('/') { "apis" } else { "api" };
        match namespace.filter(|_| *namespaced) {
            Some(namespace) => format!("/{root}/{api_version}/namespaces/{namespace}/{plural}"),
            None => format!("/{root}/{api_version}/{plural}"),
        }
    }
}

impl From<&CustomResource> for Resource {
    fn from(custom: &CustomResource) -> Resource {
        let CustomResource { plural, api_version, kind, namespaced } = custom.clone();
        Resource { plural: plural.into(), api_version: api_version.into(), kind: kind.into(), namespaced }
    }
}

/// A resource, one of its objects, or a subresource of one: `pods`, `pods/a`, `pods/a/status`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The resource.
    pub resource: Resource,
    /// The object's name; may have `$names` in it.
    pub name: Option<String>,
    /// The subresource.
    pub subresource: Option<String>,
}

impl Reference {
    /// Reads `resource[.group|.version][/name[/subresource]]`, where the resource is one of the list or of `customs`.
    pub fn parse(word: &str, customs: &[CustomResource]) -> Result<Reference, String> {
        let mut parts = word.splitn(3, '/');
        let called = parts.next().unwrap_or_default();
        let (plural, part) = called.split_once('.').unwrap_or((called, ""));
        let is_meant = |resource: &Resource| {
            resource.plural == plural && (part.is_empty() || resource.api_version.split('/').any(|name| name == part))
        };
        let mut resources = customs.iter().map(Resource::from).chain(RECORDED.iter().map(|one| one.resource.clone()));
        let resource = resources.find(is_meant).ok_or_else(|| {
            format!(
                "no resource called {called:?} is recorded or named by a line `custom`; `request METHOD /path` reaches any"
            )
        })?;
        let mut part = || parts.next().map(str::to_owned);
        Ok(Reference { resource, name: part(), subresource: part() })
    }

    /// The path of the collection, in `namespace` (`None`: in all).
    pub fn collection(&self, namespace: Option<&str>) -> String {
        self.resource.collection(namespace)
    }

    /// The API version and kind of the bodies sent here.
    pub fn written_as(&self) -> (&str, &str) {
        let own = (&*self.resource.api_version, &*self.resource.kind);
        let Some(subresource) = &self.subresource else { return own };
        // The scale of a custom resource is that of any.
        let mut all = RECORDED.iter().flat_map(|one| &one.subresources);
        all.find(|(name, ..)| name == subresource).map_or(own, |(_, api_version, kind)| (api_version, kind))
    }
}
