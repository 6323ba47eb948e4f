//! The bookkeeping of a request: its labels in the metrics, and its entry in the record of requests.

use super::auditing::request_uri;
use super::exchange::{Exchange, Trace, header};
use crate::api::request::decode::readable;
use crate::api::request::media::{PatchFormat, any_patch_format};
use crate::audit::RequestRecord;
use crate::http::body::ReplyBody;
use crate::http::metrics::{Labels, OpenWatch};
use crate::http::respond::Shown;
use crate::http::route::ResourcePath;
use crate::http::zpages::{self, Asked};
use crate::registry::Served;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{Method, Response};
use tokio::time::Instant;

/// The response; a watch is counted until it ends.
pub(super) fn counted(mut response: Response<ReplyBody>, trace: &mut Trace, since: Instant) -> Response<ReplyBody> {
    let mut shown = None;
    if let ReplyBody::Watch(watch) = response.body_mut() {
        trace.watched = watch.noted.as_ref().map(|noted| noted.watched().clone());
        shown = watch.refused().map(Shown::Refused);
        watch.counted = trace.counted.take().map(|series| OpenWatch::new(series, since));
    }
    if let Some(shown) = shown {
        response.extensions_mut().insert(shown);
    }
    response
}

impl Exchange<'_> {
    /// The labels of the series that a request for a resource is counted in.
    pub(super) fn labels(&self, target: Served<'_>, path: &ResourcePath<'_>) -> Labels {
        let content_type = header(self.parts, CONTENT_TYPE);
        Labels::of_resource(target, path, self.verb, self.name(), (&self.parts.method, content_type, &self.query))
    }

    /// Notes the series that a request for a document is counted in, if there is one, and whether it is about a deprecated version.
    pub(super) fn count_document(&self, trace: &mut Trace) {
        let method = &self.parts.method;
        let page = zpages::asked(&self.replica.pages, self.path, &self.preferences());
        if let Some(audited) = trace.audited.as_mut().filter(|_| page.as_ref().is_some_and(Asked::is_deprecated)) {
            audited.is_for_deprecated("");
        }
        let labels = match page {
            Some(page) => Labels::of_page(page.labels(), method),
            None => Labels::of_path(self.path, method),
        };
        trace.counted = labels.map(|labels| self.replica.metrics.series(labels, None, &self.replica.cluster));
    }

    /// Adds the request, which came at `since` and was answered so, to the record.
    pub(super) fn record(&self, trace: Trace, code: u16, shown: Option<Shown>, since: Instant) {
        let path = self.resource.clone().unwrap_or_default();
        let body = readable(header(self.parts, CONTENT_TYPE), &trace.body);
        let (error, items) = match shown {
            None => (None, None),
            Some(Shown::Refused(code)) => (Some(code), None),
            Some(Shown::Listed(number)) => (None, Some(number)),
        };
        let patch =
            (self.parts.method == Method::PATCH).then(|| header(self.parts, CONTENT_TYPE)).and_then(any_patch_format);
        let record = RequestRecord {
            replica: self.replica.index,
            audit_id: self.audit_id.to_str().unwrap_or_default().into(),
            received: self.now,
            took: since.elapsed(),
            user: trace.user,
            impersonated: trace.impersonated,
            user_agent: header(self.parts, USER_AGENT).into(),
            method: self.parts.method.to_string(),
            uri: request_uri(&self.parts.uri),
            verb: self.audited_verb().into_owned(),
            group: path.group.into(),
            version: path.version.into(),
            resource: path.resource.into(),
            subresource: path.subresource.into(),
            namespace: path.namespace().into(),
            name: self.name().into(),
            patch_type: patch.map(PatchFormat::name),
            body: body.map(Into::into),
            code,
            error,
            items,
            revision: self.ticket.written(),
            fault: trace.struck.map(|struck| *struck),
            authentication_error: trace.authentication_error.map(String::from),
            annotations: trace.annotations,
        };
        self.replica.cluster.log.add(record, trace.watched.as_ref());
    }
}
