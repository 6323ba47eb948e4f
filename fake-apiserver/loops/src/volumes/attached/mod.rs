//! Volumes of CSI drivers are attached to the nodes of the pods that use them, and detached from the others: by objects, which drivers act on.
//!
//! Follows `pkg/controller/volume/attachdetach`, `pkg/volume/csi/csi_attacher.go` and `pkg/volume/util/operationexecutor` (v1.37.1). What is
//! attached there is remembered; here the attachments are what there is. Only volumes whose source is `csi` are attached, not those that are
//! translated to one, nor iSCSI and Fibre Channel, for which there are no objects.

mod wanted;

use super::{CLAIMS, VOLUMES, named, needs};
use crate::act::{Act, Deletion, PatchType};
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use crate::workloads::facts::pods::PODS;
use crate::workloads::facts::{conditions, read};
use machinery::object::meta;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;
use tree::{Value, json};
use wanted::{Wanted, attachment_name, unique_name, users, wanted};

static PROFILE: Profile = Profile {
    name: "persistentvolume-attach-detach-controller",
    alias: "attachdetach",
    user: "system:serviceaccount:kube-system:attachdetach-controller",
    program: "kube-controller-manager",
    component: "attachdetach-controller",
};

const NODES: Resource = Resource::new("", "v1", "nodes");
const ATTACHMENTS: Resource = Resource::new("storage.k8s.io", "v1", "volumeattachments");
const DRIVERS: Resource = Resource::new("storage.k8s.io", "v1", "csidrivers");
/// The annotation of the nodes whose volumes it looks after.
pub(crate) const MANAGED: &str = "volumes.kubernetes.io/controller-managed-attach-detach";
/// The taint of a node that will not come back.
const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";
/// The time that a driver has.
const TIMEOUT: i64 = 120;
/// The time that an unhealthy node has to unmount a volume.
const UNMOUNT: i64 = 360;
const FAILED: &str = "FailedAttachVolume";
const SUCCEEDED: &str = "SuccessfulAttachVolume";
const BLOCKED: &str = "blocked";

/// The loop that attaches and detaches. Its keys are nodes.
#[derive(Default)]
pub(crate) struct AttachDetach {
    /// The words that pods were told last about a volume that is not attached, by attachment.
    told: HashMap<String, String>,
    /// When volumes that are in use were to be detached first, by attachment.
    requested: HashMap<String, jiff::Timestamp>,
}

impl Loop for AttachDetach {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        const FOLLOWED: &[Resource] = &[PODS, NODES, CLAIMS, VOLUMES, ATTACHMENTS, DRIVERS];
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, objects: &Objects, keys: &mut Keys) {
        let node = |object: &Value, at: &str| named(read::text(object, at));
        let both = [change.old, change.new].into_iter().flatten();
        match &*change.resource.plural {
            "nodes" => keys.add(change.key.clone()),
            "volumeattachments" => {
                both.for_each(|attachment| keys.add(node(attachment, "/spec/nodeName")));
                // Another node may have waited for it.
                let volume = change.object().map(|one| read::text(one, "/spec/source/persistentVolumeName"));
                if change.new.is_none() {
                    users(volume.unwrap_or_default(), objects).for_each(|pod| keys.add(node(pod, "/spec/nodeName")));
                }
            }
            "pods" => both
                .filter(|pod| needs::claims(pod).next().is_some() && !read::text(pod, "/spec/nodeName").is_empty())
                .for_each(|pod| keys.add(node(pod, "/spec/nodeName"))),
            "persistentvolumeclaims" => {
                let pods = objects.within(&PODS, &change.key.namespace);
                let uses = |pod: &Value| needs::claims(pod).any(|(name, _)| name == change.key.name);
                pods.filter(|(_, pod)| uses(pod)).for_each(|(_, pod)| keys.add(node(pod, "/spec/nodeName")));
            }
            "persistentvolumes" => {
                users(&change.key.name, objects).for_each(|pod| keys.add(node(pod, "/spec/nodeName")));
            }
            _ => objects.all(&NODES).for_each(|(key, _)| keys.add(key.clone())),
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let Some(node) = view.objects.get(&NODES, key) else { return Plan::default() };
        let wanted = wanted(node, view.objects);
        let mut plan = self.detach(node, &wanted, view);
        for (attachment, volume) in &wanted {
            let one = self.attach(attachment, volume, node, view);
            plan.acts.extend(one.acts);
            plan.again = read::sooner(plan.again, one.again);
        }
        plan
    }
}

/// The status of a node with that list of volumes.
fn node_status(node: &Value, attached: &BTreeSet<String>) -> Act {
    let list: Vec<Value> = attached.iter().map(|name| json!({"name": name.as_str(), "devicePath": ""})).collect();
    let list = if list.is_empty() { Value::Null } else { list.into() };
    Act::Patch {
        resource: NODES,
        key: named(meta::name(node)),
        subresource: "status",
        patch_type: PatchType::Strategic,
        patch: json!({"status": {"volumesAttached": list}}),
    }
}

fn listed(node: &Value, list: &str, field: &str) -> BTreeSet<String> {
    read::list(node, list)
        .iter()
        .map(|item| if field.is_empty() { item.as_str().unwrap_or_default() } else { read::text(item, field) })
        .map(str::to_owned)
        .collect()
}

impl AttachDetach {
    /// Says in the status of a node what is attached, and ends the attachments that nobody wants.
    fn detach(&mut self, node: &Value, wanted: &BTreeMap<String, Wanted<'_>>, view: &View<'_>) -> Plan {
        let (mut plan, mut deleted) = (Plan::default(), Vec::new());
        let before = listed(node, "/status/volumesAttached", "/name");
        let mut attached = before.clone();
        let in_use = listed(node, "/status/volumesInUse", "");
        let here =
            view.objects.all(&ATTACHMENTS).filter(|(_, one)| read::text(one, "/spec/nodeName") == meta::name(node));
        for (key, attachment) in here {
            let volume = read::text(attachment, "/spec/source/persistentVolumeName");
            let Some(volume) = view.objects.get(&VOLUMES, &named(volume)) else { continue };
            if attachment_name(volume, meta::name(node)) != key.name {
                continue;
            }
            let name = unique_name(volume);
            if let Some(wanted) = wanted.get(&key.name) {
                self.requested.remove(&key.name);
                if read::flag(attachment, "/status/attached") && meta::deletion_timestamp(attachment).is_none() {
                    if attached.insert(name) {
                        plan.acts.extend(wanted.tell(SUCCEEDED, "AttachVolume.Attach succeeded", |_| String::new()));
                    }
                    self.told.remove(&key.name);
                }
                continue;
            }
            if let Some(left) = self.wait_for_unmount(&key.name, in_use.contains(&name), node, view) {
                plan.again = read::sooner(plan.again, Some(left));
                continue;
            }
            attached.remove(&name);
            self.told.remove(&key.name);
            if meta::deletion_timestamp(attachment).is_none() {
                let options = Deletion::default();
                deleted.push(Act::Delete { resource: ATTACHMENTS, key: key.clone(), options });
            }
        }
        // The node reads that a volume is not attached any longer before it is detached.
        if attached != before {
            plan.acts.push(node_status(node, &attached));
        }
        plan.acts.extend(deleted);
        plan
    }

    /// How long a volume that is in use is to be waited for; nothing if it may be detached.
    fn wait_for_unmount(&mut self, name: &str, in_use: bool, node: &Value, view: &View<'_>) -> Option<Duration> {
        let is_lost = read::list(node, "/spec/taints").iter().any(|taint| read::text(taint, "/key") == OUT_OF_SERVICE);
        if !in_use || is_lost {
            self.requested.remove(name);
            return None;
        }
        let since = *self.requested.entry(name.to_owned()).or_insert(view.now);
        let left = read::until(read::after(since, UNMOUNT), view.now);
        match conditions::holds(node, "Ready") {
            // It says when it has unmounted it.
            true => Some(left.unwrap_or(Duration::from_secs(UNMOUNT.unsigned_abs()))),
            false => left,
        }
    }

    /// Attaches a volume, or says why it cannot be.
    fn attach(&mut self, name: &str, wanted: &Wanted<'_>, node: &Value, view: &View<'_>) -> Plan {
        let Some(attachment) = view.objects.get(&ATTACHMENTS, &named(name)) else {
            return match blocking_nodes(wanted, node, view.objects) {
                nodes if nodes.is_empty() => Plan::of(vec![attachment(name, wanted, node)]),
                nodes => Plan::of(self.blocked(name, wanted, &nodes, view)),
            };
        };
        let is_going = meta::deletion_timestamp(attachment).is_some();
        if read::flag(attachment, "/status/attached") && !is_going {
            return Plan::default();
        }
        let error = read::text(attachment, "/status/attachError/message");
        let began = read::time(attachment, "/metadata/creationTimestamp").unwrap_or(view.now);
        let left = read::until(read::after(began, TIMEOUT), view.now);
        let why = match (is_going, error, left) {
            (true, ..) => "volume attachment is being deleted".to_owned(),
            (false, "", Some(left)) => return Plan { again: Some(left), ..Plan::default() },
            (false, "", None) => {
                let csi = |field: &str| read::text(wanted.volume, field);
                let (driver, handle) = (csi("/spec/csi/driver"), csi("/spec/csi/volumeHandle"));
                format!("timed out waiting for external-attacher of {driver} CSI driver to attach volume {handle}")
            }
            (false, error, _) => error.to_owned(),
        };
        Plan::of(match self.is_news(name, &why) {
            true => wanted.tell(FAILED, "AttachVolume.Attach failed", |_| format!(": {why}")),
            false => Vec::new(),
        })
    }

    /// Tells pods who else has the volume, once.
    fn blocked(&mut self, name: &str, wanted: &Wanted<'_>, nodes: &BTreeSet<&str>, view: &View<'_>) -> Vec<Act> {
        let others = users(wanted.name(), view.objects);
        let others: Vec<_> = others.filter(|pod| nodes.contains(read::text(pod, "/spec/nodeName"))).collect();
        match self.is_news(name, BLOCKED) {
            true => wanted.tell(FAILED, "Waiting for detach", |pod| wanted::said_of(&others, meta::namespace(pod))),
            false => Vec::new(),
        }
    }

    /// Whether pods were not told that last about a volume.
    fn is_news(&mut self, name: &str, why: &str) -> bool {
        self.told.insert(name.to_owned(), why.to_owned()).as_deref() != Some(why)
    }
}

/// The creation of an attachment.
fn attachment(name: &str, wanted: &Wanted<'_>, node: &Value) -> Act {
    let object = json!({
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttachment",
        "metadata": {"name": name},
        "spec": {
            "attacher": read::text(wanted.volume, "/spec/csi/driver"),
            "nodeName": meta::name(node),
            "source": {"persistentVolumeName": wanted.name()},
        },
    });
    Act::Create { resource: ATTACHMENTS, key: named(name), subresource: "", object }
}

/// The other nodes to which a volume is attached, if only one may have it.
fn blocking_nodes<'o>(wanted: &Wanted<'_>, node: &Value, objects: &'o Objects) -> BTreeSet<&'o str> {
    let all = objects.all(&ATTACHMENTS).filter(|_| !wanted.is_shared());
    let of_volume = all.filter(|(_, one)| read::text(one, "/spec/source/persistentVolumeName") == wanted.name());
    let nodes = of_volume.map(|(_, one)| read::text(one, "/spec/nodeName"));
    nodes.filter(|other| *other != meta::name(node)).collect()
}
