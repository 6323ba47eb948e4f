//! The signer of requests that are approved. Upstream has one for each signer's name; here one signs for all four.

use super::{FOLLOWED, REQUESTS, USER, has, subjects, usages, with_condition};
use crate::act::Act;
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use crate::tools::{Certificates, SigningOrder};
use crate::workloads::facts::read::{self, stamp};
use machinery::object::meta;
use std::sync::Arc;
use std::time::Duration;
use tree::{Value, json};

static PROFILE: Profile = Profile {
    name: "certificatesigningrequest-signing-controller",
    alias: "csrsigning",
    user: USER,
    program: "kube-controller-manager",
    component: "csrsigning",
};

/// The longest lifetime of a certificate, which is that of those that ask for none: `--cluster-signing-duration`.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);
const SHORTEST: Duration = Duration::from_secs(10 * 60);

/// The loop that signs requests.
pub(crate) struct Signer(pub(crate) Arc<dyn Certificates>);

impl Signer {
    fn sign(&self, request: &Value, view: &View<'_>) -> Plan {
        let name = meta::name(request);
        let order = SigningOrder {
            request: read::text(request, "/spec/request"),
            usages: &usages(request),
            lifetime: lifetime(request),
            now: view.now,
            salt: meta::uid(request),
        };
        let asked = match self.0.read(order.request) {
            Ok(asked) => asked,
            Err(why) => return Plan::failed(format!("unable to parse csr {name:?}: {why}")),
        };
        let object = match subjects::check(read::text(request, "/spec/signerName"), &asked, order.usages) {
            None => return Plan::default(),
            Some(Err(why)) => with_condition(
                request,
                json!({
                    "type": "Failed", "status": "True", "reason": "SignerValidationFailure", "message": why,
                    "lastUpdateTime": stamp(view.now),
                }),
            ),
            Some(Ok(())) => match self.0.sign(&order) {
                Err(why) => return Plan::failed(format!("error auto signing csr: {why}")),
                Ok(certificate) => {
                    let mut signed = request.clone();
                    signed["status"]["certificate"] = certificate.into();
                    signed
                }
            },
        };
        Plan::of(vec![Act::Update { resource: REQUESTS, subresource: "status", object }])
    }
}

/// Whether a request is to be signed.
fn is_ready(request: &Value) -> bool {
    has(request, "Approved")
        && !has(request, "Denied")
        && !has(request, "Failed")
        && read::text(request, "/status/certificate").is_empty()
}

/// The lifetime of a certificate.
fn lifetime(request: &Value) -> Duration {
    match read::number(request, "/spec/expirationSeconds") {
        None => LONGEST,
        Some(seconds) => Duration::from_secs(seconds.try_into().unwrap_or_default()).clamp(SHORTEST, LONGEST),
    }
}

impl Loop for Signer {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, _: &Objects, keys: &mut Keys) {
        if change.new.is_some_and(is_ready) {
            keys.add(change.key.clone());
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        match view.objects.get(&REQUESTS, key).filter(|request| is_ready(request)) {
            Some(request) => self.sign(request, view),
            None => Plan::default(),
        }
    }
}
