//! The kinds that a server serves, as its discovery tells.

use crate::client::Client;
use anyhow::{Result, ensure};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tree::Value;

/// The document with all groups, versions and kinds.
pub(crate) const DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
/// The characters that are not escaped in a segment of a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':');
/// The group of definitions of custom resources.
pub(crate) const DEFINITIONS: &str = "apiextensions.k8s.io";

/// A kind that is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) plural: String,
    pub(crate) is_namespaced: bool,
    /// Whether its objects can be listed.
    pub(crate) is_listed: bool,
}

impl Kind {
    /// A kind that is not served, whose objects are looked for where they would be.
    pub(crate) fn unserved(api_version: &str, kind: &str) -> Kind {
        let (group, version) = group_version(api_version);
        let plural = format!("{}s", kind.to_lowercase());
        let [group, version, kind] = [group, version, kind].map(str::to_owned);
        Kind { group, version, kind, plural, is_namespaced: true, is_listed: false }
    }

    /// The group and version, as in `apiVersion`.
    pub(crate) fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    /// The name of the resource: `deployments.apps`.
    pub(crate) fn resource(&self) -> String {
        match self.group.as_str() {
            "" => self.plural.clone(),
            group => format!("{}.{group}", self.plural),
        }
    }

    /// The path of the objects of this kind, in a namespace if they have one.
    pub(crate) fn collection(&self, namespace: &str) -> String {
        let Kind { group, version, plural, .. } = self;
        let root = if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
        match self.is_namespaced && !namespace.is_empty() {
            true => format!("{root}/namespaces/{}/{plural}", segment(namespace)),
            false => format!("{root}/{plural}"),
        }
    }

    /// The path of an object.
    pub(crate) fn path(&self, namespace: &str, name: &str) -> String {
        format!("{}/{}", self.collection(namespace), segment(name))
    }
}

fn segment(text: &str) -> impl std::fmt::Display + '_ {
    utf8_percent_encode(text, SEGMENT)
}

fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

/// The group and the version of an `apiVersion`.
pub(crate) fn group_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

/// The kinds that are served, the preferred version of each first.
#[derive(Debug, Default)]
pub(crate) struct Kinds(Vec<Kind>);

impl Kinds {
    /// Asks the server.
    ///
    /// # Errors
    /// If it does not tell.
    pub(crate) async fn discover(client: &mut Client) -> Result<Kinds> {
        let mut documents = Vec::new();
        for path in ["/api", "/apis"] {
            let answer = client.get(path, DISCOVERY).await?;
            ensure!(answer.code.is_success(), "the server does not tell its kinds: {}", answer.message());
            documents.push(answer.body);
        }
        Ok(Kinds::of_documents(&documents))
    }

    /// The kinds in documents of discovery.
    pub(crate) fn of_documents(documents: &[Value]) -> Kinds {
        let groups = documents.iter().flat_map(|one| one["items"].as_array().map_or(&[][..], Vec::as_slice));
        Kinds(groups.flat_map(kinds_of).collect())
    }

    /// The versions of a resource, the preferred one first.
    pub(crate) fn of<'k>(&'k self, group: &'k str, plural: &'k str) -> impl Iterator<Item = &'k Kind> {
        self.0.iter().filter(move |kind| kind.group == group && kind.plural == plural)
    }

    /// The kind of an `apiVersion`.
    pub(crate) fn find(&self, api_version: &str, kind: &str) -> Option<&Kind> {
        let (group, version) = group_version(api_version);
        self.0.iter().find(|one| one.group == group && one.version == version && one.kind == kind)
    }

    /// The `apiVersion`s that have a kind of this name, each group with its preferred one.
    pub(crate) fn named(&self, kind: &str) -> Vec<String> {
        let mut found: Vec<&Kind> = Vec::new();
        for one in self.0.iter().filter(|one| one.kind == kind) {
            if found.iter().all(|other| other.group != one.group) {
                found.push(one);
            }
        }
        found.into_iter().map(Kind::api_version).collect()
    }

    /// The versions that have a kind of this name in a group.
    pub(crate) fn versions(&self, group: &str, kind: &str) -> Vec<String> {
        let found = self.0.iter().filter(|one| one.group == group && one.kind == kind);
        found.map(Kind::api_version).collect()
    }

    /// All kinds, each in its preferred version only.
    pub(crate) fn preferred(&self) -> impl Iterator<Item = &Kind> {
        let is_first = |index: usize, kind: &Kind| {
            !self.0[..index].iter().any(|before| before.group == kind.group && before.plural == kind.plural)
        };
        self.0.iter().enumerate().filter(move |(index, kind)| is_first(*index, kind)).map(|(_, kind)| kind)
    }
}

/// The kinds of a group in the document.
fn kinds_of(group: &Value) -> impl Iterator<Item = Kind> + '_ {
    let name = group["metadata"]["name"].as_str().unwrap_or_default();
    let versions = group["versions"].as_array().map_or(&[][..], Vec::as_slice);
    versions.iter().flat_map(move |version| {
        let resources = version["resources"].as_array().map_or(&[][..], Vec::as_slice);
        resources.iter().map(move |resource| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let own = &resource["responseKind"];
            let or = |own: &Value, other: &str| own.as_str().filter(|own| !own.is_empty()).unwrap_or(other).to_owned();
            let version = text(&version["version"]);
            Kind {
                group: or(&own["group"], name),
                version: or(&own["version"], &version),
                kind: text(&own["kind"]),
                plural: text(&resource["resource"]),
                is_namespaced: resource["scope"] == "Namespaced",
                is_listed: resource["verbs"].as_array().is_some_and(|verbs| verbs.contains(&Value::from("list"))),
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn kinds_are_found() {
        let group = json!({"metadata": {"name": "a.com"}, "versions": [
            {"version": "v2", "resources": [{"resource": "bs", "scope": "Namespaced", "responseKind": {"group": "a.com", "version": "v2", "kind": "B"}}]},
            {"version": "v1", "resources": [{"resource": "bs", "scope": "Namespaced", "responseKind": {"group": "a.com", "version": "v1", "kind": "B"}}]},
        ]});
        let kinds = Kinds(kinds_of(&group).collect());
        assert_eq!(kinds.find("a.com/v1", "B").unwrap().path("n", "a:b/c"), "/apis/a.com/v1/namespaces/n/bs/a:b%2Fc");
        assert_eq!(kinds.named("B"), ["a.com/v2"]);
        assert_eq!(kinds.versions("a.com", "B"), ["a.com/v2", "a.com/v1"]);
        assert_eq!(kinds.preferred().count(), 1);
        assert!(kinds.find("a.com/v3", "B").is_none());
    }
}
