//! The kinds that a client finds for a resource by discovery.
//!
//! Follows `restmapper/discovery.go` of `k8s.io/client-go` and `pkg/api/meta/restmapper.go` of `k8s.io/apimachinery` (v0.37.1).

use super::groups;
use crate::registry::Registry;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// A kind in a version of a group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupVersionKind {
    /// The group, empty for core.
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
}

/// The kinds of all resources.
pub(crate) struct RestMapper {
    /// Groups and kinds by version and resource, in the order of discovery.
    kinds: HashMap<(String, String), Vec<(String, String)>>,
}

impl RestMapper {
    /// The kinds of the resources of a registry.
    pub(crate) fn of(registry: &Registry) -> Self {
        let (core, named): (Vec<_>, Vec<_>) = groups::of(registry).into_iter().partition(|group| group.name.is_empty());
        let mut kinds = HashMap::<_, Vec<_>>::new();
        for group in core.into_iter().chain(named) {
            for version in group.versions {
                let mut of_version = BTreeMap::new();
                for served in version.resources {
                    let kind = &*served.version.kind;
                    for name in [&served.resource.singular, &served.version.plural] {
                        of_version.insert(name.to_string(), kind.to_owned());
                    }
                    guess(&mut of_version, format!("{kind}List"));
                }
                guess(&mut of_version, "List".to_owned());
                for (resource, kind) in of_version {
                    kinds.entry((version.name.to_owned(), resource)).or_default().push((group.name.to_owned(), kind));
                }
            }
        }
        RestMapper { kinds }
    }

    /// The kinds of a resource, by its plural or singular (`KindsFor`). Without a group they are those of all groups with that version.
    pub(crate) fn kinds_for(
        &self,
        group: &str,
        version: &str,
        resource: &str,
    ) -> impl Iterator<Item = GroupVersionKind> {
        let key = (version.to_owned(), resource.to_lowercase());
        let found = self.kinds.get(&key).into_iter().flatten();
        let wanted = found.filter(move |(own, _)| group.is_empty() || own == group);
        wanted.map(move |(group, kind)| GroupVersionKind {
            group: group.clone(),
            version: version.to_owned(),
            kind: kind.clone(),
        })
    }
}

/// Adds a kind of lists by the names that its resource would have, which there is none of.
fn guess(kinds: &mut BTreeMap<String, String>, kind: String) {
    let singular = kind.to_lowercase();
    kinds.insert(format!("{singular}s"), kind.clone());
    kinds.insert(singular, kind);
}

/// The kind as Go prints it.
impl fmt::Display for GroupVersionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}, Kind={}", self.group, self.version, self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_found_by_the_names_of_their_resources() {
        let mapper = RestMapper::of(&Registry::built_in());
        for (group, version, resource, expected) in [
            ("apps", "v1", "deployments", &["apps/v1, Kind=Deployment"][..]),
            ("apps", "v1", "Deployment", &["apps/v1, Kind=Deployment"]),
            ("apps", "v2", "deployments", &[]),
            ("apps", "v1", "deploymentlists", &["apps/v1, Kind=DeploymentList"]),
            ("", "v1", "pods", &["/v1, Kind=Pod"]),
            ("", "v1", "deployments", &["apps/v1, Kind=Deployment"]),
            ("", "v1", "events", &["/v1, Kind=Event", "events.k8s.io/v1, Kind=Event"]),
            ("events.k8s.io", "v1", "events", &["events.k8s.io/v1, Kind=Event"]),
        ] {
            let found = mapper.kinds_for(group, version, resource).map(|kind| kind.to_string());
            assert_eq!(found.collect::<Vec<_>>(), expected, "{group} {version} {resource}");
        }
    }
}
