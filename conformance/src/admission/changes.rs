//! The changes during a soak of admission: of limits and quotas, and of the namespaces that there are.

use super::client::SIZES;
use super::history::Limit;
use super::world::{
    GROUP, LABEL, SLOTS, Slots, ask, body as body_of, change_quota, config_maps, found, in_force, must, namespace, rule,
};
use crate::line::Line;
use anyhow::Result;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

/// The pause between two changes.
const PAUSE: Duration = Duration::from_millis(300);
/// The policies: with the limit in their expression, and with a parameter.
const CONSTANT: &str = "constant";
const PARAMETER: &str = "parameter";

/// The task that changes them, and what it has changed.
pub(super) struct Changes {
    pub(super) line: Line,
    pub(super) run: String,
    pub(super) slots: Arc<Slots>,
    pub(super) begun: Instant,
    pub(super) random: fastrand::Rng,
    pub(super) limits: Vec<Limit>,
    pub(super) condemned: Vec<String>,
}

impl Changes {
    /// The name of a policy and of its binding.
    fn policy(&self, policy: &str) -> String {
        format!("{}-{policy}", self.run)
    }

    /// The namespace of parameters.
    pub(super) fn parameters(&self) -> String {
        format!("{}-parameters", self.run)
    }

    fn specification(&self, policy: &str, most: u64) -> Value {
        let (expression, kind) = match policy {
            CONSTANT => (format!("int(object.data.size) <= {most}"), Value::Null),
            _ => (
                "int(object.data.size) <= int(params.data.most)".to_owned(),
                json!({"apiVersion": "v1", "kind": "ConfigMap"}),
            ),
        };
        let matched = json!({"resourceRules": [rule()], "namespaceSelector": {"matchLabels": {LABEL: self.run}}});
        let validations = json!([{ "expression": expression }]);
        json!({"failurePolicy": "Fail", "matchConstraints": matched, "paramKind": kind, "validations": validations})
    }

    /// Creates the policies, with limits that allow everything, and waits until each is in force in `place`.
    ///
    /// # Errors
    /// If one is refused.
    pub(super) async fn create(&mut self, place: &str) -> Result<()> {
        let parameters = self.parameters();
        must(&self.line, "POST", "/api/v1/namespaces", &json!({"metadata": {"name": parameters}})).await?;
        let parameter = json!({"metadata": {"name": "limit"}, "data": {"most": SIZES.to_string()}});
        must(&self.line, "POST", &config_maps(&parameters), &parameter).await?;
        // Each allows less than those before, so that it alone refuses the object that tells whether it is in force.
        for (policy, most) in [(CONSTANT, SIZES + 1), (PARAMETER, SIZES)] {
            let name = self.policy(policy);
            let sent = self.begun.elapsed();
            let body = json!({"metadata": {"name": name}, "spec": self.specification(policy, most)});
            must(&self.line, "POST", &format!("{GROUP}/validatingadmissionpolicies"), &body).await?;
            let mut binding = json!({"policyName": name, "validationActions": ["Deny"]});
            if policy == PARAMETER {
                binding["paramRef"] =
                    json!({"name": "limit", "namespace": parameters, "parameterNotFoundAction": "Deny"});
            }
            let body = json!({"metadata": {"name": name}, "spec": binding});
            must(&self.line, "POST", &format!("{GROUP}/validatingadmissionpolicybindings"), &body).await?;
            let (path, probe) = (format!("{}?dryRun=All", config_maps(place)), body_of("probe", "", most + 1));
            in_force(&name, async || Ok(ask(&self.line, "POST", &path, &probe).await?.0 == 422)).await?;
            self.limits.push(Limit { policy: name, most, sent, answered: self.begun.elapsed() });
        }
        Ok(())
    }

    /// Changes one thing after the other until `stop`.
    ///
    /// # Errors
    /// If a change is refused.
    pub(super) async fn run(mut self, stop: CancellationToken) -> Result<Changes> {
        let mut number = SLOTS;
        while !stop.is_cancelled() {
            let slot = self.random.usize(..SLOTS);
            match self.random.u32(..10) {
                0..5 => self.limit().await?,
                5..9 => {
                    let hard = self.hard();
                    change_quota(&self.line, &self.slots.get(slot), |allowed, _| *allowed = hard).await?;
                }
                _ => {
                    let name = format!("{}-{number}", self.run);
                    number += 1;
                    let hard = self.hard();
                    found(&self.line, &self.run, &name, hard).await?;
                    let old = self.slots.replace(slot, name);
                    must(&self.line, "DELETE", &namespace(&old), &Value::Null).await?;
                    self.condemned.push(old);
                }
            }
            let _ = tokio::time::timeout(PAUSE, stop.cancelled()).await;
        }
        Ok(self)
    }

    /// A number of objects that a quota allows.
    pub(super) fn hard(&mut self) -> u64 {
        self.random.u64(5..100)
    }

    /// Changes a limit.
    async fn limit(&mut self) -> Result<()> {
        let policy = if self.random.bool() { CONSTANT } else { PARAMETER };
        let (most, sent) = (self.random.u64(SIZES / 2..=SIZES), self.begun.elapsed());
        let (path, patch) = match policy {
            CONSTANT => {
                let path = format!("{GROUP}/validatingadmissionpolicies/{}", self.policy(policy));
                (path, json!({"spec": {"validations": self.specification(policy, most)["validations"]}}))
            }
            _ => (format!("{}/limit", config_maps(&self.parameters())), json!({"data": {"most": most.to_string()}})),
        };
        must(&self.line, "PATCH", &path, &patch).await?;
        self.limits.push(Limit { policy: self.policy(policy), most, sent, answered: self.begun.elapsed() });
        Ok(())
    }
}

/// Gives back to quotas what was deleted, as upstream's controller does, until no client is left.
pub(super) async fn give_back(line: Line, mut returned: UnboundedReceiver<String>) {
    let mut names = Vec::new();
    while returned.recv_many(&mut names, usize::MAX).await > 0 {
        names.sort();
        for same in names.chunk_by(|one, other| one == other) {
            let count = same.len() as u64;
            // The quota of a namespace that is deleted meanwhile is of no interest.
            let _ = change_quota(&line, &same[0], |_, used| *used = used.saturating_sub(count)).await;
        }
        names.clear();
    }
}
