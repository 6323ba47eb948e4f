//! Conversion of objects and lists to other forms than the plain one: tables for `kubectl get`, and metadata alone for
//! caches that need no more.
//!
//! Follows `asTable`, `asPartialObjectMetadata` and `asPartialObjectMetadataList` of
//! `k8s.io/apiserver/pkg/endpoints/handlers/response.go` v0.37.1. Metadata is copied as it is stored, byte for byte;
//! only the cells of a table need a parsed object.

use super::json::encode;
use super::negotiate::{Form, MetaVersion};
use crate::api::Listing;
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult, FieldError};
use crate::registry::{PrinterColumn, RowCondition, Version, scale_columns};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::Arc;
use tree::Value;

/// The object in the rows of a table: `metav1.IncludeObjectPolicy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IncludeObject {
    /// No object.
    None,
    /// The metadata.
    Metadata,
    /// The whole object.
    Object,
}

impl IncludeObject {
    fn parse(text: &str) -> ApiResult<Self> {
        match text {
            "None" => Ok(IncludeObject::None),
            "" | "Metadata" => Ok(IncludeObject::Metadata),
            "Object" => Ok(IncludeObject::Object),
            other => {
                let detail = "must be 'Metadata', 'Object', 'None', or empty";
                let error = FieldError::invalid("includeObject", &other.into(), detail);
                Err(ApiError::bad_request(format!("Unable to convert to Table as requested: {error}")))
            }
        }
    }
}

/// `metav1.ListMeta`.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListMeta {
    /// The revision of the list.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) resource_version: String,
    /// The token for the next page.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) r#continue: String,
    /// The number of items that follow this page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remaining_item_count: Option<u64>,
}

impl ListMeta {
    /// The metadata of `listing`.
    pub(crate) fn of(listing: &Listing) -> Self {
        ListMeta {
            resource_version: listing.revision.to_string(),
            r#continue: listing.continue_token.clone().unwrap_or_default(),
            remaining_item_count: listing.remaining.map(|remaining| remaining as u64),
        }
    }
}

/// A conversion of objects of one kind to another form. A watch uses one for the whole stream, as only its first table has
/// the column definitions.
#[derive(Debug, Clone)]
pub(crate) struct Transformation {
    served: Arc<Version>,
    form: Form,
    include_object: IncludeObject,
    columns_sent: bool,
    /// Whether the objects are scales of those of that version.
    scales: bool,
    /// The deadline of computing cells.
    deadline: Deadline,
}

impl Transformation {
    /// A transformation of objects of that version to `form`. `include_object` is the query parameter `includeObject` (or
    /// ""), for tables only, whose cells are computed until a deadline.
    ///
    /// # Errors
    /// 400 for an invalid `include_object`.
    pub(crate) fn new(served: Arc<Version>, form: Form, include_object: &str, deadline: &Deadline) -> ApiResult<Self> {
        let include_object = match form {
            Form::Table(_) => IncludeObject::parse(include_object)?,
            Form::PartialObjectMetadata(_) | Form::PartialObjectMetadataList(_) => IncludeObject::Metadata,
        };
        Ok(Transformation {
            served,
            form,
            include_object,
            columns_sent: false,
            scales: false,
            deadline: deadline.clone(),
        })
    }

    /// A transformation of scales.
    pub(crate) fn of_scales(self) -> Self {
        Transformation { scales: true, ..self }
    }

    fn columns(&self) -> &[PrinterColumn] {
        if self.scales { scale_columns(self.served.is_defined()) } else { &self.served.columns }
    }

    /// Converts one object, or that of one event of a watch, bookmarks included. `object` is its JSON with `kind` and
    /// `apiVersion`, complete under the schema of that number, or 0; ages are counted from `now`.
    ///
    /// # Errors
    /// 406, if the form is only for lists. A watch ends then, as upstream.
    pub(crate) fn object(&mut self, object: &[u8], complete_under: u64, now: Timestamp) -> ApiResult<Vec<u8>> {
        match self.form {
            Form::PartialObjectMetadata(version) => Ok(encode(&PartialObjectMetadata::of(version, metadata(object)?))),
            Form::PartialObjectMetadataList(_) => Err(self.wrong_form("PartialObjectMetadataList", "not a list", "")),
            Form::Table(version) => {
                let resource_version = resource_version(metadata(object)?)?;
                let rows = vec![self.row(version, object, complete_under, now)?];
                let metadata = ListMeta { resource_version, ..ListMeta::default() };
                let json = encode(&self.table(version, &metadata, rows));
                self.columns_sent = true;
                Ok(json)
            }
        }
    }

    /// A list without items. They are behind the last colon: `[]`, or `null` as in Go.
    ///
    /// # Errors
    /// 406, if the form is only for single objects.
    pub(crate) fn empty_list(&self, metadata: &ListMeta) -> ApiResult<Vec<u8>> {
        match self.form {
            Form::PartialObjectMetadata(_) => Err(self.wrong_form("PartialObjectMetadata", "a list", "List")),
            Form::PartialObjectMetadataList(version) => {
                let (kind, api_version) = ("PartialObjectMetadataList", version.api_version());
                Ok(encode(&PartialObjectMetadataList { kind, api_version, metadata, items: () }))
            }
            Form::Table(version) => Ok(encode(&self.table(version, metadata, Vec::new()))),
        }
    }

    /// Converts an item of a list. `object` is its JSON with `kind` and `apiVersion`, complete under the schema of that number, or 0.
    ///
    /// # Errors
    /// 500, if it is not JSON.
    pub(crate) fn item(&self, object: &[u8], complete_under: u64, now: Timestamp) -> ApiResult<Vec<u8>> {
        match self.form {
            Form::PartialObjectMetadata(version) | Form::PartialObjectMetadataList(version) => {
                Ok(encode(&PartialObjectMetadata::of(version, metadata(object)?)))
            }
            Form::Table(version) => Ok(encode(&self.row(version, object, complete_under, now)?)),
        }
    }

    fn table<'t>(&'t self, version: MetaVersion, metadata: &'t ListMeta, rows: Vec<Row<'t>>) -> Table<'t> {
        Table {
            kind: "Table",
            api_version: version.api_version(),
            metadata,
            column_definitions: (!self.columns_sent).then(|| self.columns().iter().map(ColumnDefinition::of).collect()),
            rows,
        }
    }

    fn row<'o>(
        &self,
        version: MetaVersion,
        object: &'o [u8],
        complete_under: u64,
        now: Timestamp,
    ) -> ApiResult<Row<'o>> {
        let is_shown = self.served.is_converted_last() || self.include_object == IncludeObject::Object;
        let shown = match is_shown && !self.scales {
            true => self.served.json_from_storage(object, complete_under, &self.deadline)?,
            false => None,
        };
        // The cells of other kinds are computed from the storage version.
        let of_cells = shown.as_deref().filter(|_| self.served.is_converted_last());
        let value: Value = parse(of_cells.unwrap_or(object))?;
        let more = if self.scales { Vec::new() } else { self.served.more_cells(&value, now) };
        let cells = self.columns().iter().map(|column| column.cell(&value, now, &self.deadline)).chain(more).collect();
        let conditions = (self.served.row_condition)(&value).into_iter().collect();
        let object = match self.include_object {
            IncludeObject::Object => RowObject::Whole(whole(object, shown.as_deref())?),
            IncludeObject::None if !ends_initial_events(&value) => RowObject::None(()),
            IncludeObject::None | IncludeObject::Metadata => {
                RowObject::Metadata(PartialObjectMetadata::of(version, metadata(object)?))
            }
        };
        Ok(Row { cells, conditions, object })
    }

    fn wrong_form(&self, wanted: &str, is: &str, suffix: &str) -> ApiError {
        let go_type = match self.scales {
            true => "*v1.Scale".to_owned(),
            false => format!("*{}.{}{suffix}", self.served.go_package(), self.served.kind),
        };
        ApiError::not_acceptable(format!("you requested {wanted}, but the requested object is {is} ({go_type})"))
    }
}

/// The object as it is shown, unless that is as it is stored.
fn whole<'o>(stored: &'o [u8], shown: Option<&[u8]>) -> ApiResult<Cow<'o, RawValue>> {
    Ok(match shown {
        None => Cow::Borrowed(parse(stored)?),
        Some(json) => Cow::Owned(parse::<&RawValue>(json)?.to_owned()),
    })
}

/// Whether `object` is the bookmark after a watch's initial events, whose annotation clients must see.
fn ends_initial_events(object: &Value) -> bool {
    object["metadata"]["annotations"]["k8s.io/initial-events-end"] == "true"
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Table<'a> {
    kind: &'static str,
    api_version: &'static str,
    metadata: &'a ListMeta,
    /// The columns; `null` if they were sent before.
    column_definitions: Option<Vec<ColumnDefinition<'a>>>,
    rows: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct ColumnDefinition<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    type_: &'a str,
    format: &'a str,
    description: &'a str,
    priority: i32,
}

impl<'a> ColumnDefinition<'a> {
    fn of(column: &'a PrinterColumn) -> Self {
        ColumnDefinition {
            name: &column.name,
            type_: &column.type_,
            format: &column.format,
            description: &column.description,
            priority: column.priority,
        }
    }
}

#[derive(Serialize)]
struct Row<'a> {
    cells: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<RowCondition>,
    object: RowObject<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum RowObject<'a> {
    None(()),
    Metadata(PartialObjectMetadata<'a>),
    Whole(Cow<'a, RawValue>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PartialObjectMetadata<'a> {
    kind: &'static str,
    api_version: &'static str,
    metadata: &'a RawValue,
}

impl<'a> PartialObjectMetadata<'a> {
    fn of(version: MetaVersion, metadata: &'a RawValue) -> Self {
        PartialObjectMetadata { kind: "PartialObjectMetadata", api_version: version.api_version(), metadata }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PartialObjectMetadataList<'a> {
    kind: &'static str,
    api_version: &'static str,
    metadata: &'a ListMeta,
    /// No items: `null`.
    items: (),
}

/// The metadata of an object.
fn metadata(object: &[u8]) -> ApiResult<&RawValue> {
    #[derive(Deserialize)]
    struct Object<'a> {
        #[serde(borrow)]
        metadata: &'a RawValue,
    }
    Ok(parse::<Object<'_>>(object)?.metadata)
}

/// The resourceVersion of an object, read from its metadata.
fn resource_version(metadata: &RawValue) -> ApiResult<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ObjectMeta {
        /// The resource version; missing in objects that are not stored: of a dry run, a review.
        #[serde(default)]
        resource_version: String,
    }
    Ok(parse::<ObjectMeta>(metadata.get().as_bytes())?.resource_version)
}

/// Parses stored JSON, which the server has written itself.
fn parse<'a, T: Deserialize<'a>>(json: &'a [u8]) -> ApiResult<T> {
    serde_json::from_slice(json).map_err(ApiError::internal)
}

#[cfg(test)]
mod tests;
