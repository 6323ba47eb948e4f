//! The certificates that a node requests: those by which kubelets are known are for its own name.

use super::write::Write;
use crate::admission::Operation;
use crate::error::ApiResult;
use crate::registry::{requested_subject, text};
use crate::user::NODE_USERNAME_PREFIX;

/// `KubeletServingSignerName`, `KubeAPIServerClientKubeletSignerName`.
const KUBELET_SIGNERS: [&str; 2] = ["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"];

/// `admitCSR`.
pub(super) fn admit(write: &Write<'_>) -> ApiResult<()> {
    let is_meant = KUBELET_SIGNERS.contains(&text(write.object, "/spec/signerName"));
    if write.operation() != Operation::Create || !is_meant {
        return Ok(());
    }
    let user = format!("{NODE_USERNAME_PREFIX}{}", write.node);
    match requested_subject(write.object) {
        Err(error) => write.refuse(format!("unable to parse csr: {error}")),
        Ok(subject) if subject.common_name == user => Ok(()),
        Ok(_) => write.refuse(format!("can only create a node CSR with CN={user}")),
    }
}
