//! The versions and resources that are served: those of the record, but for what `--runtime-config` turns off, and those that it asks for.
//!
//! Follows `pkg/server/options/api_enablement.go` and `pkg/server/resourceconfig/helpers.go` of `k8s.io/apiserver` (v0.37.1), and
//! `Complete` of `pkg/controlplane/apiserver/options/options.go` (v1.37.1).

use super::lookup::Registry;
use super::resource::Version;
use crate::schema::quote;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Group versions that a server has only if it is asked for them, of those in `…DisabledByDefault` of `pkg/controlplane/instance.go`
/// (v1.37.1).
const OPTIONAL: [&str; 2] = ["resource.k8s.io/v1beta1", "resource.k8s.io/v1beta2"];
/// The others, which this one cannot serve.
const ABSENT: [&str; 20] = [
    "admissionregistration.k8s.io/v1alpha1",
    "admissionregistration.k8s.io/v1beta1",
    "authentication.k8s.io/v1alpha1",
    "authentication.k8s.io/v1beta1",
    "certificates.k8s.io/v1alpha1",
    "certificates.k8s.io/v1beta1",
    "coordination.k8s.io/v1alpha2",
    "coordination.k8s.io/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1beta2",
    "flowcontrol.apiserver.k8s.io/v1beta3",
    "internal.apiserver.k8s.io/v1alpha1",
    "lifecycle.k8s.io/v1alpha1",
    "networking.k8s.io/v1beta1",
    "resource.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1beta1",
    "storage.k8s.io/v1alpha1",
    "storage.k8s.io/v1beta1",
    "storagemigration.k8s.io/v1beta1",
];
/// Group versions that it knows, and serves in no case.
const KNOWN: [&str; 14] = [
    "apiextensions.k8s.io/v1beta1",
    "apiregistration.k8s.io/v1beta1",
    "apps/v1beta1",
    "apps/v1beta2",
    "authorization.k8s.io/v1beta1",
    "batch/v1beta1",
    "discovery.k8s.io/v1beta1",
    "events.k8s.io/v1beta1",
    "extensions/v1beta1",
    "imagepolicy.k8s.io/v1alpha1",
    "node.k8s.io/v1beta1",
    "policy/v1beta1",
    "rbac.authorization.k8s.io/v1alpha1",
    "rbac.authorization.k8s.io/v1beta1",
];

/// The keys that stand for several versions, in the order in which they take effect, and the part of a version's name that they ask for.
const MATCHERS: [(&str, &str); 4] = [("api/all", ""), ("api/ga", "ga"), ("api/beta", "beta"), ("api/alpha", "alpha")];

/// The registry that a configuration leaves of `all`: pairs of `group/version`, `group/version/resource`, or one of `api/all`, `api/ga`,
/// `api/beta` and `api/alpha`, and `true` or `false`. Later pairs replace earlier ones of the same key. Versions that cannot be served
/// are left out, with a warning in the log, if only one of the latter asks for them.
///
/// # Errors
/// kube-apiserver's message, or a message with the versions that are asked for by their names and cannot be served.
pub(crate) fn enabled(all: &Registry, config: &[(String, String)]) -> Result<Registry, String> {
    let config: BTreeMap<&str, &str> =
        config.iter().filter_map(|(key, value)| Some((completed(key)?, &**value))).collect();
    if config.len() == 1 && config.get("api/all") == Some(&"false") {
        return Err("invalid runtime-config with only api/all=false".to_owned());
    }
    let served: Vec<Arc<Version>> = all.versions().map(|served| served.version.clone()).collect();
    let mut versions: BTreeMap<&str, bool> =
        ABSENT.into_iter().chain(OPTIONAL).map(|version| (version, false)).collect();
    versions.extend(served.iter().map(|version| (&*version.api_version, true)));
    let is_matcher = |key: &str| MATCHERS.iter().any(|(matcher, _)| *matcher == key);
    let named = config.iter().filter(|(key, _)| !is_matcher(key));
    let named = named.map(|(key, value)| Ok((*key, Place::parse(key)?, *value))).collect::<Result<Vec<_>, String>>()?;
    let group = |version: &&str| version.split_once('/').map_or_else(String::new, |(group, _)| group.to_owned());
    let groups: Vec<String> = versions.keys().chain(&KNOWN).map(group).collect();
    let unknown = named.iter().filter(|(_, place, _)| !groups.iter().any(|group| group == place.group));
    let unknown: Vec<&str> = unknown.map(|(_, place, _)| place.group_version).collect();
    if !unknown.is_empty() {
        return Err(format!("unknown api groups {}", unknown.join(",")));
    }
    for (key, stage) in MATCHERS {
        let enable = match config.get(key) {
            None => continue,
            Some(&"true") => true,
            Some(&"false") => false,
            Some(value) => return Err(format!("invalid value {key}={value}")),
        };
        versions.iter_mut().filter(|(version, _)| is_of(version, stage)).for_each(|(_, enabled)| *enabled = enable);
    }
    let is_served =
        |wanted: &str| OPTIONAL.contains(&wanted) || served.iter().any(|version| *version.api_version == *wanted);
    let mut resources: BTreeMap<(&str, &str), bool> = BTreeMap::new();
    let mut absent: Vec<&str> = Vec::new();
    for (key, place, value) in named {
        if !versions.contains_key(place.group_version) && !KNOWN.contains(&place.group_version) {
            return Err(format!("group version {} that has not been registered", place.group_version));
        }
        let enable = parse_bool(value).ok_or_else(|| {
            let why = format!("strconv.ParseBool: parsing {}: invalid syntax", quote(value));
            format!("invalid value of {key}: {value}, err: {why}")
        })?;
        if enable && !is_served(place.group_version) && !absent.contains(&place.group_version) {
            absent.push(place.group_version);
        }
        match place.resource {
            None => drop(versions.insert(place.group_version, enable)),
            Some(resource) if resource.to_lowercase() != resource => {
                let why = "group/version/resource and resource is always lowercase plural, not";
                return Err(format!("invalid key {key}: {why} {}", quote(resource)));
            }
            Some(resource) => drop(resources.insert((place.group_version, resource), enable)),
        }
    }
    if !absent.is_empty() {
        return Err(format!("fake-apiserver does not serve {}", absent.join(", ")));
    }
    // Those that only a matcher asks for are left out: it stands for all that there are.
    let left_out = versions.iter().filter(|(version, enabled)| **enabled && !is_served(version));
    let left_out: Vec<&str> = left_out.map(|(version, _)| *version).collect();
    if !left_out.is_empty() {
        tracing::warn!("fake-apiserver does not serve {}", left_out.join(", "));
    }
    let asked = versions.iter().chain(resources.iter().map(|((version, _), enabled)| (version, enabled)));
    let asks = asked.filter(|(_, enabled)| **enabled).any(|(version, _)| OPTIONAL.contains(version));
    let all = if asks { all.with_optional() } else { all.clone() };
    Ok(all.without_versions(|version| {
        let of_resource = resources.get(&(&*version.api_version, &*version.plural)).copied();
        !of_resource.unwrap_or_else(|| versions.get(&*version.api_version).copied().unwrap_or_default())
    }))
}

/// The key under which a pair counts: all that are about the core group share one. None, if it is ignored.
fn completed(key: &str) -> Option<&str> {
    let is_core = |prefix: &str| key.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    match key {
        "api/legacy" => None,
        _ if is_core("v1") || is_core("api/v1") => Some("/v1"),
        _ => Some(key),
    }
}

/// A version of a group, or one resource of it, as a key names it.
struct Place<'k> {
    group: &'k str,
    group_version: &'k str,
    resource: Option<&'k str>,
}

impl<'k> Place<'k> {
    fn parse(key: &'k str) -> Result<Self, String> {
        // The core group has no name, and no slash in the version of its resources.
        let core = |version: &'k str| version.strip_prefix('/').unwrap_or(version);
        let slashes: Vec<usize> = key.match_indices('/').map(|(at, _)| at).collect();
        match slashes[..] {
            [first] => Ok(Place { group: &key[..first], group_version: core(key), resource: None }),
            [first, second] => Ok(Place {
                group: &key[..first],
                group_version: core(&key[..second]),
                resource: Some(&key[second + 1..]),
            }),
            _ => Err(format!("runtime-config invalid key {key}")),
        }
    }
}

/// Whether a version is of a stage: any, `ga`, `beta` or `alpha`.
fn is_of(api_version: &str, stage: &str) -> bool {
    let name = api_version.rsplit('/').next().unwrap_or_default();
    let letters = name.strip_prefix('v').unwrap_or(name).trim_matches(|letter: char| letter.is_ascii_digit());
    match stage {
        "" => true,
        "ga" => letters.is_empty(),
        stage => letters == stage,
    }
}

/// `strconv.ParseBool`, where no text is true.
fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "" | "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configured(text: &str) -> Result<Registry, String> {
        let pairs = text.split(',').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let pairs: Vec<(String, String)> = pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        enabled(&Registry::built_in(), &pairs)
    }

    /// kube-apiserver's messages, and those about versions that this server lacks.
    #[test]
    fn refusals() {
        for (config, expected) in [
            ("foo/v1", "unknown api groups foo/v1"),
            ("api/foo=true", "unknown api groups api/foo"),
            ("api/v9", "unknown api groups api/v9"),
            ("api/v1/pods=no", "invalid value of /v1: no, err: strconv.ParseBool: parsing \"no\": invalid syntax"),
            ("api/alpha=x", "invalid value api/alpha=x"),
            ("apps/v2=true", "group version apps/v2 that has not been registered"),
            ("apps/v1,batch/v2=false", "group version batch/v2 that has not been registered"),
            ("api/all=false", "invalid runtime-config with only api/all=false"),
            ("nope", "runtime-config invalid key nope"),
            ("a/b/c/d=true", "runtime-config invalid key a/b/c/d"),
            (
                "apps/v1/Deployments=false",
                "invalid key apps/v1/Deployments: group/version/resource and resource is always lowercase plural, not \
                 \"Deployments\"",
            ),
            (
                "apps/v1=maybe",
                "invalid value of apps/v1: maybe, err: strconv.ParseBool: parsing \"maybe\": invalid syntax",
            ),
            ("resource.k8s.io/v1alpha3=true", "fake-apiserver does not serve resource.k8s.io/v1alpha3"),
            ("apps/v1beta1/deployments", "fake-apiserver does not serve apps/v1beta1"),
            ("api/all=true,storage.k8s.io/v1beta1=true", "fake-apiserver does not serve storage.k8s.io/v1beta1"),
        ] {
            assert_eq!(configured(config).err().as_deref(), Some(expected), "{config}");
        }
    }

    #[test]
    fn versions_and_resources_are_turned_off() {
        for (config, served, gone) in [
            ("apps/v1=false", "batch/v1 jobs", "apps/v1 deployments"),
            ("apps/v1/deployments=false", "apps/v1 replicasets", "apps/v1 deployments"),
            ("api/all=false,apps/v1=true", "apps/v1 deployments", "batch/v1 jobs"),
            (
                "api/ga=false,autoscaling/v1",
                "autoscaling/v1 horizontalpodautoscalers",
                "autoscaling/v2 horizontalpodautoscalers",
            ),
            (
                "api/beta=false,api/alpha=false,apps/v1beta1=false,api/ga=true",
                "apps/v1 deployments",
                "apps/v1beta1 deployments",
            ),
            ("api/all=false,api/v1,apps/v1/deployments=true", "apps/v1 deployments", "batch/v1 jobs"),
            ("events.k8s.io/v1=false", "apps/v1 deployments", "events.k8s.io/v1 events"),
            // What only a matcher asks for is left out, if it is not there.
            ("api/all=true", "resource.k8s.io/v1beta2 resourceclaims", "resource.k8s.io/v1alpha3 devicetaintrules"),
            ("api/beta=true", "resource.k8s.io/v1beta1 resourceclaims", "resource.k8s.io/v1beta1 devicetaintrules"),
            (
                "resource.k8s.io/v1beta2",
                "resource.k8s.io/v1beta2 devicetaintrules",
                "resource.k8s.io/v1beta1 resourceclaims",
            ),
            (
                "resource.k8s.io/v1beta2/resourceslices=true",
                "resource.k8s.io/v1beta2 resourceslices",
                "resource.k8s.io/v1beta2 deviceclasses",
            ),
            ("batch/v1=true", "resource.k8s.io/v1 resourceclaims", "resource.k8s.io/v1beta2 resourceclaims"),
            ("api/beta=true,batch/v1=false", "apps/v1 deployments", "batch/v1 jobs"),
            ("api/all=true,resource.k8s.io/v1beta2=false", "resource.k8s.io/v1 resourceclaims", "a/v1 b"),
        ] {
            let registry = configured(config).expect(config);
            let is_served = |text: &str| {
                let (version, plural) = text.split_once(' ').expect("a version and a plural");
                let (group, version) = version.split_once('/').expect("a group and a version");
                registry.path(group, version, plural).is_some()
            };
            assert_eq!((is_served(served), is_served(gone)), (true, false), "{config}");
        }
    }
}
