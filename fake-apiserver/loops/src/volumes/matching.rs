//! Which volume is for a claim.
//!
//! Ports `storage/volume/{pv_helpers,helpers}.go` of `k8s.io/component-helpers` (v0.37.1) and `index.go` of the binder.

use super::VOLUMES;
use crate::objects::Objects;
use crate::workloads::facts::{affinity, read};
use machinery::object::meta;
use machinery::object::selector::LabelSelector;
use quantity::Quantity;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tree::Value;

/// The annotation that names a class where there was no field yet.
const CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// Modes of access, in the order in which upstream writes them.
const MODES: [&str; 4] = ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"];

/// The class of a claim or a volume; empty for none.
pub(crate) fn class(object: &Value) -> &str {
    meta::annotations(object).get(CLASS).unwrap_or_else(|| read::text(object, "/spec/storageClassName"))
}

/// Whether a claim has a class, be it the empty one.
pub(super) fn has_class(claim: &Value) -> bool {
    let given = claim.pointer("/spec/storageClassName").is_some_and(Value::is_string);
    given || meta::annotations(claim).get(CLASS).is_some()
}

/// Whether a volume is bound to a claim, or reserved for it.
pub(crate) fn is_bound_to(volume: &Value, claim: &Value) -> bool {
    let uid = read::text(volume, "/spec/claimRef/uid");
    has_claim(volume)
        && read::text(volume, "/spec/claimRef/name") == meta::name(claim)
        && read::text(volume, "/spec/claimRef/namespace") == meta::namespace(claim)
        && (uid.is_empty() || uid == meta::uid(claim))
}

/// Whether a volume names a claim.
pub(super) fn has_claim(volume: &Value) -> bool {
    volume.pointer("/spec/claimRef").is_some_and(Value::is_object)
}

/// Whether both are used in the same way: as file systems, or as devices.
pub(super) fn has_mode_of(volume: &Value, claim: &Value) -> bool {
    let mode = |object: &Value| match read::text(object, "/spec/volumeMode") {
        "" => "Filesystem".to_owned(),
        mode => mode.to_owned(),
    };
    mode(volume) == mode(claim)
}

fn texts<'v>(object: &'v Value, at: &str) -> impl Iterator<Item = &'v str> {
    read::list(object, at).iter().filter_map(Value::as_str)
}

/// Whether a volume has all modes of access that a claim asks for.
pub(super) fn has_access_of(volume: &Value, claim: &Value) -> bool {
    texts(claim, "/spec/accessModes").all(|wanted| texts(volume, "/spec/accessModes").any(|mode| mode == wanted))
}

fn quantity(object: &Value, at: &str) -> Quantity {
    let text = match object.pointer(at) {
        Some(Value::String(text)) => text.to_string(),
        Some(Value::Null) | None => "0".to_owned(),
        Some(number) => number.to_string(),
    };
    Quantity::parse(&text).unwrap_or_else(|_| Quantity::count(0))
}

fn capacity(volume: &Value) -> Quantity {
    quantity(volume, "/spec/capacity/storage")
}

/// The size that a claim asks for.
pub(crate) fn request(claim: &Value) -> Quantity {
    quantity(claim, "/spec/resources/requests/storage")
}

fn attributes_class(object: &Value) -> &str {
    read::text(object, "/spec/volumeAttributesClassName")
}

/// Why a volume that a claim names cannot be its volume, if so (`checkVolumeSatisfyClaim`).
pub(super) fn mismatch(volume: &Value, claim: &Value) -> Option<String> {
    if meta::deletion_timestamp(volume).is_some() {
        return Some(format!("the volume is marked for deletion {:?}", meta::name(volume)));
    }
    let why = match () {
        () if capacity(volume).value() < request(claim).value() => "requested PV is too small",
        () if class(volume) != class(claim) => "storageClassName does not match",
        () if attributes_class(volume) != attributes_class(claim) => "volumeAttributesClassName does not match",
        () if !has_mode_of(volume, claim) => "incompatible volumeMode",
        () if !has_access_of(volume, claim) => "incompatible accessMode",
        () => return None,
    };
    Some(why.to_owned())
}

/// Whether a claim is worth a look now that a volume has changed: cheap, and never wrongly no.
pub(super) fn may_be_for(volume: &Value, claim: &Value) -> bool {
    match has_claim(volume) {
        true => is_bound_to(volume, claim),
        false => {
            read::text(volume, "/status/phase") == "Available"
                && class(volume) == class(claim)
                && has_access_of(volume, claim)
        }
    }
}

/// The volume that is looked for.
pub(crate) struct Search<'a> {
    pub(crate) claim: &'a Value,
    /// The node from which the volume must be reachable, if the scheduler looks for it.
    pub(crate) node: Option<&'a Value>,
    /// Volumes that are taken.
    pub(crate) taken: &'a BTreeSet<String>,
    /// Whether the scheduler is to bind the claim, so that only a volume counts that is reserved for it.
    pub(crate) delayed: bool,
}

/// The best volume for a claim: with the fewest modes of access, and then the smallest (`findByClaim`).
pub(super) fn best<'o>(claim: &Value, delayed: bool, objects: &'o Objects) -> Option<&'o Arc<Value>> {
    let mut groups: BTreeMap<(usize, String), Vec<&Arc<Value>>> = BTreeMap::new();
    for (_, volume) in objects.all(&VOLUMES) {
        let is_taken = has_claim(volume) && !is_bound_to(volume, claim);
        if is_taken || !has_access_of(volume, claim) {
            continue;
        }
        let modes = MODES.into_iter().filter(|mode| texts(volume, "/spec/accessModes").any(|own| own == *mode));
        let modes: Vec<&str> = modes.collect();
        groups.entry((modes.len(), modes.join(","))).or_default().push(volume);
    }
    let search = Search { claim, node: None, taken: &BTreeSet::new(), delayed };
    groups.into_values().find_map(|volumes| smallest(&search, volumes))
}

/// The smallest volume for a claim, or one that is reserved for it (`FindMatchingVolume`).
pub(crate) fn smallest<'o>(
    search: &Search<'_>,
    volumes: impl IntoIterator<Item = &'o Arc<Value>>,
) -> Option<&'o Arc<Value>> {
    let Search { claim, node, taken, delayed } = search;
    let wanted = request(claim);
    let selector = claim.pointer("/spec/selector").and_then(LabelSelector::structured);
    let mut found: Option<(&Arc<Value>, Quantity)> = None;
    for volume in volumes {
        let is_own = is_bound_to(volume, claim);
        if taken.contains(meta::name(volume)) || (has_claim(volume) && !is_own) {
            continue;
        }
        let size = capacity(volume);
        if size < wanted
            || !has_mode_of(volume, claim)
            || attributes_class(volume) != attributes_class(claim)
            || meta::deletion_timestamp(volume).is_some()
        {
            continue;
        }
        let is_near = node.is_none_or(|node| is_reachable(volume, node));
        if is_own {
            return is_near.then_some(volume);
        }
        let is_free = read::text(volume, "/status/phase") == "Available";
        let is_selected = selector.as_ref().is_none_or(|selector| selector.matches(meta::labels(volume).iter()));
        if (node.is_none() && *delayed)
            || !is_free
            || !is_selected
            || class(volume) != class(claim)
            || !is_near
            || (node.is_some() && !has_access_of(volume, claim))
        {
            continue;
        }
        if found.as_ref().is_none_or(|(_, smallest)| *smallest > size) {
            found = Some((volume, size));
        }
    }
    found.map(|(volume, _)| volume)
}

/// Whether a volume can be reached from a node (`CheckNodeAffinity`).
pub(crate) fn is_reachable(volume: &Value, node: &Value) -> bool {
    let required = volume.pointer("/spec/nodeAffinity/required");
    required.is_none_or(|required| affinity::selects(required, node))
}
