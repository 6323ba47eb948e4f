//! The decision about an autoscaler: how many replicas its target is to have, and what is said about it.

use super::limits::{History, Normal};
use super::pass::{Pass, has_outer_metrics, least, needs_metrics, target, was_scaled_to_zero};
use super::proposal::{self, Proposal};
use super::report;
use crate::act::Act;
use crate::nodes::Book;
use crate::plan::View;
use crate::resource::Key;
use crate::workloads::facts::read::{self, stamp};
use crate::workloads::facts::{status, template};
use machinery::object::selector::LabelSelector;
use std::collections::BTreeMap;
use tree::Value;

/// The input of a decision.
pub(super) struct Decision<'a> {
    pub(super) scaler: &'a Value,
    pub(super) key: &'a Key,
    pub(super) view: &'a View<'a>,
    pub(super) rules: &'a Book,
    pub(super) history: &'a mut History,
    pub(super) selectors: &'a mut BTreeMap<Key, LabelSelector>,
}

impl Decision<'_> {
    /// The acts (`reconcileAutoscaler`).
    pub(super) fn decide(&mut self, pass: Pass) -> Vec<Act> {
        let mut status = status::of(self.scaler);
        let scale = match &pass.scale {
            Some(Ok(scale)) => scale.clone(),
            Some(Err(refusal)) => return self.no_scale(status, &refusal.to_string()),
            None => {
                let reference = &self.scaler["spec"]["scaleTargetRef"];
                let (version, kind) = (read::text(reference, "/apiVersion"), read::text(reference, "/kind"));
                return self.no_scale(status, &format!("no matches for kind {kind:?} in version {version:?}"));
            }
        };
        let message = "the HPA controller was able to get the target's current scale";
        self.able(&mut status, true, "SucceededGetScale", message);
        let current = read::int(&scale, "/spec/replicas");
        self.history.begin(current, self.view.now);
        let (least, most) = (least(self.scaler), read::int(self.scaler, "/spec/maxReplicas"));
        let mut acts = Vec::new();
        let (desired, reason, statuses) = match current {
            _ if needs_metrics(self.scaler, &scale) => {
                let proposal = proposal::of(self, &pass, &scale, &mut status, &mut acts);
                let (desired, reason, statuses) = match proposal {
                    Ok(proposal) => self.follow(proposal, current, least, most, &mut status),
                    Err((why, statuses)) => {
                        let before = read::int(self.scaler, "/status/desiredReplicas");
                        report::numbers(self.scaler, &mut status, current, before, statuses);
                        acts.extend(report::write(self.scaler, status));
                        acts.push(template::event(self.scaler, true, "FailedComputeMetricsReplicas", why));
                        return acts;
                    }
                };
                (desired, reason, statuses)
            }
            0 => {
                let message = "scaling is disabled since the replica count of the target is zero";
                self.active(&mut status, false, "ScalingDisabled", message);
                (0, String::new(), Vec::new())
            }
            _ if current > most => (most, "Current number of replicas above Spec.MaxReplicas".to_owned(), Vec::new()),
            _ => (least, "Current number of replicas below Spec.MinReplicas".to_owned(), Vec::new()),
        };
        if desired != current {
            acts.extend(self.rescale(&scale, desired, &reason, &mut status));
        }
        report::numbers(self.scaler, &mut status, current, desired, statuses);
        acts.extend(report::write(self.scaler, status));
        acts
    }

    fn able(&self, status: &mut Value, holds: bool, reason: &str, message: &str) {
        report::condition(status, "AbleToScale", holds, reason, message, self.view.now);
    }

    pub(super) fn active(&self, status: &mut Value, holds: bool, reason: &str, message: &str) {
        report::condition(status, "ScalingActive", holds, reason, message, self.view.now);
    }

    fn no_scale(&self, mut status: Value, why: &str) -> Vec<Act> {
        let message = format!("the HPA controller was unable to get the target's current scale: {why}");
        self.able(&mut status, false, "FailedGetScale", &message);
        let event = template::event(self.scaler, true, "FailedGetScale", why.to_owned());
        [event].into_iter().chain(report::write(self.scaler, status)).collect()
    }

    /// The outcome of a proposal, with the reason, and the statuses of metrics.
    fn follow(
        &mut self,
        proposal: Proposal,
        current: i64,
        least: i64,
        most: i64,
        status: &mut Value,
    ) -> (i64, String, Vec<Value>) {
        let Proposal { replicas: desired, name, statuses } = proposal;
        let mut reason = match desired {
            more if more > current => format!("{name} above target"),
            less if less < current => "All metrics below target".to_owned(),
            _ => String::new(),
        };
        let behavior = self.scaler.pointer("/spec/behavior").filter(|behavior| behavior.is_object());
        let normal = Normal { behavior, least, most, current, desired, now: self.view.now };
        let limited = self.history.normalize(&normal);
        self.able(status, true, limited.able.0, limited.able.1);
        let (is_limited, why, message) = limited.limited;
        report::condition(status, "ScalingLimited", is_limited, why, message, self.view.now);
        let mut desired = limited.replicas;
        if current == 0 && least != 0 && was_scaled_to_zero(self.scaler) && desired < least {
            desired = least;
            if reason.is_empty() {
                reason = "Current number of replicas below Spec.MinReplicas".to_owned();
            }
        }
        (desired, reason, statuses)
    }

    fn rescale(&mut self, scale: &Value, desired: i64, reason: &str, status: &mut Value) -> Vec<Act> {
        let Some(resource) = target(self.scaler, self.view) else { return Vec::new() };
        let (now, current) = (self.view.now, read::int(scale, "/spec/replicas"));
        let message = format!("the HPA controller was able to update the target scale to {desired}");
        self.able(status, true, "SucceededRescale", &message);
        let behavior = self.scaler.pointer("/spec/behavior").filter(|behavior| behavior.is_object());
        self.history.scaled(behavior, current, desired, now);
        let to_zero = current > 0 && desired == 0 && least(self.scaler) == 0 && has_outer_metrics(self.scaler);
        let (why, message) = match to_zero {
            true => ("ScaledToZero", "the HPA controller scaled the workload to zero"),
            false => ("NotScaledToZero", "the HPA controller did not scale the workload to zero"),
        };
        report::condition(status, "ScaledToZero", to_zero, why, message, now);
        status["lastScaleTime"] = stamp(now).into();
        let told = format!("New size: {desired}; reason: {reason}");
        reason.clone_into(&mut self.history.reason);
        let object = report::scaled(scale, desired);
        vec![
            Act::Update { resource, subresource: "scale", object },
            template::event(self.scaler, false, "SuccessfulRescale", told),
        ]
    }
}
