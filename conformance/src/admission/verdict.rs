//! The verdict on a soak of admission: a pure function of its history.

use super::history::{Act, Data, Event, History, Hook, Limit, Outcome, Reaction, Review, Used, Write, field};
use super::observer::replayed;
use super::world::{LIMIT, SLACK, TIMEOUT};
use crate::findings::Findings;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The reason of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// A webhook refused.
    Denied,
    /// A webhook could not be called.
    Failed,
    /// A webhook's patch does not apply.
    Patch,
    /// A policy refused.
    Policy,
    /// A quota would be exceeded.
    Quota,
    /// A quota was changed too often meanwhile.
    Contended,
    /// The object was changed meanwhile.
    Conflict,
    /// The namespace, or the object, is not there any more.
    Gone,
}

/// The causes by the status and a part of the message.
const CAUSES: [(u16, &str, Cause); 10] = [
    (0, "denied the request", Cause::Denied),
    (500, "failed calling webhook", Cause::Failed),
    (500, "remove operation does not apply", Cause::Patch),
    (500, "Unable to remove nonexistent key", Cause::Patch),
    (422, "ValidatingAdmissionPolicy", Cause::Policy),
    (403, "exceeded quota", Cause::Quota),
    (409, "resourcequotas", Cause::Contended),
    (409, "object has been modified", Cause::Conflict),
    (403, "is being terminated", Cause::Gone),
    (404, "not found", Cause::Gone),
];

impl Cause {
    /// The cause of a refusal with that status and message, if it is a known one.
    pub fn of(status: u16, message: &str) -> Option<Cause> {
        let is = |(code, part, _): &&(u16, &str, Cause)| (*code == 0 || *code == status) && message.contains(part);
        CAUSES.iter().find(is).map(|(_, _, cause)| *cause)
    }
}

/// The guarantees that the history violates.
pub fn verdict(history: &History) -> Vec<String> {
    let mut findings = Vec::new();
    for judge in [answered, acknowledged, explained, mutated, limited, refused, counted, ended] {
        findings.extend(judge(history));
    }
    findings
}

/// The number of refusals by cause.
pub fn causes(history: &History) -> BTreeMap<String, usize> {
    let mut causes = BTreeMap::new();
    for write in &history.writes {
        let cause = match &write.outcome {
            Outcome::Done(..) => continue,
            Outcome::Refused(status, message) => format!("{:?}", Cause::of(*status, message)).replace("Some", ""),
            Outcome::Unknown(_) => "unknown".to_owned(),
        };
        *causes.entry(cause.trim_matches(['(', ')']).to_lowercase()).or_default() += 1;
    }
    causes
}

/// Every request is answered in its time.
fn answered(history: &History) -> Vec<String> {
    let mut findings = Findings::of("every request is answered in its time");
    for write in &history.writes {
        let took = write.answered.saturating_sub(write.sent);
        if took > LIMIT + SLACK {
            findings.add(|| format!("{} took {took:.1?}: {:?}", about(write), write.outcome));
        }
    }
    findings.told()
}

/// Writes that were answered did happen, in place of what they were to replace.
fn acknowledged(history: &History) -> Vec<String> {
    let mut findings = Findings::of("what was answered did happen");
    let mut lives: HashMap<&(String, String), Vec<&Event<Data>>> = HashMap::new();
    for event in &history.objects {
        lives.entry(&event.object).or_default().push(event);
    }
    for write in &history.writes {
        let Outcome::Done(revision, data) = &write.outcome else { continue };
        let life = lives.get(&write.object).map_or(&[][..], Vec::as_slice);
        if write.act == Act::Delete {
            if !life.last().is_some_and(|event| event.gone) {
                findings.add(|| format!("{} did not delete it", about(write)));
            }
            continue;
        }
        let Some(place) = life.iter().position(|event| event.revision == *revision && !event.gone) else {
            findings.add(|| format!("{} at {revision} was never seen", about(write)));
            continue;
        };
        if life[place].value != *data {
            findings.add(|| format!("{} was answered {data:?}, and is {:?}", about(write), life[place].value));
        }
        let before = place.checked_sub(1).map(|before| life[before].revision);
        match write.act {
            Act::Create if before.is_some() => findings.add(|| format!("{} created it twice", about(write))),
            Act::Update(base) if before != Some(base) => {
                findings.add(|| format!("{} was to replace {base}, and replaced {before:?}", about(write)));
            }
            _ => {}
        }
    }
    findings.told()
}

/// Changes were asked for.
fn explained(history: &History) -> Vec<String> {
    let mut findings = Findings::of("what happened was asked for");
    let deleted: BTreeSet<_> =
        history.writes.iter().filter(|write| write.act == Act::Delete).map(|write| &write.object).collect();
    for event in history.objects.iter().filter(|event| event.gone) {
        if is_ours(&event.object) && !deleted.contains(&event.object) && !history.condemned.contains(&event.object.0) {
            findings.add(|| format!("{:?} was deleted by nobody", event.object));
        }
    }
    let possible: BTreeSet<_> = history
        .writes
        .iter()
        .filter(|write| !matches!(write.outcome, Outcome::Refused(..)))
        .map(|write| write.request.as_str())
        .collect();
    for event in history.objects.iter().filter(|event| !event.gone && is_ours(&event.object)) {
        let request = event.value.get(field::REQUEST).map_or("", String::as_str);
        if !request.is_empty() && !possible.contains(request) {
            findings.add(|| format!("{:?} was written by {request}, which was refused", event.object));
        }
    }
    findings.told()
}

/// Objects that were admitted were changed by the webhooks exactly as they said, and by nothing else; and no webhook refused them.
fn mutated(history: &History) -> Vec<String> {
    let mut findings = Findings::of("what is admitted is as webhooks told, and none refused it");
    for write in history.writes.iter().filter(|write| write.act != Act::Delete) {
        let Outcome::Done(_, data) = &write.outcome else { continue };
        let all = history.reviews.get(&write.request).map_or(&[][..], Vec::as_slice);
        // Where caches lag, a patch that is refused is tried again on the object as it is.
        let again = write.act == Act::Patch && !history.lag.is_zero();
        let begins = |review: &Review| review.hook == Hook::Strict;
        let reviews = if again { &all[all.iter().rposition(begins).unwrap_or_default()..] } else { all };
        for why in violations(write, data, reviews) {
            findings.add(|| format!("{} is {data:?}: {why}; {reviews:?}", about(write)));
        }
    }
    findings.told()
}

fn violations(write: &Write, data: &Data, reviews: &[Review]) -> Vec<String> {
    let mut violations = Vec::new();
    let mut expected = Data::from([
        (field::REQUEST.to_owned(), write.request.clone()),
        (field::SIZE.to_owned(), write.size.to_string()),
    ]);
    for hook in Hook::ALL {
        if hook.is_optional() && may_be_late(write) && !data.contains_key(hook.name()) {
            continue;
        }
        let of_hook = || reviews.iter().filter(|review| review.hook == hook);
        let passes = |review: &Review| match &review.reaction {
            Reaction::Admitted(token) => data.get(hook.name()) == token.as_ref(),
            Reaction::Error | Reaction::Silent => hook.is_optional() && !data.contains_key(hook.name()),
            Reaction::Denied | Reaction::Wrong => false,
        };
        if hook.mutates() {
            expected.extend(data.get(hook.name()).map(|token| (hook.name().to_owned(), token.clone())));
            if !of_hook().any(passes) {
                violations.push(format!("{} told something else", hook.name()));
            }
        } else if !of_hook().any(|review| {
            review.shown == *data && (review.reaction == Reaction::Admitted(None) || fails_well(hook, &review.reaction))
        }) {
            violations.push(format!("{} did not admit it", hook.name()));
        }
        if of_hook()
            .any(|review| !matches!(review.reaction, Reaction::Admitted(_)) && !fails_well(hook, &review.reaction))
        {
            violations.push(format!("{} refused", hook.name()));
        }
    }
    if expected != *data {
        violations.push("there is something else in it".to_owned());
    }
    violations
}

/// Whether a write took so long that a webhook's answer may have come too late: it runs on the same machine, which may be busy.
fn may_be_late(write: &Write) -> bool {
    write.answered.saturating_sub(write.sent) >= TIMEOUT
}

/// Whether a webhook failed in a way that a write goes on after.
fn fails_well(hook: Hook, reaction: &Reaction) -> bool {
    hook.is_optional() && matches!(reaction, Reaction::Error | Reaction::Silent)
}

/// The limits of a policy that may have been in force during a write.
fn possible<'h>(history: &'h History, policy: &'h str, write: &Write) -> Vec<u64> {
    let versions: Vec<&Limit> = history.limits.iter().filter(|limit| limit.policy == policy).collect();
    let ends = versions.iter().skip(1).map(|next| Some(next.answered + history.lag)).chain([None]);
    let during = versions
        .iter()
        .zip(ends)
        .filter(|(limit, end)| limit.sent <= write.answered && end.is_none_or(|end| write.sent <= end));
    during.map(|(limit, _)| limit.most).collect()
}

/// An object that was admitted satisfies a version of every policy that was in force during the request.
fn limited(history: &History) -> Vec<String> {
    let mut findings = Findings::of("what is admitted satisfies all policies");
    let policies: BTreeSet<&str> = history.limits.iter().map(|limit| limit.policy.as_str()).collect();
    for write in history.writes.iter().filter(|write| write.act != Act::Delete) {
        let Outcome::Done(..) = write.outcome else { continue };
        for policy in &policies {
            let limits = possible(history, policy, write);
            if limits.iter().all(|most| write.size > *most) {
                findings
                    .add(|| format!("{} of size {} was admitted by {policy}: {limits:?}", about(write), write.size));
            }
        }
    }
    findings.told()
}

/// Refusals are for a reason that is true.
fn refused(history: &History) -> Vec<String> {
    let mut findings = Findings::of("what is refused is refused with reason");
    for write in &history.writes {
        let Outcome::Refused(status, message) = &write.outcome else { continue };
        let did =
            |wanted: fn(&Review) -> bool| history.reviews.get(&write.request).is_some_and(|all| all.iter().any(wanted));
        let policy = || message.split('\'').nth(1).unwrap_or_default();
        let is_true = match Cause::of(*status, message) {
            None => false,
            Some(Cause::Denied) if message.contains("ValidatingAdmissionPolicy") => {
                possible(history, policy(), write).iter().any(|most| write.size > *most)
            }
            Some(Cause::Denied) => did(|review| review.reaction == Reaction::Denied),
            Some(Cause::Failed) => {
                may_be_late(write) || did(|review| matches!(review.reaction, Reaction::Error | Reaction::Silent))
            }
            Some(Cause::Patch) => did(|review| review.reaction == Reaction::Wrong),
            Some(Cause::Policy) => possible(history, policy(), write).iter().any(|most| write.size > *most),
            Some(Cause::Gone) => history.condemned.contains(&write.object.0) || write.act != Act::Create,
            Some(Cause::Quota | Cause::Contended | Cause::Conflict) => true,
        };
        if !is_true {
            findings.add(|| format!("{} of size {}: {status} {message}", about(write), write.size));
        }
    }
    findings.told()
}

/// A quota is never exceeded, counts at least what there is at any moment, and in the end exactly that.
fn counted(history: &History) -> Vec<String> {
    let mut findings = Findings::of("quotas count what there is");
    let mut states: BTreeMap<&str, (Used, BTreeSet<&str>)> = BTreeMap::new();
    for moment in moments(history) {
        match moment {
            Moment::Quota(event) => {
                let (known, _) = states.entry(&event.object.0).or_default();
                let now = event.value;
                if now.used > known.used && now.used > now.hard && !event.gone {
                    findings.add(|| format!("{} counts {now:?} at {}", event.object.0, event.revision));
                }
                *known = now;
            }
            Moment::Object(event) => {
                let (quota, objects) = states.entry(&event.object.0).or_default();
                if event.gone {
                    objects.remove(event.object.1.as_str());
                } else if objects.insert(&event.object.1) && objects.len() as u64 > quota.used {
                    let (there, revision) = (objects.len(), event.revision);
                    findings.add(|| format!("{} has {there} at {revision}, and counts {quota:?}", event.object.0));
                }
            }
        }
    }
    for (namespace, (quota, objects)) in states {
        // What is not known to be created may be counted.
        let unknown = history.writes.iter().filter(|write| {
            write.object.0 == namespace && write.act == Act::Create && matches!(write.outcome, Outcome::Unknown(_))
        });
        let most = objects.len() + unknown.count();
        if !history.condemned.iter().any(|gone| gone == namespace)
            && !(objects.len()..=most).contains(&(quota.used as usize))
        {
            findings
                .add(|| format!("{namespace} has {} in the end, at most {most}, and counts {quota:?}", objects.len()));
        }
    }
    findings.told()
}

enum Moment<'h> {
    Quota(&'h Event<Used>),
    Object(&'h Event<Data>),
}

/// The events of quotas and of what they count, in order.
fn moments(history: &History) -> Vec<Moment<'_>> {
    let objects = history.objects.iter().filter(|event| is_ours(&event.object));
    let objects = objects.map(|event| (event.revision, Moment::Object(event)));
    let mut moments: Vec<_> =
        history.quotas.iter().map(|event| (event.revision, Moment::Quota(event))).chain(objects).collect();
    moments.sort_by_key(|(revision, _)| *revision);
    moments.into_iter().map(|(_, moment)| moment).collect()
}

/// In the end a namespace that was deleted is gone, with all that it had, and nothing comes to be in it afterwards.
fn ended(history: &History) -> Vec<String> {
    let mut findings = Findings::of("a namespace goes with what it has");
    let left = replayed(&history.objects);
    for namespace in &history.condemned {
        let Some(end) = history.namespaces.iter().find(|event| event.gone && event.object.1 == *namespace) else {
            findings.add(|| format!("{namespace} does not go"));
            continue;
        };
        let here = |object: &(String, String)| object.0 == *namespace;
        for event in history.objects.iter().filter(|event| here(&event.object) && event.revision > end.revision) {
            findings.add(|| format!("{:?} at {} came after the end of its namespace", event.object, event.revision));
        }
        for object in left.keys().filter(|object| here(object)) {
            findings.add(|| format!("{object:?} is left"));
        }
    }
    findings.told()
}

/// Whether an object is one that clients write.
fn is_ours((_, name): &(String, String)) -> bool {
    name.starts_with("o-") || name.starts_with("hot-")
}

fn about(write: &Write) -> String {
    format!("{:?} {} of {}/{}", write.act, write.request, write.object.0, write.object.1)
}

#[cfg(test)]
mod tests;
