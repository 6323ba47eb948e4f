//! The types that the published schemas of kinds declare.
//!
//! Follows `declType` of `pkg/admission/plugin/policy/validating/typechecking.go` of `k8s.io/apiserver` (v0.37.1). Upstream reads the schemas
//! of built-in kinds from Go; those that are published are the same.

use crate::deadline::Deadline;
use crate::discovery::{GroupVersionKind, OpenApi};
use crate::error::{ApiError, ApiResult};
use kubernetes_cel::{Declared, Schema};
use tree::Value;

/// The schemas of kinds, which are published for each version of a group.
pub(super) struct Schemas<'c> {
    published: &'c OpenApi,
    /// The document that was read last, by its path.
    last: Option<(String, Value)>,
    /// The number that makes the names of the next types their own.
    number: i64,
}

impl<'c> Schemas<'c> {
    /// The schemas in documents. The names of types have numbers from this one on, as upstream's have the time in them.
    pub(super) fn new(published: &'c OpenApi, number: i32) -> Self {
        Schemas { published, last: None, number: number.into() }
    }

    /// The type that the schema of a kind declares; `None` within, if it is not of an object, and without, if there is none.
    ///
    /// # Errors
    /// 500, if the document cannot be read.
    pub(super) async fn declared(&mut self, kind: &GroupVersionKind) -> ApiResult<Option<Option<Declared>>> {
        let GroupVersionKind { group, version, kind } = kind;
        let path = if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") };
        if self.last.as_ref().is_none_or(|(last, _)| *last != path) {
            let deadline = Deadline::default();
            let Some(document) = self.published.v3(&path, &deadline).await? else { return Ok(None) };
            let document = serde_json::from_slice(&document.json().await?).map_err(ApiError::internal)?;
            self.last = Some((path, document));
        }
        let document = self.last.as_ref().map(|(_, document)| document);
        let Some(schema) = document.and_then(|document| Schema::published(document, group, version, kind)) else {
            return Ok(None);
        };
        self.number += 1;
        Ok(Some(schema.declare(true).map(|declared| declared.named(&format!("{kind}{}", self.number)))))
    }
}
