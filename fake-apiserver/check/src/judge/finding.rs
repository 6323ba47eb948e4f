//! Findings: what the server says, with places and advice.

use super::finding_at;
use crate::client::Answer;
use crate::documents::{ACTION, Document, Unreadable};
use crate::kinds::{Kinds, group_version};
use crate::kubectl::Step;
use crate::refusal;
use crate::verdict::{Cause, Finding, Identity, Judged, RuleKind, Verdict};

/// The advice about templates.
const TEMPLATE: &str = "this is a template: render it first, as with `helm template CHART | fake-apiserver check -f -`";
/// Kinds that Kubernetes had and has no more, with what there is instead.
const REMOVED: [(&str, &str, &str); 4] = [
    ("policy", "PodSecurityPolicy", "it is gone since 1.25: label namespaces with pod-security.kubernetes.io/enforce"),
    ("", "ComponentStatus", "it cannot be applied"),
    ("auditregistration.k8s.io", "AuditSink", "it is gone since 1.19: configure auditing by --audit-policy-file"),
    ("settings.k8s.io", "PodPreset", "it is gone since 1.20: a MutatingAdmissionPolicy can do that"),
];

/// A document that cannot be read.
pub(super) fn unreadable(unreadable: Unreadable) -> Judged {
    let Unreadable { place, message, is_template } = unreadable;
    let hint = is_template.then(|| TEMPLATE.to_owned());
    let finding = Finding { hint, ..finding_at(&place, Verdict::Error, RuleKind::Document, message) };
    Judged::of(place, Identity::default(), vec![finding])
}

/// An object of a kind that is not served, in the words of `kubectl`.
pub(super) fn no_kind(document: &Document, kinds: &Kinds) -> Finding {
    let (api_version, kind) = (document.text("/apiVersion"), document.text("/kind"));
    let message = format!("no matches for kind {kind:?} in version {api_version:?}");
    let place = document.place_of("apiVersion");
    let hint = Some(other_kind(api_version, kind, kinds));
    Finding { hint, ..finding_at(&place, Verdict::Denied, RuleKind::Kind, message) }
}

/// The advice about a kind that is not served: which group or version would have it.
fn other_kind(api_version: &str, kind: &str, kinds: &Kinds) -> String {
    let (group, _) = group_version(api_version);
    let gone = REMOVED.iter().find(|(known, name, _)| (*known, *name) == (group, kind));
    if let Some((.., advice)) = gone {
        return (*advice).to_owned();
    }
    let of_group = kinds.versions(group, kind);
    let others = if of_group.is_empty() { kinds.named(kind) } else { of_group };
    match others.is_empty() {
        true => "no group has it: give its CustomResourceDefinition, too, by --filename or --given".to_owned(),
        false => format!("{kind} is in {}", others.join(", ")),
    }
}

/// A warning of the server.
pub(super) fn warning(document: &Document, text: &str) -> Finding {
    let causes = placed(document, refusal::unknown_fields(text).into_iter().chain(leading_field(text)).collect());
    let place = causes.first().map_or_else(|| document.place.clone(), |cause| cause.place.clone());
    let rule = refusal::warning(text);
    Finding { verdict: Verdict::Warning, rule, message: text.to_owned(), place, causes, hint: None }
}

/// The field of a warning such as `spec.a: b`.
fn leading_field(text: &str) -> Option<(String, String)> {
    let (field, why) = text.split_once(": ")?;
    let is_field = field.contains('.') && !field.contains([' ', '"']);
    is_field.then(|| (field.to_owned(), why.to_owned()))
}

/// A refusal of the server.
pub(super) fn refused(document: &Document, step: Step, answer: &Answer) -> Finding {
    let rule = refusal::rule(answer);
    let message = match step {
        Step::Get => format!("retrieving current configuration: {}", answer.message()),
        Step::Create | Step::Patch => answer.message(),
    };
    let causes = placed(document, refusal::causes(answer));
    let place = causes.first().map_or_else(|| document.place.clone(), |cause| cause.place.clone());
    let hint = hint(rule.kind, &message);
    Finding { verdict: Verdict::Denied, rule, message, place, causes, hint }
}

fn hint(kind: RuleKind, message: &str) -> Option<String> {
    let is_of_namespace = message.starts_with("namespaces \"") && message.ends_with("\" not found");
    match kind {
        RuleKind::Missing if is_of_namespace => {
            Some("give the Namespace, too, or make those that are named with --create-namespaces".to_owned())
        }
        _ => message.contains(ACTION).then(|| TEMPLATE.to_owned()),
    }
}

fn placed(document: &Document, causes: Vec<(String, String)>) -> Vec<Cause> {
    let placed = |(field, message): (String, String)| Cause { place: document.place_of(&field), field, message };
    causes.into_iter().map(placed).collect()
}
