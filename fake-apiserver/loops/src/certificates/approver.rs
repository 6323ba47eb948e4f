//! The approver of what kubelets ask for, if they may: it asks whether they may by reviews of access.

use super::{FOLLOWED, REQUESTS, USER, has, subjects, usages, with_condition};
use crate::act::Act;
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use crate::tools::{Asked, Certificates};
use crate::workloads::facts::read;
use std::sync::Arc;
use tree::{Value, json};

static PROFILE: Profile = Profile {
    name: "certificatesigningrequest-approving-controller",
    alias: "csrapproving",
    user: USER,
    program: "kube-controller-manager",
    component: "csrapproving",
};

const REVIEWS: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
/// The subresource that somebody must be allowed to create, and what is said then: for a kubelet's own certificate, and for that of any.
const KINDS: [(&str, &str); 2] = [
    ("selfnodeclient", "Auto approving self kubelet client certificate after SubjectAccessReview."),
    ("nodeclient", "Auto approving kubelet client certificate after SubjectAccessReview."),
];

/// The loop that approves requests.
pub(crate) struct Approver(pub(crate) Arc<dyn Certificates>);

impl Approver {
    /// The kinds that a request is of.
    fn kinds(&self, request: &Value) -> Result<Vec<(&'static str, &'static str)>, String> {
        let name = read::text(request, "/metadata/name");
        let asked = self.0.read(read::text(request, "/spec/request"));
        let asked = asked.map_err(|why| format!("unable to parse csr {name:?}: {why}"))?;
        let of_kubelet = is_of_kubelet(request, &asked);
        let of_itself = read::text(request, "/spec/username") == asked.common_name;
        let is = [of_kubelet && of_itself, of_kubelet];
        Ok(KINDS.into_iter().zip(is).filter(|(_, is)| *is).map(|(kind, _)| kind).collect())
    }
}

fn is_of_kubelet(request: &Value, asked: &Asked) -> bool {
    read::text(request, "/spec/signerName") == subjects::KUBELET_CLIENT
        && subjects::kubelet_client(asked, &usages(request)).is_ok()
}

fn is_answered(request: &Value) -> bool {
    !read::text(request, "/status/certificate").is_empty() || has(request, "Approved") || has(request, "Denied")
}

/// The question whether a request's user may have a certificate of that kind.
fn review(request: &Value, subresource: &str) -> Act {
    let mut spec = json!({"resourceAttributes": {
        "group": "certificates.k8s.io",
        "resource": "certificatesigningrequests",
        "verb": "create",
        "subresource": subresource,
        "version": "*",
    }});
    for (field, of_request) in [("user", "username"), ("uid", "uid"), ("groups", "groups"), ("extra", "extra")] {
        if let Some(value) = request.get("spec").and_then(|spec| spec.get(of_request)) {
            spec[field] = value.clone();
        }
    }
    let review = json!({"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "spec": spec});
    Act::Ask { path: REVIEWS.to_owned(), query: Vec::new(), review: Some(review) }
}

/// The approval of a request.
fn approval(request: &Value, message: &str) -> Act {
    let condition = json!({"type": "Approved", "status": "True", "reason": "AutoApproved", "message": message});
    Act::Update { resource: REQUESTS, subresource: "approval", object: with_condition(request, condition) }
}

impl Loop for Approver {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, _: &Objects, keys: &mut Keys) {
        if change.new.is_some_and(|request| !is_answered(request)) {
            keys.add(change.key.clone());
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let Some(request) = view.objects.get(&REQUESTS, key).filter(|request| !is_answered(request)) else {
            return Plan::default();
        };
        match self.kinds(request) {
            Err(why) => Plan::failed(why),
            Ok(kinds) => Plan::of(kinds.first().map(|(kind, _)| review(request, kind)).into_iter().collect()),
        }
    }

    fn told(&mut self, key: &Key, asked: &Act, answer: &Value, view: &View<'_>) -> Plan {
        let Some(request) = view.objects.get(&REQUESTS, key).filter(|request| !is_answered(request)) else {
            return Plan::default();
        };
        let Act::Ask { review: Some(question), .. } = asked else { return Plan::default() };
        let kinds = self.kinds(request).unwrap_or_default();
        let subresource = read::text(question, "/spec/resourceAttributes/subresource");
        let Some(index) = kinds.iter().position(|(kind, _)| *kind == subresource) else { return Plan::default() };
        if read::flag(answer, "/status/allowed") {
            return Plan::of(vec![approval(request, kinds[index].1)]);
        }
        match kinds.get(index + 1) {
            Some((next, _)) => Plan::of(vec![review(request, next)]),
            None => {
                let tried: Vec<&str> = kinds.iter().map(|(kind, _)| *kind).collect();
                let tried = tried.join(" ");
                Plan::failed(format!(
                    "recognized csr {:?} as [{tried}] but subject access review was not approved",
                    key.name
                ))
            }
        }
    }
}
