//! The options of each verb, read from the query (or, for deletes, the body) and validated once.

use super::Query;
use crate::admission::{Operation, Options};
use crate::commit::deletion::{DeleteOptions, Propagation};
use crate::error::{ApiError, ApiResult, FieldError};
use crate::object::selector::LabelSelector;
use tree::{Value, json};

/// The handling of unknown and duplicate fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    /// Drop them.
    Ignore,
    /// Drop them, and send warnings.
    Warn,
    /// Refuse the object.
    Strict,
}

/// Options of create, update and patch.
#[derive(Debug)]
pub(crate) struct WriteOptions {
    pub(crate) dry_run: bool,
    /// The name of the field manager; empty if the request does not give one.
    pub(crate) field_manager: String,
    /// Whether to take fields from other managers (`force`).
    pub(crate) force: bool,
    pub(crate) field_validation: FieldValidation,
    /// `fieldValidation` as it was sent, or "".
    sent_field_validation: &'static str,
}

impl WriteOptions {
    /// The options of a request that gives none but perhaps the field manager, from which it takes what is others'.
    pub(crate) fn of_manager(field_manager: &str) -> Self {
        WriteOptions {
            dry_run: false,
            field_manager: field_manager.to_owned(),
            force: !field_manager.is_empty(),
            field_validation: FieldValidation::Warn,
            sent_field_validation: "",
        }
    }

    /// Parses the options; `kind` is their kind in messages, such as `CreateOptions`.
    pub(crate) fn parse(query: &Query<'_>, kind: &str) -> ApiResult<Self> {
        let mut errors = Vec::new();
        if kind == "PatchOptions" && query.has("force") {
            errors.push(FieldError::forbidden("force", "may not be specified for non-apply patch"));
        }
        Self::validated(query, kind, errors)
    }

    /// Parses the options of an apply, which requires a field manager.
    pub(crate) fn of_apply(query: &Query<'_>) -> ApiResult<Self> {
        let named = !query.get("fieldManager").is_empty();
        let missing = (!named).then(|| FieldError::required("fieldManager", "is required for apply patch"));
        Self::validated(query, "PatchOptions", missing.into_iter().collect())
    }

    fn validated(query: &Query<'_>, kind: &str, mut errors: Vec<FieldError>) -> ApiResult<Self> {
        let field_manager = query.get("fieldManager").to_owned();
        errors.extend(field_manager_error(&field_manager));
        let dry_run: Vec<&str> = query.all("dryRun").collect();
        errors.extend(dry_run_error(&dry_run));
        let (field_validation, sent_field_validation) = match query.get("fieldValidation") {
            "" => (FieldValidation::Warn, ""),
            "Warn" => (FieldValidation::Warn, "Warn"),
            "Ignore" => (FieldValidation::Ignore, "Ignore"),
            "Strict" => (FieldValidation::Strict, "Strict"),
            other => {
                let supported = &["", "Ignore", "Strict", "Warn"];
                errors.push(FieldError::unsupported("fieldValidation", &json!(other), supported));
                (FieldValidation::Ignore, "")
            }
        };
        if !errors.is_empty() {
            return Err(ApiError::invalid_options(kind, &errors));
        }
        let force = query.flag("force").unwrap_or(false);
        Ok(WriteOptions { dry_run: !dry_run.is_empty(), field_manager, force, field_validation, sent_field_validation })
    }
}

impl Options for WriteOptions {
    fn dry_run(&self) -> bool {
        self.dry_run
    }

    fn object(&self, operation: Operation) -> Value {
        let kind = if operation == Operation::Create { "CreateOptions" } else { "UpdateOptions" };
        let mut object = json!({ "kind": kind, "apiVersion": "meta.k8s.io/v1" });
        if self.dry_run {
            object["dryRun"] = json!(["All"]);
        }
        if !self.field_manager.is_empty() {
            object["fieldManager"] = self.field_manager.as_str().into();
        }
        if !self.sent_field_validation.is_empty() {
            object["fieldValidation"] = self.sent_field_validation.into();
        }
        object
    }
}

impl Options for DeleteOptions {
    fn dry_run(&self) -> bool {
        self.dry_run
    }

    fn object(&self, _: Operation) -> Value {
        let mut object = json!({ "kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1" });
        if self.dry_run {
            object["dryRun"] = json!(["All"]);
        }
        if let Some(seconds) = self.grace_period {
            object["gracePeriodSeconds"] = seconds.into();
        }
        if let Some(propagation) = self.propagation {
            object["propagationPolicy"] = format!("{propagation:?}").into();
        }
        for (field, text) in [("uid", &self.uid), ("resourceVersion", &self.resource_version)] {
            if let Some(text) = text {
                object["preconditions"][field] = text.as_str().into();
            }
        }
        object
    }
}

fn dry_run_error(values: &[&str]) -> Option<FieldError> {
    let unsupported = values.iter().any(|value| *value != "All");
    unsupported.then(|| FieldError::unsupported("dryRun", &json!(values), &["All"]))
}

/// `ValidateFieldManager` of apimachinery: at most 128 bytes, printable.
fn field_manager_error(manager: &str) -> Option<FieldError> {
    const MAX: usize = 128;
    if manager.len() > MAX {
        return Some(FieldError::too_long("fieldManager", MAX));
    }
    let (position, character) = manager.char_indices().find(|(_, character)| character.is_control())?;
    let detail = format!("invalid character U+{:04X} (at position {position})", character as u32);
    Some(FieldError::invalid("fieldManager", &json!(manager), detail))
}

/// The `resourceVersion` of a get, list or watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResourceVersion {
    /// Unset: the latest.
    Latest,
    /// `0`: any revision.
    Any,
    /// A revision.
    At(u64),
}

/// `resourceVersionMatch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VersionMatch {
    /// Unset.
    Default,
    /// Exactly the given revision.
    Exact,
    /// The given revision or a later one.
    NotOlderThan,
}

/// Options of list, watch and deletecollection.
#[derive(Debug)]
pub(crate) struct ListOptions<'q> {
    pub(crate) label_selector: LabelSelector,
    pub(crate) field_selector: &'q str,
    /// The maximum number of items in a page; 0 means no limit.
    pub(crate) limit: usize,
    pub(crate) continue_token: &'q str,
    resource_version: &'q str,
    pub(crate) version_match: VersionMatch,
    pub(crate) allow_bookmarks: bool,
    pub(crate) send_initial_events: Option<bool>,
    pub(crate) timeout_seconds: Option<u64>,
}

impl<'q> ListOptions<'q> {
    pub(crate) fn parse(query: &'q Query<'_>, watch: bool) -> ApiResult<Self> {
        let limit = integer(query, "limit")?.unwrap_or(0);
        let timeout_seconds = integer(query, "timeoutSeconds")?;
        let version_match = query.get("resourceVersionMatch");
        let options = ListOptions {
            label_selector: LabelSelector::parse(query.get("labelSelector"))?,
            field_selector: query.get("fieldSelector"),
            limit: usize::try_from(limit).unwrap_or(0),
            continue_token: query.get("continue"),
            resource_version: query.get("resourceVersion"),
            version_match: match version_match {
                "Exact" => VersionMatch::Exact,
                "NotOlderThan" => VersionMatch::NotOlderThan,
                _ => VersionMatch::Default,
            },
            allow_bookmarks: query.flag("allowWatchBookmarks").unwrap_or(false),
            send_initial_events: query.flag("sendInitialEvents"),
            timeout_seconds: timeout_seconds.and_then(|seconds| u64::try_from(seconds).ok()).filter(|s| *s > 0),
        };
        let errors = if watch { options.watch_errors(version_match) } else { options.list_errors(version_match) };
        if !errors.is_empty() {
            return Err(ApiError::invalid_options("ListOptions", &errors));
        }
        Ok(options)
    }

    /// The parsed resourceVersion, or the error message.
    pub(crate) fn resource_version(&self) -> Result<ResourceVersion, String> {
        parse_resource_version(self.resource_version)
    }

    /// `validateWatchOptions` of apimachinery's metav1/validation.
    fn watch_errors(&self, version_match: &str) -> Vec<FieldError> {
        const FIELD: &str = "resourceVersionMatch";
        let mut errors = Vec::new();
        // A watch that begins with the present objects asks for initial events by default.
        let by_default =
            version_match.is_empty() && self.send_initial_events.is_none() && matches!(self.resource_version, "" | "0");
        let version_match = if by_default { "NotOlderThan" } else { version_match };
        let sends_initial_events = by_default || self.send_initial_events.is_some();
        if sends_initial_events && version_match != "NotOlderThan" {
            let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            errors.push(FieldError::forbidden(FIELD, detail));
        }
        if version_match.is_empty() {
            return errors;
        }
        if !sends_initial_events {
            let detail = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            errors.push(FieldError::forbidden(FIELD, detail));
        }
        if version_match != "NotOlderThan" {
            errors.push(FieldError::unsupported(FIELD, &json!(version_match), &["NotOlderThan"]));
        }
        if !self.continue_token.is_empty() {
            errors.push(FieldError::forbidden(FIELD, "resourceVersionMatch is forbidden when continue is provided"));
        }
        errors
    }

    /// `validateListOptions` of apimachinery's metav1/validation.
    fn list_errors(&self, version_match: &str) -> Vec<FieldError> {
        const FIELD: &str = "resourceVersionMatch";
        let mut errors = Vec::new();
        if !version_match.is_empty() {
            if self.resource_version.is_empty() {
                let detail = "resourceVersionMatch is forbidden unless resourceVersion is provided";
                errors.push(FieldError::forbidden(FIELD, detail));
            }
            if !self.continue_token.is_empty() {
                let detail = "resourceVersionMatch is forbidden when continue is provided";
                errors.push(FieldError::forbidden(FIELD, detail));
            }
            if self.version_match == VersionMatch::Default {
                let supported = &["Exact", "NotOlderThan", ""];
                errors.push(FieldError::unsupported(FIELD, &json!(version_match), supported));
            }
            if self.version_match == VersionMatch::Exact && self.resource_version == "0" {
                let detail = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
                errors.push(FieldError::forbidden(FIELD, detail));
            }
        }
        if self.send_initial_events.is_some() {
            let detail = "sendInitialEvents is forbidden for list";
            errors.push(FieldError::forbidden("sendInitialEvents", detail));
        }
        errors
    }
}

/// Parses a resourceVersion of a query.
///
/// # Errors
/// Go's message for a number that does not parse.
pub(crate) fn parse_resource_version(text: &str) -> Result<ResourceVersion, String> {
    match text {
        "" => Ok(ResourceVersion::Latest),
        "0" => Ok(ResourceVersion::Any),
        _ => parse_uint(text)
            .map(ResourceVersion::At)
            .map_err(|why| format!("resourceVersion: Invalid value: {}: {why}", json!(text))),
    }
}

/// `strconv.ParseUint(text, 10, 64)`.
pub(crate) fn parse_uint(text: &str) -> Result<u64, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let why = if digits { "value out of range" } else { "invalid syntax" };
    let number = if digits { text.parse().ok() } else { None };
    number.ok_or_else(|| format!("strconv.ParseUint: parsing {}: {why}", json!(text)))
}

/// An integer of the query; 400 with Go's message if it does not parse.
pub(crate) fn integer(query: &Query<'_>, key: &str) -> ApiResult<Option<i64>> {
    let Some(text) = query.all(key).next() else { return Ok(None) };
    let number = text.parse().map_err(|error: std::num::ParseIntError| {
        use std::num::IntErrorKind::{NegOverflow, PosOverflow};
        let why = match error.kind() {
            PosOverflow | NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        ApiError::bad_request(format!("strconv.ParseInt: parsing {}: {why}", json!(text)))
    })?;
    Ok(Some(number))
}

impl DeleteOptions {
    /// The options of a decoded `DeleteOptions`.
    ///
    /// # Errors
    /// The reason why they are not valid.
    pub(crate) fn from_object(body: &Value) -> ApiResult<Self> {
        let (options, flaw) = Self::read(body);
        flaw.map_or(Ok(options), Err)
    }

    /// The options of a decoded `DeleteOptions`, and the reason why they are not valid, if they are not.
    pub(crate) fn read(body: &Value) -> (Self, Option<ApiError>) {
        let dry_run: Vec<&str> = body["dryRun"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let text = |value: &Value| value.as_str().map(str::to_string);
        let preconditions = &body["preconditions"];
        let options = DeleteOptions {
            grace_period: body["gracePeriodSeconds"].as_i64(),
            uid: text(&preconditions["uid"]),
            resource_version: text(&preconditions["resourceVersion"]),
            ..DeleteOptions::default()
        };
        options.validated(&dry_run, body["propagationPolicy"].as_str(), body["orphanDependents"].as_bool())
    }

    /// The options of the query, which count only without a body.
    pub(crate) fn from_query(query: &Query<'_>) -> ApiResult<Self> {
        let dry_run: Vec<&str> = query.all("dryRun").collect();
        let options = DeleteOptions { grace_period: integer(query, "gracePeriodSeconds")?, ..DeleteOptions::default() };
        let policy = query.has("propagationPolicy").then(|| query.get("propagationPolicy"));
        let (options, flaw) = options.validated(&dry_run, policy, query.flag("orphanDependents"));
        flaw.map_or(Ok(options), Err)
    }

    /// `ValidateDeleteOptions` of apimachinery's metav1/validation.
    fn validated(mut self, dry_run: &[&str], policy: Option<&str>, orphan: Option<bool>) -> (Self, Option<ApiError>) {
        const FIELD: &str = "propagationPolicy";
        let mut errors = Vec::new();
        if let (Some(policy), Some(_)) = (policy, orphan) {
            let detail = "orphanDependents and deletionPropagation cannot be both set";
            errors.push(FieldError::invalid(FIELD, &json!(policy), detail));
        }
        self.propagation = match (policy, orphan) {
            (Some("Orphan"), _) | (None, Some(true)) => Some(Propagation::Orphan),
            (Some("Background"), _) | (None, Some(false)) => Some(Propagation::Background),
            (Some("Foreground"), _) => Some(Propagation::Foreground),
            (None, None) => None,
            (Some(other), _) => {
                let supported = &["Foreground", "Background", "Orphan", "nil"];
                errors.push(FieldError::unsupported(FIELD, &json!(other), supported));
                None
            }
        };
        errors.extend(dry_run_error(dry_run));
        self.dry_run = !dry_run.is_empty();
        self.waits = orphan == Some(false);
        self.grace_period = self.grace_period.map(|seconds| if seconds < 0 { 1 } else { seconds });
        let flaw = (!errors.is_empty()).then(|| ApiError::invalid_options("DeleteOptions", &errors));
        (self, flaw)
    }
}
