//! The audit of a request: what becomes known of it on its way, and its events.
//!
//! ```text
//!   refused before its audit ──────────────────────────▶ ResponseStarted
//!   others ─▶ RequestReceived ─▶ (long: ResponseStarted) ─▶ ResponseComplete, or Panic
//! ```
//! Ports `pkg/audit/{context,request}.go` and `pkg/endpoints/filters/audit.go` of `k8s.io/apiserver` (v0.37.1).
//!
//! GAP: auditing: annotations about the latency of requests that take more than half a second, and about certificates of webhooks that are
//! out of date; the message of a panic

use super::auditor::Auditor;
use super::backend::Delivered;
use super::event::{Annotation, Event, ObjectRef, Origin, Outcome};
use super::level::{Level, Stage};
use super::policy::Plan;
use super::raw::{members, without_managed_fields};
use crate::auth::authorizer::Target;
use crate::auth::impersonation::Impersonated;
use crate::clock::Clock;
use crate::object::meta;
use bytes::Bytes;
use std::sync::Arc;
use tree::Value;

/// The beginning of a `Status`.
const STATUS: &[u8] = br#"{"kind":"Status","apiVersion":"v1","#;
/// The members of a `Status` that events have.
const TOLD: [&[u8]; 4] = [b"status", b"message", b"reason", b"details"];
/// The prefix of annotations with patches, which are in events that have the object of the request.
const PATCHES: &str = "patch.webhook.admission.k8s.io/round_";
/// The annotations of requests for a deprecated version (`deprecatedAnnotationKey`, `removedReleaseAnnotationKey`).
const DEPRECATED: &str = "k8s.io/deprecated";
const REMOVED: &str = "k8s.io/removed-release";
/// The status of a request that ends without a response.
const CLOSED: &[u8] = br#""status":"Success","message":"Connection closed early","#;
/// The status of a request in which the server failed.
const FAILED: &[u8] = br#""status":"Failure","message":"APIServer panic'd","reason":"InternalError","#;

/// The course of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Course {
    /// It is refused before it is audited: its credentials or its timeout are wrong.
    Refused,
    Short,
    /// It may go on after its response has begun.
    Long,
}

/// The audit of a request, which lasts as long as this.
pub(crate) struct Audited {
    auditor: Arc<Auditor>,
    clock: Arc<dyn Clock>,
    plan: Plan,
    course: Course,
    event: Event,
    /// The annotations that all events have.
    own: Vec<Annotation>,
    /// The release in which the version of the resource is gone, if that is deprecated; "" if none is known.
    removed_in: Option<&'static str>,
    /// The members that the status of the response has.
    told: Vec<u8>,
    is_complete: bool,
}

impl Audited {
    /// The audit of a request for which the policy has that plan.
    pub(crate) fn begin(
        auditor: &Arc<Auditor>,
        clock: &Arc<dyn Clock>,
        plan: Plan,
        course: Course,
        origin: Origin,
        target: Target<'_>,
        own: Vec<Annotation>,
    ) -> Audited {
        let event = Event {
            level: plan.level,
            stage: Stage::RequestReceived,
            time: origin.received,
            origin: Arc::new(origin),
            impersonated: None,
            object: object(target),
            outcome: None,
            request_object: None,
            response_object: None,
            annotations: Vec::new(),
        };
        let (auditor, clock) = (auditor.clone(), clock.clone());
        let is_complete = course == Course::Refused;
        Audited { auditor, clock, plan, course, event, own, removed_in: None, told: Vec::new(), is_complete }
    }

    /// Whether events have the object of the request.
    pub(crate) fn has_request(&self) -> bool {
        self.plan.level >= Level::Request
    }

    /// Whether events have the object of the response.
    pub(crate) fn has_response(&self) -> bool {
        self.plan.level >= Level::RequestResponse
    }

    /// Delivers the event of the request's arrival. False, if it has to be refused, as that fails.
    pub(crate) async fn received(&mut self, annotations: &[Annotation]) -> bool {
        self.annotate(annotations);
        let processed = self.deliver(Stage::RequestReceived).done().await;
        // Nothing more is told of a request that is not audited.
        self.is_complete |= !processed;
        processed
    }

    /// Notes the user that the request acts as.
    pub(crate) fn impersonates(&mut self, impersonated: &Impersonated) {
        self.event.impersonated = Some(impersonated.clone());
    }

    /// Notes that the version of the resource is deprecated, and in which release it is gone; "" if none is known.
    pub(crate) fn is_for_deprecated(&mut self, removed_in: &'static str) {
        self.removed_in = Some(removed_in);
    }

    /// Notes which object is sent (`LogRequestObject`).
    pub(crate) fn refers_to(&mut self, sent: &Value) {
        let Some(object) = &mut self.event.object else { return };
        for (field, value) in [
            (&mut object.namespace, meta::namespace(sent)),
            (&mut object.name, meta::name(sent)),
            (&mut object.uid, meta::uid(sent)),
            (&mut object.resource_version, meta::resource_version(sent)),
        ] {
            if field.is_empty() {
                value.clone_into(field);
            }
        }
    }

    /// Notes the object that is sent, as Go writes it, unless one is noted.
    pub(crate) fn request(&mut self, json: &[u8]) {
        let object =
            || if self.plan.omit_managed_fields { without_managed_fields(json).into() } else { json.to_vec().into() };
        self.event.request_object.get_or_insert_with(object);
    }

    /// Notes a patch (`LogRequestPatch`).
    pub(crate) fn patch(&mut self, json: Vec<u8>) {
        self.event.request_object = Some(json.into());
    }

    /// Notes the object of the response, as Go writes it (`LogResponseObject`).
    pub(crate) fn response(&mut self, line: &[u8]) {
        let json = line.trim_ascii_end();
        if json.starts_with(STATUS) {
            let told = members(json, 0).into_iter().filter(|member| TOLD.contains(&&json[member.name.clone()]));
            self.told =
                told.flat_map(|member| [&json[member.name.start - 1..member.value.end], b","].concat()).collect();
        }
        if self.has_response() {
            let omits = self.plan.omit_managed_fields;
            let object = if omits { without_managed_fields(json).into() } else { Bytes::copy_from_slice(json) };
            self.event.response_object = Some(object);
        }
    }

    /// Delivers the event of the response: that it is complete or, if it is long, that it begins.
    pub(crate) async fn responds(&mut self, code: u16, annotations: &[Annotation]) {
        self.annotate(annotations);
        self.event.outcome = Some(Outcome { code, told: std::mem::take(&mut self.told) });
        if self.is_complete && self.course != Course::Refused {
            return;
        }
        let stage = match self.course {
            Course::Short => Stage::ResponseComplete,
            Course::Long | Course::Refused => Stage::ResponseStarted,
        };
        self.is_complete |= self.course == Course::Short;
        self.deliver(stage).done().await;
    }

    fn annotate(&mut self, annotations: &[Annotation]) {
        let has_patches = self.has_request();
        let shown = annotations.iter().filter(|(key, _)| has_patches || !key.starts_with(PATCHES));
        self.event.annotations = self.own.iter().chain(shown).cloned().collect();
    }

    /// Delivers an event, unless the policy omits it (`ProcessEventStage`).
    fn deliver(&mut self, stage: Stage) -> Delivered {
        if self.plan.omit_stages.has(stage) {
            return Delivered::Now(true);
        }
        self.event.stage = stage;
        if let Some(removed_in) = self.removed_in.filter(|_| stage == Stage::ResponseComplete) {
            self.event.annotations.push((DEPRECATED.into(), "true".into()));
            if !removed_in.is_empty() {
                self.event.annotations.push((REMOVED.into(), removed_in.into()));
            }
        }
        if stage != Stage::RequestReceived {
            self.event.time = self.clock.now();
        }
        self.auditor.process(&Arc::new(self.event.clone()))
    }

    /// Delivers an event while nothing waits for that.
    fn deliver_unawaited(&mut self, stage: Stage) {
        if let Delivered::Later(delivery) = self.deliver(stage) {
            self.auditor.run(delivery);
        }
    }
}

impl Drop for Audited {
    fn drop(&mut self) {
        if self.is_complete {
            return;
        }
        if std::thread::panicking() {
            self.event.outcome = Some(Outcome { code: 500, told: FAILED.to_vec() });
            return self.deliver_unawaited(Stage::Panic);
        }
        if self.event.outcome.is_none() {
            self.event.outcome = Some(Outcome { code: 200, told: CLOSED.to_vec() });
            if self.course == Course::Long {
                self.deliver_unawaited(Stage::ResponseStarted);
            }
        }
        self.deliver_unawaited(Stage::ResponseComplete);
    }
}

/// The object that a request is about, as its path says; `None` for other paths.
fn object(target: Target<'_>) -> Option<ObjectRef> {
    let Target::Resource { group, version, resource, subresource, namespace, name } = target else { return None };
    Some(ObjectRef {
        resource: resource.into(),
        namespace: namespace.into(),
        name: name.into(),
        api_group: group.into(),
        api_version: version.into(),
        subresource: subresource.into(),
        ..ObjectRef::default()
    })
}
