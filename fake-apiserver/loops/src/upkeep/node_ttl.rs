//! Nodes are told for how long they may keep secrets: the longer, the more nodes there are.
//!
//! Follows `pkg/controller/ttl/ttl_controller.go` (v1.37.1).

use crate::act::{Act, PatchType};
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use machinery::object::meta;
use tree::json;

static PROFILE: Profile = Profile {
    name: "ttl-controller",
    alias: "ttl",
    user: "system:serviceaccount:kube-system:ttl-controller",
    program: "kube-controller-manager",
    component: "ttl-controller",
};

const NODES: Resource = Resource::new("", "v1", "nodes");
/// The annotation with the seconds.
const ANNOTATION: &str = "node.alpha.kubernetes.io/ttl";
/// The least and the most nodes, and the seconds.
const STEPS: [(usize, usize, u32); 5] =
    [(0, 100, 0), (90, 500, 15), (450, 1000, 30), (900, 2000, 60), (1800, usize::MAX, 300)];

/// The loop that annotates nodes.
#[derive(Default)]
pub(crate) struct NodeTtl {
    nodes: usize,
    step: usize,
}

impl Loop for NodeTtl {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        const FOLLOWED: &[Resource] = &[NODES];
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, _: &Objects, keys: &mut Keys) {
        match (change.old, change.new) {
            (None, Some(_)) => {
                self.nodes += 1;
                if self.nodes > STEPS[self.step].1 {
                    self.step += 1;
                }
            }
            (Some(_), None) => {
                self.nodes = self.nodes.saturating_sub(1);
                if self.nodes < STEPS[self.step].0 {
                    self.step -= 1;
                }
                return;
            }
            _ => {}
        }
        keys.add(change.key.clone());
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let Some(node) = view.objects.get(&NODES, key) else { return Plan::default() };
        let seconds = STEPS[self.step].2;
        let present = meta::annotations(node).get(ANNOTATION).and_then(|text| text.parse::<u32>().ok());
        if present == Some(seconds) {
            return Plan::default();
        }
        Plan::of(vec![Act::Patch {
            resource: NODES,
            key: key.clone(),
            subresource: "",
            patch_type: PatchType::Strategic,
            patch: json!({"metadata": {"annotations": {ANNOTATION: seconds.to_string()}}}),
        }])
    }
}
