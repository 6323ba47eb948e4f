//! The claims of a pod: whether its volumes can be reached from a node, and what the scheduler binds for it.
//!
//! Follows the plugin `volumebinding` (v1.37.1), without the capacity that drivers say they have.

use super::filters::Verdict;
use crate::act::Act;
use crate::objects::Objects;
use crate::resource::Key;
use crate::volumes::needs::{self, SELECTED_NODE};
use crate::volumes::{CLAIMS, CLASSES, VOLUMES, matching, writes};
use crate::workloads::facts::read;
use machinery::object::meta;
use std::collections::BTreeSet;
use std::sync::Arc;
use tree::Value;

/// The claims of a pod.
#[derive(Default)]
pub(super) struct Claims<'o> {
    bound: Vec<&'o Arc<Value>>,
    /// Those that the scheduler is to bind, the smallest first.
    open: Vec<&'o Arc<Value>>,
}

/// Writes that come before a pod gets a node.
pub(super) enum Binding {
    /// Nothing: all is bound.
    Done,
    /// This, if anything, and then its claims are to be bound by others.
    Begun(Vec<Act>),
}

impl<'o> Claims<'o> {
    /// The claims of a pod.
    ///
    /// # Errors
    /// Why it gets no node at all (`PreFilter`).
    pub(super) fn of(pod: &Value, objects: &'o Objects) -> Result<Claims<'o>, String> {
        let mut found = Claims::default();
        let mut is_waiting = false;
        for (name, is_made) in needs::claims(pod) {
            let key = Key { namespace: meta::namespace(pod).to_owned(), name };
            let claim = objects.get(&CLAIMS, &key).ok_or_else(|| missing(&key.name, is_made))?;
            check(claim, pod, is_made)?;
            let is_named = !read::text(claim, "/spec/volumeName").is_empty();
            match () {
                () if is_named && writes::is_bound(claim) => found.bound.push(claim),
                () if !is_named && needs::is_delayed(claim, objects) => found.open.push(claim),
                () => is_waiting = true,
            }
        }
        if is_waiting {
            return Err("pod has unbound immediate PersistentVolumeClaims".to_owned());
        }
        found.open.sort_by_key(|claim| matching::request(claim));
        Ok(found)
    }

    /// Whether a node fits (`Filter`).
    pub(super) fn filter(&self, node: &Value, objects: &Objects) -> Option<Verdict> {
        let mut reasons = Vec::new();
        let volume = |claim: &Value| {
            let name = read::text(claim, "/spec/volumeName").to_owned();
            objects.get(&VOLUMES, &Key { namespace: String::new(), name })
        };
        let volumes: Vec<_> = self.bound.iter().map(|claim| volume(claim)).collect();
        if volumes.iter().flatten().any(|volume| !matching::is_reachable(volume, node)) {
            reasons.push("node(s) didn't match PersistentVolume's node affinity".to_owned());
        }
        if self.place(node, objects).is_none() {
            reasons.push("node(s) didn't find available persistent volumes to bind".to_owned());
        }
        if volumes.iter().any(Option::is_none) {
            reasons.push("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)".to_owned());
        }
        (!reasons.is_empty()).then_some(Verdict::Unfit { reasons, is_full: false })
    }

    /// The writes for a node that fits.
    pub(super) fn bind(&self, node: &Value, objects: &Objects) -> Binding {
        match self.open.is_empty() {
            true => Binding::Done,
            false => Binding::Begun(self.place(node, objects).unwrap_or_default()),
        }
    }

    /// The writes by which the open claims get volumes that can be reached from a node; `None` if there are no such volumes.
    fn place(&self, node: &Value, objects: &Objects) -> Option<Vec<Act>> {
        let mut taken = BTreeSet::new();
        let mut acts = Vec::new();
        for claim in &self.open {
            let selected = needs::selected_node(claim);
            if selected.is_some_and(|selected| selected != meta::name(node)) {
                return None;
            }
            let class = matching::class(claim);
            let search = matching::Search { claim, node: Some(node), taken: &taken, delayed: true };
            let volumes = objects.all(&VOLUMES).map(|(_, volume)| volume).filter(|one| matching::class(one) == class);
            let found = selected.is_none().then(|| matching::smallest(&search, volumes)).flatten();
            match found {
                Some(volume) => {
                    acts.extend(writes::reserved(volume, claim).map(writes::volume));
                    taken.insert(meta::name(volume).to_owned());
                }
                None if is_provisioned(class, node, objects) => {
                    if selected.is_none() {
                        let mut placed = (***claim).clone();
                        writes::annotate(&mut placed, SELECTED_NODE, meta::name(node));
                        acts.push(writes::claim(placed));
                    }
                }
                None => return None,
            }
        }
        Some(acts)
    }
}

fn missing(name: &str, is_made: bool) -> String {
    match is_made {
        true => format!("waiting for ephemeral volume controller to create the persistentvolumeclaim {name:?}"),
        false => format!("persistentvolumeclaim {name:?} not found"),
    }
}

/// `podHasPVCs`
fn check(claim: &Value, pod: &Value, is_made: bool) -> Result<(), String> {
    let name = meta::name(claim);
    if read::text(claim, "/status/phase") == "Lost" {
        let volume = read::text(claim, "/spec/volumeName");
        return Err(format!("persistentvolumeclaim {name:?} bound to non-existent persistentvolume {volume:?}"));
    }
    if meta::deletion_timestamp(claim).is_some() {
        return Err(format!("persistentvolumeclaim {name:?} is being deleted"));
    }
    needs::is_anothers(claim, pod).filter(|_| is_made).map_or(Ok(()), Err)
}

/// Whether a volume of a class can be made for a node (`checkVolumeProvisions`).
fn is_provisioned(class: &str, node: &Value, objects: &Objects) -> bool {
    let Some(class) = objects.get(&CLASSES, &Key { namespace: String::new(), name: class.to_owned() }) else {
        return false;
    };
    let terms = read::list(class, "/allowedTopologies");
    let holds = |expression: &Value| {
        let value = meta::labels(node).get(read::text(expression, "/key"));
        read::list(expression, "/values").iter().any(|one| one.as_str() == value)
    };
    let selects = |term: &Value| {
        let expressions = read::list(term, "/matchLabelExpressions");
        !expressions.is_empty() && expressions.iter().all(holds)
    };
    !matches!(read::text(class, "/provisioner"), "" | "kubernetes.io/no-provisioner")
        && (terms.is_empty() || terms.iter().any(selects))
}
