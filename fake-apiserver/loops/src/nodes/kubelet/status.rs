//! The status of a pod, as `generateAPIPodStatus` of `pkg/kubelet/kubelet_pods.go` (v1.37.1) makes it.

use super::life::{Life, Stage};
use super::{NODES, conditions, containers};
use crate::plan::View;
use crate::resource::Key;
use crate::workloads::facts::read::{self, stamp};
use crate::workloads::facts::status;
use tree::{Value, json};

/// The status of a pod with that life and address.
pub(super) fn of(pod: &Value, life: &Life, address: &str, view: &View<'_>) -> Value {
    let mut new = status::of(pod);
    let all = |list: &str, status: fn(&Value, &Value, &Life) -> Value| -> Vec<Value> {
        read::list(pod, list).iter().map(|container| status(pod, container, life)).collect()
    };
    let init = all("/spec/initContainers", containers::init_status);
    if !init.is_empty() {
        new["initContainerStatuses"] = init.into();
    }
    new["containerStatuses"] = all("/spec/containers", containers::status).into();
    new["phase"] = phase(life).into();
    if life.is_late {
        new["reason"] = "DeadlineExceeded".into();
        new["message"] = "Pod was active on the node longer than the specified deadline".into();
    }
    new["startTime"] = match new.get("startTime").filter(|time| time.is_string()) {
        Some(time) => time.clone(),
        None => stamp(life.began).into(),
    };
    if let Some(host) = host(pod, view) {
        new["hostIP"] = host.as_str().into();
        new["hostIPs"] = json!([{"ip": host}]);
    }
    if !matches!(life.stage, Stage::Created) {
        new["podIP"] = address.into();
        new["podIPs"] = json!([{"ip": address}]);
    }
    conditions::write(pod, &mut new, life, view.now);
    new
}

fn phase(life: &Life) -> &'static str {
    match life.stage {
        Stage::Created | Stage::NoImage => "Pending",
        Stage::Running { .. } | Stage::BackingOff { .. } => "Running",
        Stage::Ended => match life.last {
            Some(last) if last.code == 0 && !life.is_late => "Succeeded",
            _ => "Failed",
        },
    }
}

/// The first internal address of the pod's node.
fn host(pod: &Value, view: &View<'_>) -> Option<String> {
    let name = read::text(pod, "/spec/nodeName").to_owned();
    let node = view.objects.get(&NODES, &Key { namespace: String::new(), name })?;
    let mut addresses = read::list(node, "/status/addresses").iter();
    let address = addresses.find(|address| read::text(address, "/type") == "InternalIP")?;
    Some(read::text(address, "/address").to_owned())
}
