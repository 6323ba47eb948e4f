//! Requests for documents: metrics, pages, discovery, OpenAPI, the issuer's keys.

use super::exchange::{Exchange, Trace};
use crate::deadline::Deadline;
use crate::discovery::Catalog;
use crate::error::ApiResult;
use crate::http::body::ReplyBody;
use crate::http::documents::{self, DocumentRequest};
use crate::http::health::Health;
use crate::http::metrics::{self, Scrape};
use crate::http::{flow, issuer, zpages};
use bytes::Bytes;
use http::Response;

impl Exchange<'_> {
    /// The answer to a request for a document, which is audited.
    ///
    /// # Errors
    /// The refusal of the document.
    pub(super) async fn audited_document(
        &self,
        trace: &mut Trace,
        catalog: &Catalog,
        deadline: &Deadline,
    ) -> ApiResult<Response<ReplyBody>> {
        let response = self.document(catalog, deadline).await?;
        trace.shows(self.path, &response);
        Ok(response.map(ReplyBody::whole))
    }

    async fn document(&self, catalog: &Catalog, deadline: &Deadline) -> ApiResult<Response<Bytes>> {
        let (method, path) = (&self.parts.method, self.path);
        let (replica, query, preferences) = (&**self.replica, &self.query, self.preferences());
        if let Some(answer) = metrics::answer(path, &Scrape { replica, method, query, preferences, now: self.now }) {
            return Ok(answer);
        }
        if let Some(answer) = issuer::answer(self.replica, method, path, &self.preferences()) {
            return answer;
        }
        if let Some(page) = flow::page(self.replica, path, query) {
            return Ok(page);
        }
        if let Some(page) = zpages::asked(&self.replica.pages, path, &self.preferences()) {
            return page.answer(self.replica, self.now);
        }
        let merged = self.replica.cluster.merged(catalog);
        let request = DocumentRequest {
            method,
            path,
            query: &self.query,
            headers: &self.parts.headers,
            server_address: &self.replica.address,
            now: self.now,
            health: Health {
                rbac: self.replica.cluster.policy.has_rbac,
                is_fair: self.replica.flow.is_some(),
                shutting_down: self.replica.shutdown.is_cancelled() || self.replica.is_unready(),
            },
            pages: &self.replica.pages,
            checks: &self.replica.checks,
            merged: merged.as_deref(),
            deadline,
        };
        documents::answer(catalog, &request).await
    }
}
