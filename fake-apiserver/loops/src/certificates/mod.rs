//! Requests for certificates: some are approved, those that are approved are signed, and all go when their time is over.
//!
//! Follows `pkg/controller/certificates/{approver,signer,cleaner}` of `k8s.io/kubernetes` (v1.37.1). Who may have which certificate is decided here; how
//! a request is read and a certificate made, others know ([`Certificates`](crate::Certificates)).

mod approver;
mod cleaner;
mod signer;
mod subjects;

pub(crate) use approver::Approver;
pub(crate) use cleaner::Cleaner;
pub(crate) use signer::Signer;

use crate::resource::Resource;
use crate::workloads::facts::read;
use tree::Value;

const REQUESTS: Resource = Resource::new("certificates.k8s.io", "v1", "certificatesigningrequests");
/// The resources that their controllers follow.
const FOLLOWED: &[Resource] = &[REQUESTS];
/// The account of their controllers.
const USER: &str = "system:serviceaccount:kube-system:certificate-controller";

/// Whether a request has a condition.
fn has(request: &Value, kind: &str) -> bool {
    read::list(request, "/status/conditions").iter().any(|condition| read::text(condition, "/type") == kind)
}

/// The usages that are asked for.
fn usages(request: &Value) -> Vec<&str> {
    read::list(request, "/spec/usages").iter().filter_map(Value::as_str).collect()
}

/// The request with one more condition.
fn with_condition(request: &Value, condition: Value) -> Value {
    let mut request = request.clone();
    let mut conditions = read::list(&request, "/status/conditions").to_vec();
    conditions.push(condition);
    request["status"]["conditions"] = conditions.into();
    request
}
