//! Requests for certificates go when nobody needs them any more.
//!
//! Follows `pkg/controller/certificates/cleaner/cleaner.go` (v1.37.1), which looks once an hour. Whether a certificate has expired is not
//! looked at: those that were issued go after an hour anyway.

use super::{FOLLOWED, REQUESTS, USER};
use crate::act::{Act, Deletion};
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use crate::workloads::facts::read;
use jiff::Timestamp;
use tree::Value;

static PROFILE: Profile = Profile {
    name: "certificatesigningrequest-cleaner-controller",
    alias: "csrcleaner",
    user: USER,
    program: "kube-controller-manager",
    component: "certificate-controller",
};

/// The seconds after which requests go that were answered.
const ANSWERED: i64 = 60 * 60;
/// The seconds after which requests go that nobody has answered.
const PENDING: i64 = 24 * 60 * 60;

/// The loop that deletes requests.
#[derive(Default)]
pub(crate) struct Cleaner;

impl Loop for Cleaner {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, _: &Objects, keys: &mut Keys) {
        if change.new.is_some() {
            keys.add(change.key.clone());
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let Some(end) = view.objects.get(&REQUESTS, key).and_then(|request| end(request)) else {
            return Plan::default();
        };
        match read::until(end, view.now) {
            Some(left) => Plan { again: Some(left), ..Plan::default() },
            None => Plan::of(vec![Act::Delete { resource: REQUESTS, key: key.clone(), options: Deletion::default() }]),
        }
    }
}

/// When a request goes; `None` while it is approved and not signed.
fn end(request: &Value) -> Option<Timestamp> {
    let conditions = read::list(request, "/status/conditions");
    if conditions.is_empty() {
        return Some(read::after(read::time(request, "/metadata/creationTimestamp")?, PENDING));
    }
    let is_issued = !read::text(request, "/status/certificate").is_empty();
    let answered = conditions.iter().filter(|condition| match read::text(condition, "/type") {
        "Approved" => is_issued,
        kind => matches!(kind, "Denied" | "Failed"),
    });
    let times = answered.filter_map(|condition| read::time(condition, "/lastUpdateTime"));
    times.min().map(|time| read::after(time, ANSWERED))
}
