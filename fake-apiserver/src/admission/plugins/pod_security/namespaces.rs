//! The labels of namespaces: they must be valid, and a stricter policy warns of the pods that violate it already.
//!
//! Follows `ValidateNamespace` and `EvaluatePodsInNamespace` of `k8s.io/pod-security-admission` (v0.37.1). The limit of the number of
//! pods is upstream's; there is none of the time, since so many take a fraction of a second.

use super::PodSecurity;
use super::checks::Violations;
use super::policy::{Level, Policy, Standard};
use crate::admission::{Attributes, Operation};
use crate::auth::Notes;
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use crate::registry::{ids, text};
use crate::store::{Entry, Scope};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use tree::Value;

/// The number of pods that are evaluated at most (`defaultNamespaceMaxPodsToCheck`).
const MOST_PODS: usize = 3000;

impl PodSecurity {
    /// `ValidateNamespace`.
    pub(super) fn namespace(&self, write: &Attributes<'_>, namespace: &Value, notes: &mut Notes) -> ApiResult<()> {
        if !write.subresource.is_empty() {
            return Ok(());
        }
        let label = |key: &str| meta::labels(namespace).get(key);
        let (new, errors) = Policy::of(label, self.defaults);
        let old = write.old.map(|old| Policy::of(|key| meta::labels(old).get(key), self.defaults));
        if !errors.is_empty() && old.as_ref().is_none_or(|(_, known)| *known != errors) {
            return Err(ApiError::invalid(write.resource.qualified_kind(), write.name, &errors));
        }
        let is_stricter = |old: Policy| {
            let (new, old) = (new.enforce, old.enforce);
            new != old && new.level != Level::Privileged && (new.version != old.version || new.level > old.level)
        };
        let (is_new, is_exempt) =
            (write.operation == Operation::Create, self.exempt_namespaces.iter().any(|exempt| exempt == write.name));
        if !is_new && !old.is_some_and(|(old, _)| is_stricter(old)) {
            return Ok(());
        }
        match is_exempt {
            true => notes.warnings.extend(new.warning_about_exemption(write.name, label, self.defaults)),
            false if is_new => {}
            false => notes.warnings.extend(self.violating(write, new.enforce)?),
        }
        Ok(())
    }

    /// Warnings of the pods of a namespace that violate its new standard (`EvaluatePodsInNamespace`).
    fn violating(&self, write: &Attributes<'_>, standard: Standard) -> ApiResult<Vec<String>> {
        let snapshot = write.server.view.snapshot(write.server.store);
        let scope = Scope { resource: ids::PODS, namespace: Some(write.name.into()), name: None };
        let pods: Vec<&Arc<Entry>> = snapshot.range(&scope, "").collect();
        let (pods, all) = self.prioritized(&pods, write.deadline)?;
        let mut found: BTreeMap<String, (String, usize)> = BTreeMap::new();
        for pod in &pods {
            write.deadline.check()?;
            let violations = Violations::of(standard, pod);
            if !violations.is_empty() {
                let name = meta::name(pod);
                let (first, count) = found.entry(violations.reasons()).or_insert_with(|| (name.to_owned(), 0));
                if name < first.as_str() {
                    *first = name.to_owned();
                }
                *count += 1;
            }
        }
        let mut warnings = Vec::new();
        if pods.len() < all {
            let checked = pods.len();
            warnings.push(format!(
                "new PodSecurity enforce level only checked against the first {checked} of {all} existing pods"
            ));
        }
        if !found.is_empty() {
            warnings.push(format!(
                "existing pods in namespace \"{}\" violate the new PodSecurity enforce level \"{standard}\"",
                write.name
            ));
        }
        let mut each: Vec<String> = found
            .into_iter()
            .map(|(reasons, (first, count))| match count {
                1 => format!("{first}: {reasons}"),
                2 => format!("{first} (and 1 other pod): {reasons}"),
                _ => format!("{first} (and {} other pods): {reasons}", count - 1),
            })
            .collect();
        each.sort();
        warnings.extend(each);
        Ok(warnings)
    }

    /// The pods to evaluate, and the number of all that count: first those of different controllers (`prioritizePods`).
    fn prioritized(&self, pods: &[&Arc<Entry>], deadline: &Deadline) -> ApiResult<(Vec<Value>, usize)> {
        let (mut first, mut later, mut controllers) = (Vec::new(), Vec::new(), HashSet::new());
        for pod in pods.iter().map(|entry| entry.object()) {
            deadline.check()?;
            let class = text(&pod, "/spec/runtimeClassName");
            if self.exempt_runtime_classes.iter().any(|exempt| exempt == class) {
                continue;
            }
            let owner = meta::owner_references(&pod).iter().find(|owner| owner["controller"] == true);
            match owner.is_none_or(|owner| controllers.insert(text(owner, "/uid").to_owned())) {
                true => first.push(pod),
                false => later.push(pod),
            }
        }
        let all = first.len() + later.len();
        first.extend(later);
        first.truncate(MOST_PODS);
        Ok((first, all))
    }
}
