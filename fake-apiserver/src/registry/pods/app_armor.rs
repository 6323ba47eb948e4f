//! AppArmor profiles of a new pod: a deprecated annotation becomes the field that has replaced it.
//!
//! Follows `applyAppArmorVersionSkew` of `pkg/registry/core/pod/strategy.go` (v1.37.1).

use crate::error::Path;
use crate::object::meta;
use crate::registry::types::{APP_ARMOR, app_armor_of_annotation};
use crate::registry::{child, items, text};
use tree::Value;

const LISTS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];
/// The longest name of a profile, in bytes.
const LONGEST: usize = 4095;

/// Sets the profiles of containers that have annotations only.
pub(super) fn sync(pod: &mut Value) {
    for (list, index, profile) in annotated(pod).collect::<Vec<_>>() {
        if let (Some(profile), true) = (profile.value, profile.differs) {
            child(&mut pod["spec"][list][index], "securityContext")["appArmorProfile"] = profile;
        }
    }
}

/// Warnings about such annotations, unless the pod's profile says the same.
pub(super) fn warnings(pod: &Value) -> Vec<String> {
    let at = Path::new("metadata.annotations");
    let deprecated = annotated(pod).filter(|(.., profile)| profile.differs);
    deprecated
        .map(|(.., profile)| {
            let at = at.key(&profile.key);
            format!("{at}: deprecated since v1.30; use the \"appArmorProfile\" field instead")
        })
        .collect()
}

/// The profile that an annotation stands for.
struct Annotated {
    key: String,
    /// `None` if the annotation is not valid.
    value: Option<Value>,
    /// Whether it is not the pod's profile.
    differs: bool,
}

/// The containers with an annotation and no profile: the list of each, its index and the profile.
fn annotated(pod: &Value) -> impl Iterator<Item = (&'static str, usize, Annotated)> {
    let of_pod = pod.pointer("/spec/securityContext/appArmorProfile");
    let is_annotated = meta::annotations(pod).iter().any(|(key, _)| key.starts_with(APP_ARMOR));
    let lists = LISTS.into_iter().filter(move |_| is_annotated);
    let containers = lists.flat_map(move |list| {
        let containers = items(&pod["spec"], &format!("/{list}"));
        containers.iter().enumerate().map(move |(index, container)| (list, index, container))
    });
    containers.filter(|_| text(pod, "/spec/os/name") != "windows").filter_map(move |(list, index, container)| {
        let key = format!("{APP_ARMOR}{}", text(container, "/name"));
        let annotation = meta::annotations(pod).get(&key)?;
        if container.pointer("/securityContext/appArmorProfile").is_some() {
            return None;
        }
        let value = Some(app_armor_of_annotation(annotation)).filter(is_valid);
        let differs = value.is_none() || value.as_ref() != of_pod;
        Some((list, index, Annotated { key, value, differs }))
    })
}

/// `ValidateAppArmorProfileField`, of profiles made from annotations.
fn is_valid(profile: &Value) -> bool {
    match profile.get("localhostProfile").and_then(Value::as_str) {
        Some(name) => !name.is_empty() && name.trim() == name && name.len() <= LONGEST,
        None => !profile.is_null(),
    }
}
