//! Volumes and claims: they are bound to each other, provisioned, released and deleted, as `pkg/controller/volume/persistentvolume` of
//! `k8s.io/kubernetes` (v1.37.1) does it; claims are made for ephemeral volumes, as by `pkg/controller/volume/ephemeral`; volumes are attached, and claims that grow wait.
//!
//! Where upstream makes several writes in a row, each is a pass of its own here, that begins with what is there. Claims and volumes are looked
//! at when something changes that matters to them, not every 15 seconds. Volumes on paths of hosts are provisioned as upstream does it with
//! `--enable-hostpath-provisioner`; those that are recycled are so at once, without a pod.

mod attached;
mod claims;
mod ephemeral;
mod expanding;
pub(crate) mod matching;
mod migrated;
pub(crate) mod needs;
mod provision;
mod released;
pub(crate) mod writes;

pub(crate) use attached::{AttachDetach, MANAGED};
pub(crate) use ephemeral::Ephemeral;
pub(crate) use expanding::Expander;

use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use crate::workloads::facts::read;
use std::collections::BTreeSet;
use tree::Value;

static PROFILE: Profile = Profile {
    name: "persistentvolume-binder-controller",
    alias: "persistentvolume-binder",
    user: "system:serviceaccount:kube-system:persistent-volume-binder",
    program: "kube-controller-manager",
    component: "persistentvolume-controller",
};

pub(crate) const CLAIMS: Resource = Resource::new("", "v1", "persistentvolumeclaims");
pub(crate) const VOLUMES: Resource = Resource::new("", "v1", "persistentvolumes");
pub(crate) const CLASSES: Resource = Resource::new("storage.k8s.io", "v1", "storageclasses");

/// The loop that binds claims and volumes. The key of a volume has no namespace.
#[derive(Default)]
pub(crate) struct Binder {
    /// The claims that are not bound.
    waiting: BTreeSet<Key>,
    /// Keys to look at after a decision.
    next: Vec<Key>,
}

/// The claim that a volume names.
fn claim_of(volume: &Value) -> Option<Key> {
    let name = read::text(volume, "/spec/claimRef/name");
    let namespace = read::text(volume, "/spec/claimRef/namespace");
    (!name.is_empty()).then(|| Key { namespace: namespace.to_owned(), name: name.to_owned() })
}

fn named(name: &str) -> Key {
    Key { namespace: String::new(), name: name.to_owned() }
}

impl Binder {
    fn note_claim(&mut self, change: &Change<'_>, keys: &mut Keys) {
        match change.new {
            Some(claim) => {
                match writes::is_bound(claim) {
                    true => self.waiting.remove(change.key),
                    false => self.waiting.insert(change.key.clone()),
                };
                keys.add(change.key.clone());
            }
            None => {
                self.waiting.remove(change.key);
                let volume = change.old.map(|claim| read::text(claim, "/spec/volumeName")).unwrap_or_default();
                if !volume.is_empty() {
                    keys.add(named(volume));
                }
            }
        }
    }

    fn note_volume(&self, change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
        if change.new.is_some() {
            keys.add(change.key.clone());
        }
        let claims = [change.old, change.new].into_iter().flatten().filter_map(claim_of);
        claims.filter(|key| objects.get(&CLAIMS, key).is_some()).for_each(|key| keys.add(key));
        for key in &self.waiting {
            let Some(claim) = objects.get(&CLAIMS, key) else { continue };
            let names = read::text(claim, "/spec/volumeName") == change.key.name;
            let fits = || change.new.is_some_and(|volume| matching::may_be_for(volume, claim));
            if names || fits() {
                keys.add(key.clone());
            }
        }
    }
}

impl Loop for Binder {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        const FOLLOWED: &[Resource] = &[CLAIMS, VOLUMES, CLASSES, crate::workloads::facts::pods::PODS];
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
        match &*change.resource.plural {
            "persistentvolumeclaims" => self.note_claim(change, keys),
            "persistentvolumes" => self.note_volume(change, objects, keys),
            "storageclasses" => self.waiting.iter().for_each(|key| keys.add(key.clone())),
            _ => {}
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        if key.namespace.is_empty() {
            let volume = view.objects.get(&VOLUMES, key);
            return volume.map(|volume| released::volume(volume, view, &mut self.next)).unwrap_or_default();
        }
        view.objects.get(&CLAIMS, key).map(|claim| claims::claim(claim, view)).unwrap_or_default()
    }

    fn follow_up(&mut self, keys: &mut Keys) {
        self.next.drain(..).for_each(|key| keys.add(key));
    }
}
