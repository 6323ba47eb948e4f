//! Autoscalers: `pkg/controller/podautoscaler` of `k8s.io/kubernetes` (v1.37.1).
//!
//! ```text
//!   every 15 s: ask for the scale ─▶ ask for metrics, as far as no rule gives them ─▶ calculate.rs: how many replicas each wants
//!                                                              ─▶ limits.rs: what recommendations before, behavior and bounds make of it
//! ```
//! Rules say what pods use of CPU and memory ([`Rules`](crate::nodes::Rules)); where they say nothing, the API `metrics.k8s.io` is asked, if
//! there is one. All other metrics come from their APIs.

mod calculate;
mod decision;
mod limits;
mod metrics;
mod pass;
mod proposal;
mod questions;
mod report;

use crate::act::{Act, Refusal};
use crate::nodes::Book;
use crate::objects::{Change, Objects};
use crate::plan::{Keys, Loop, Plan, View};
use crate::profile::Profile;
use crate::resource::{Key, Resource};
use crate::workloads::facts::pods::PODS;
use crate::workloads::facts::{read, status, template};
use decision::Decision;
use limits::History;
use machinery::object::selector::LabelSelector;
use pass::Pass;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use tree::Value;

static PROFILE: Profile = Profile {
    name: "horizontal-pod-autoscaler-controller",
    alias: "horizontalpodautoscaling",
    user: "system:serviceaccount:kube-system:horizontal-pod-autoscaler",
    program: "kube-controller-manager",
    component: "horizontal-pod-autoscaler",
};

pub(crate) const AUTOSCALERS: Resource = Resource::new("autoscaling", "v2", "horizontalpodautoscalers");
/// The time between two looks at an autoscaler: `--horizontal-pod-autoscaler-sync-period`.
const PERIOD: Duration = Duration::from_secs(15);

/// The loop of all autoscalers.
pub(crate) struct Autoscalers {
    rules: Book,
    /// The facts so far about those that are being looked at.
    passes: HashMap<Key, Pass>,
    histories: HashMap<Key, History>,
    /// The pods that each is about.
    selectors: BTreeMap<Key, LabelSelector>,
}

impl Autoscalers {
    pub(crate) fn new(rules: Book) -> Autoscalers {
        Autoscalers { rules, passes: HashMap::new(), histories: HashMap::new(), selectors: BTreeMap::new() }
    }

    /// Goes on with a pass: asks the next question, or decides.
    fn go_on(&mut self, key: &Key, view: &View<'_>) -> Plan {
        let (Some(scaler), Some(pass)) = (view.objects.get(&AUTOSCALERS, key), self.passes.get_mut(key)) else {
            return Plan::default();
        };
        let scaler = scaler.clone();
        if let Some(question) = pass.question(&scaler, &self.rules, view) {
            return Plan::of(vec![question]);
        }
        let pass = self.passes.remove(key).unwrap_or_default();
        let history = self.histories.entry(key.clone()).or_default();
        let (rules, selectors) = (&self.rules, &mut self.selectors);
        let mut decision = Decision { scaler: &scaler, key, view, rules, history, selectors };
        Plan { again: Some(PERIOD), ..Plan::of(decision.decide(pass)) }
    }
}

impl Loop for Autoscalers {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn follows(&self) -> &'static [Resource] {
        const FOLLOWED: &[Resource] = &[AUTOSCALERS, PODS, crate::nodes::RULES, crate::nodes::SETS, crate::nodes::JOBS];
        FOLLOWED
    }

    fn wants(&mut self, change: &Change<'_>, _: &Objects, keys: &mut Keys) {
        if self.rules.note(change) || *change.resource != AUTOSCALERS {
            return;
        }
        let Some(scaler) = change.new else {
            self.passes.remove(change.key);
            self.histories.remove(change.key);
            self.selectors.remove(change.key);
            return;
        };
        // Its own writes are no reason to look again at once.
        match change.old.is_none_or(|old| old.get("spec") != scaler.get("spec")) {
            true => keys.add(change.key.clone()),
            false => keys.after(change.key.clone(), PERIOD),
        }
    }

    fn sync(&mut self, key: &Key, view: &View<'_>) -> Plan {
        self.passes.insert(key.clone(), Pass::default());
        self.go_on(key, view)
    }

    fn told(&mut self, key: &Key, _: &Act, answer: &Value, view: &View<'_>) -> Plan {
        if let Some(pass) = self.passes.get_mut(key) {
            pass.answered(Ok(answer.clone()));
        }
        self.go_on(key, view)
    }

    fn refused(&mut self, key: &Key, act: &Act, refusal: &Refusal, view: &View<'_>) -> Option<Plan> {
        if matches!(act, Act::Ask { .. }) {
            self.passes.get_mut(key)?.answered(Err(refusal.clone()));
            return Some(self.go_on(key, view));
        }
        let Act::Update { subresource: "scale", object, .. } = act else { return None };
        // The target has changed meanwhile: all is decided anew.
        if refusal.reason == "Conflict" {
            return None;
        }
        let scaler = view.objects.get(&AUTOSCALERS, key)?;
        let size = read::int(object, "/spec/replicas");
        let reason = self.histories.get(key).map_or("", |history| &history.reason);
        let message = format!("New size: {size}; reason: {reason}; error: {refusal}");
        let mut acts = vec![template::event(scaler, true, "FailedRescale", message)];
        let mut status = status::of(scaler);
        let why = format!("the HPA controller was unable to update the target scale: {refusal}");
        report::condition(&mut status, "AbleToScale", false, "FailedUpdateScale", &why, view.now);
        acts.extend(report::write(scaler, status));
        Some(Plan { again: Some(PERIOD), ..Plan::of(acts) })
    }
}
