//! The selection of a list, watch or deletecollection: a scope of the store, and selectors.

use super::Request;
use super::request::options::ListOptions;
use crate::error::ApiResult;
use crate::object::selector::{FieldSelector, LabelSelector};
use crate::registry::{Located, Resource};
use crate::store::{Entry, Filter, Scope};
use std::sync::Arc;

/// A selection of objects.
#[derive(Clone)]
pub(crate) struct Selection {
    scope: Scope,
    prefix: String,
    selectors: Option<Arc<Selectors>>,
}

struct Selectors {
    resource: Arc<Resource>,
    labels: LabelSelector,
    fields: FieldSelector,
}

impl Selection {
    /// The selection of the path and the options.
    ///
    /// # Errors
    /// 400 for a field selector that does not parse, or names a field that the kind does not select by.
    pub(crate) fn parse(request: &Request<'_>, options: &ListOptions<'_>) -> ApiResult<Self> {
        let Located { resource, version, namespace, name, .. } = request.target;
        let labels = options.label_selector.clone();
        let fields = resource.field_selector(version, options.field_selector)?;
        let some = |text: &str| (!text.is_empty()).then(|| text.into());
        let name = some(name).or_else(|| fields.exact("metadata.name").map(Into::into));
        let scope = Scope { resource: resource.id, namespace: some(namespace), name };
        let prefix = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
        let nothing = labels.is_empty() && fields.is_empty();
        let selectors = (!nothing).then(|| Arc::new(Selectors { resource: resource.clone(), labels, fields }));
        Ok(Selection { scope, prefix, selectors })
    }

    /// The scope of the store.
    pub(crate) fn scope(&self) -> Scope {
        self.scope.clone()
    }

    /// The common prefix of the paths of all selected objects.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether there are no selectors.
    pub(crate) fn is_everything(&self) -> bool {
        self.selectors.is_none()
    }

    /// Whether an object is in the scope.
    pub(crate) fn is_about(&self, entry: &Entry) -> bool {
        self.scope.contains(&entry.key)
    }

    /// Whether an object is selected.
    pub(crate) fn selects(&self, entry: &Entry) -> bool {
        self.is_about(entry) && self.selectors.as_ref().is_none_or(|selectors| selectors.matches(entry))
    }

    /// The selectors as a filter for the store's watchers.
    pub(crate) fn filter(&self) -> Option<Filter> {
        let selectors = self.selectors.clone()?;
        Some(Box::new(move |entry| selectors.matches(entry)))
    }
}

impl Selectors {
    fn matches(&self, entry: &Entry) -> bool {
        self.labels.matches(entry.meta.labels())
            && self.fields.matches(|label| match label {
                "metadata.name" => entry.key.name().into(),
                "metadata.namespace" => entry.key.namespace().into(),
                _ => self.resource.field(entry, label),
            })
    }
}
