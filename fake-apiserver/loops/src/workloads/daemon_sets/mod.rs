//! `daemonset-controller`.
//!
//! Ports `k8s.io/kubernetes/pkg/controller/daemon/daemon_controller.go` (v1.37.1).

mod nodes;
mod pass;
mod revision;
mod rolling;
mod status;

use super::facts::names::Names;
use super::facts::owners::{self, Kind};
use super::facts::pods::PODS;
use super::facts::revisions::REVISIONS;
use super::facts::template;
use crate::act::{Act, Refusal};
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use jiff::Timestamp;
use machinery::object::meta;
use pass::Pass;
use std::collections::HashMap;

const SETS: Resource = Resource::new("apps", "v1", "daemonsets");
const NODES: Resource = Resource::new("", "v1", "nodes");
const FOLLOWED: &[Resource] = &[SETS, PODS, NODES, REVISIONS];
static KIND: Kind = Kind::new(SETS, "apps/v1", "DaemonSet");
static PROFILE: Profile = Profile {
    name: "daemonset-controller",
    alias: "daemonset",
    user: "system:serviceaccount:kube-system:daemon-set-controller",
    program: "kube-controller-manager",
    component: "daemonset-controller",
};

/// The controller of daemon sets.
#[derive(Default)]
pub(super) struct DaemonSets {
    names: Names,
    /// When a failed pod of a set may be replaced, and the wait before that, by the set's uid, its generation and the node.
    waits: HashMap<(String, i64, String), Wait>,
}

/// A wait after a failure.
#[derive(Debug, Clone, Copy)]
struct Wait {
    since: Timestamp,
    seconds: i64,
}

impl Loop for DaemonSets {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
        if *change.resource == SETS {
            keys.add(change.key.clone());
        } else if *change.resource == PODS {
            owners::wanted(&KIND, owners::selector, change, objects, keys);
        } else if *change.resource == NODES && nodes::matters(change) {
            objects.all(&SETS).for_each(|(key, _)| keys.add(key.clone()));
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let Some(set) = view.objects.get(&SETS, key) else { return Plan::default() };
        let Some(selector) = owners::selector(set) else { return Plan::default() };
        if selector.is_empty() {
            let message = "This daemon set is selecting all pods. A non-empty selector is required.";
            return Plan::of(vec![template::event(set, true, "SelectingAll", message.to_owned())]);
        }
        if meta::deletion_timestamp(set).is_some() {
            return Plan::default();
        }
        let candidates = owners::candidates(view.objects, &PODS, set);
        let claim = owners::claim(&KIND, set, |pod| owners::selects(&selector, pod), &PODS, candidates, None);
        Pass::new(set, claim, view).plan(&mut self.names, &mut self.waits)
    }

    fn refused(&mut self, key: &Key, act: &Act, refusal: &Refusal, view: &View<'_>) -> Option<Plan> {
        let set = view.objects.get(&SETS, key)?;
        if !matches!(act, Act::Create { resource, .. } | Act::Delete { resource, .. } if *resource == PODS) {
            return None;
        }
        if template::is_of_terminating_namespace(refusal) {
            return Some(Plan::default());
        }
        let (event, _, error) = template::failed(act, set, refusal)?;
        Some(Plan { failed: Some(error), ..Plan::of(vec![event]) })
    }
}
