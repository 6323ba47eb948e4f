//! The plugin `PodSecurity`: pods must meet the standard of their namespace.
//!
//! ```text
//!   labels of the namespace ──▶ Policy ──┬── enforce: violations refuse a pod
//!                                        ├── audit: they are written to the audit log
//!                                        └── warn: they are warnings; also for templates of pods
//! ```
//! Where a namespace has no such labels, everything is allowed, and nothing of a pod is looked at.
//!
//! Follows `admission/admission.go` of `k8s.io/pod-security-admission` (v0.37.1) and
//! `plugin/pkg/admission/security/podsecurity/admission.go` (v1.37.1).

mod baseline;
mod checks;
mod configuration;
mod culprits;
mod namespaces;
mod policy;
mod restricted;
mod violation;

use crate::admission::{Attributes, Operation, Plugin, Verdict};
use crate::auth::Notes;
use crate::error::{ApiError, ApiResult, FieldError, aggregate};
use crate::registry::{at, items, text};
use checks::Violations;
use policy::{Policy, Standard};
use tree::Value;

/// The resources with templates of pods, each with the place of the template.
const TEMPLATES: [(&str, &str, &str); 8] = [
    ("", "podtemplates", "/template"),
    ("", "replicationcontrollers", "/spec/template"),
    ("apps", "daemonsets", "/spec/template"),
    ("apps", "deployments", "/spec/template"),
    ("apps", "replicasets", "/spec/template"),
    ("apps", "statefulsets", "/spec/template"),
    ("batch", "cronjobs", "/spec/jobTemplate/spec/template"),
    ("batch", "jobs", "/spec/template"),
];

/// The subresources of pods that cannot make one less secure.
const IGNORED: [&str; 8] = ["exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"];

/// The annotations of audit events.
const ENFORCED: &str = "pod-security.kubernetes.io/enforce-policy";
const VIOLATIONS: &str = "pod-security.kubernetes.io/audit-violations";
const EXEMPT: &str = "pod-security.kubernetes.io/exempt";
const ERROR: &str = "pod-security.kubernetes.io/error";

/// The plugin `PodSecurity`. The default exempts nothing.
#[derive(Default)]
pub(super) struct PodSecurity {
    /// The policy of namespaces without labels.
    defaults: Policy,
    exempt_users: Vec<String>,
    exempt_namespaces: Vec<String>,
    exempt_runtime_classes: Vec<String>,
}

impl Plugin for PodSecurity {
    fn validate<'a>(&'a self, write: &'a Attributes<'a>, object: &'a Value, notes: &'a mut Notes) -> Verdict<'a> {
        Verdict::Now(self.check(write, object, notes))
    }
}

impl PodSecurity {
    fn check(&self, write: &Attributes<'_>, object: &Value, notes: &mut Notes) -> ApiResult<()> {
        let (group, resource) = (&*write.resource.group, &*write.resource.plural);
        if write.operation == Operation::Delete {
            return Ok(());
        }
        match (group, resource) {
            ("", "pods") => self.pod(write, object, notes),
            ("", "namespaces") => self.namespace(write, object, notes),
            _ => {
                let holder = TEMPLATES.iter().find(|holder| (holder.0, holder.1) == (group, resource));
                if let Some((_, _, place)) = holder.filter(|_| write.subresource.is_empty()) {
                    self.template(write, object, place, notes);
                }
                Ok(())
            }
        }
    }

    /// `ValidatePod`.
    fn pod(&self, write: &Attributes<'_>, pod: &Value, notes: &mut Notes) -> ApiResult<()> {
        if IGNORED.contains(&write.subresource) || self.is_exempt(write, notes) {
            return Ok(());
        }
        let Some(namespace) = write.own_namespace() else {
            let why = format!("failed to lookup namespace {:?}", write.namespace);
            let error = ApiError::internal(why);
            let missing = ApiError::not_found(super::namespace_lifecycle::NAMESPACES, write.namespace);
            notes.annotate(ERROR, format!("{error}: {missing}"));
            return Err(error);
        };
        let (policy, errors) = Policy::of(|key| namespace.meta.label(key), self.defaults);
        if errors.is_empty() && policy.allows_all() {
            notes.annotate(ENFORCED, Standard::PRIVILEGED.to_string());
            return Ok(());
        }
        if write.old.is_some_and(|old| !is_significant(pod, old)) || self.is_exempt_class(pod, notes) {
            return Ok(());
        }
        tell_of_labels(&errors, notes);
        notes.annotate(ENFORCED, policy.enforce.to_string());
        let violations = Violations::of(policy.enforce, pod);
        audit(&policy, pod, notes);
        if violations.is_empty() {
            warn(&policy, pod, notes);
            return Ok(());
        }
        let why = format!("violates PodSecurity \"{}\": {}", policy.enforce, violations.details());
        Err(ApiError::forbidden(write.version.qualified(), write.name, why))
    }

    /// `ValidatePodController`.
    fn template(&self, write: &Attributes<'_>, object: &Value, place: &str, notes: &mut Notes) {
        if self.is_exempt(write, notes) {
            return;
        }
        let Some(namespace) = write.own_namespace() else {
            let missing = ApiError::not_found(super::namespace_lifecycle::NAMESPACES, write.namespace);
            notes.annotate(ERROR, format!("failed to lookup namespace {:?}: {missing}", write.namespace));
            return;
        };
        let (policy, errors) = Policy::of(|key| namespace.meta.label(key), self.defaults);
        let others = Policy { enforce: Standard::PRIVILEGED, ..policy };
        if errors.is_empty() && others.allows_all() {
            return;
        }
        let Some(template) = at(object, place) else { return };
        if self.is_exempt_class(template, notes) {
            return;
        }
        tell_of_labels(&errors, notes);
        audit(&policy, template, notes);
        warn(&policy, template, notes);
    }

    /// Whether the namespace or the user of a write is exempt.
    fn is_exempt(&self, write: &Attributes<'_>, notes: &mut Notes) -> bool {
        let has = |list: &[String], name: &str| list.iter().any(|exempt| exempt == name);
        let why = match () {
            () if has(&self.exempt_namespaces, write.namespace) => "namespace",
            () if has(&self.exempt_users, &write.user.name) => "user",
            () => return false,
        };
        notes.annotate(EXEMPT, why.into());
        true
    }

    /// Whether pods of that runtime class are exempt.
    fn is_exempt_class(&self, pod: &Value, notes: &mut Notes) -> bool {
        let class = text(pod, "/spec/runtimeClassName");
        let exempt = !class.is_empty() && self.exempt_runtime_classes.iter().any(|exempt| exempt == class);
        if exempt {
            notes.annotate(EXEMPT, "runtimeClass".into());
        }
        exempt
    }
}

/// Writes to the audit log that labels are wrong.
fn tell_of_labels(errors: &[FieldError], notes: &mut Notes) {
    if !errors.is_empty() {
        let errors = aggregate(errors.iter().map(ToString::to_string));
        notes.annotate(ERROR, format!("Failed to parse policy: {errors}"));
    }
}

/// Writes to the audit log what a pod, or one of a template, violates.
fn audit(policy: &Policy, pod: &Value, notes: &mut Notes) {
    if let Some(violations) = would_violate(policy.audit, pod) {
        notes.annotate(VIOLATIONS, violations);
    }
}

/// Warns of what a pod, or one of a template, violates.
fn warn(policy: &Policy, pod: &Value, notes: &mut Notes) {
    notes.warnings.extend(would_violate(policy.warn, pod));
}

fn would_violate(standard: Standard, pod: &Value) -> Option<String> {
    let violations = Violations::of(standard, pod);
    (!violations.is_empty()).then(|| format!("would violate PodSecurity \"{standard}\": {}", violations.details()))
}

/// Whether an update of a pod may change its security: other images, other containers (`isSignificantPodUpdate`).
fn is_significant(new: &Value, old: &Value) -> bool {
    let image = |container: &Value| text(container, "/image").to_owned();
    let images = |pod: &Value, list: &str| items(pod, list).iter().map(image).collect::<Vec<_>>();
    let fixed = ["/spec/containers", "/spec/initContainers"].iter().any(|list| images(new, list) != images(old, list));
    let ephemeral = items(new, "/spec/ephemeralContainers").iter().any(|container| {
        let name = text(container, "/name");
        let before = items(old, "/spec/ephemeralContainers").iter().find(|other| text(other, "/name") == name);
        before.is_none_or(|before| text(before, "/image") != text(container, "/image"))
    });
    fixed || ephemeral
}
