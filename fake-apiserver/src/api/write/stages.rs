//! The stages of a write. Each sees the request, its options and, unless the object is created, the current one.

use super::super::request::options::{WriteOptions, parse_uint};
use super::super::{Act, admission, managers, scales};
use crate::auth::authorizer::{Attributes, Target};
use crate::clock::format_seconds;
use crate::commit::{Encoded, deletion, draft, size};
use crate::error::{ApiError, ApiResult, FieldError};
use crate::object::{generation, meta, validate};
use crate::registry::{Context, Findings, Handler, Located, Strategy, carry_over};
use crate::store::Entry;
use std::sync::Arc;
use tree::counting::{Work, count};
use tree::{Map, Text, Value, json};

/// The write of an object.
pub(super) struct Write<'w, 'r> {
    pub(super) act: &'w mut Act<'r>,
    pub(super) options: &'w WriteOptions,
    /// The object that is changed; `None` for a create.
    pub(super) current: Option<Current<'w>>,
    /// Whether the object has its managed fields already, as an applied one does.
    pub(super) is_managed: bool,
    /// Whether the object had labels before its defaults were set; true if it is not created.
    pub(super) has_labels: bool,
}

/// The object that a write changes: as it is stored, and its tree.
#[derive(Clone, Copy)]
pub(super) struct Current<'w> {
    pub(super) entry: &'w Arc<Entry>,
    pub(super) object: &'w Value,
}

impl<'w> Write<'w, '_> {
    /// The current object's tree.
    pub(super) fn old(&self) -> Option<&'w Value> {
        self.current.map(|current| current.object)
    }

    /// The strategy of the resource, or of the subresource through which it is changed.
    fn strategy(&self) -> &'_ Strategy {
        let own = self.current.and(self.act.target.subresource);
        own.map_or(&self.act.target.resource.rules.strategy, |subresource| &subresource.strategy)
    }

    /// Whether it is a write of the object's scale.
    fn is_of_scale(&self) -> bool {
        self.act.target.subresource.is_some_and(|subresource| subresource.handler == Handler::Scale)
    }

    /// The context of rules.
    fn context(&self) -> Context<'_> {
        let act = &*self.act;
        Context {
            user: Some(&act.user),
            store: &act.server.cluster.store,
            now: act.now,
            api_version: &act.target.version.api_version,
            // An object that a subresource's strategy creates is judged as a whole.
            subresource: self.current.and(act.target.subresource).map_or("", |subresource| &subresource.name),
            has_labels: self.has_labels,
            deadline: &act.deadline,
            reserves_names: act.server.cluster.policy.reserves_names,
            coverage: act.server.cluster.policy.coverage.as_deref(),
            permissions: Some(act),
        }
    }

    /// Sets the defaults of its version.
    pub(super) fn default(&self, new: &mut Value) {
        count(Work::Walk, 1);
        let Located { resource, version, .. } = self.act.target;
        (version.default)(new);
        (resource.rules.strategy.default_times)(new, self.act.now);
    }

    /// Updates the managed fields.
    pub(super) async fn managers(&mut self, new: &mut Value) {
        match self.old() {
            None => managers::created(self.act, self.options, new),
            Some(old) => managers::changed(self.act, self.options, new, old).await,
        }
    }

    /// Lets admission change or refuse the object.
    ///
    /// # Errors
    /// A plugin's refusal; 504 if the deadline has passed.
    pub(super) async fn mutate(&mut self, new: &mut Value) -> ApiResult<()> {
        self.act.deadline.check()?;
        match self.old() {
            // Admission has seen the scale.
            Some(_) if self.is_of_scale() => Ok(()),
            None => admission::create(self.act, self.options, new).await,
            Some(old) => admission::update(self.act, self.options, new, old).await,
        }
    }

    /// Resets the fields that clients cannot set, or not through this endpoint, and fills in those of the server.
    pub(super) fn prepare(&mut self, new: &mut Value) {
        match self.old() {
            None => self.prepare_create(new),
            Some(old) => self.prepare_update(new, old),
        }
    }

    fn prepare_create(&mut self, object: &mut Value) {
        let Located { resource, version, .. } = self.act.target;
        let metadata = meta::metadata_mut(object);
        metadata.insert("uid".into(), self.act.server.cluster.ids.uid().into());
        metadata.insert("creationTimestamp".into(), format_seconds(self.act.now).into());
        if resource.rules.owns_generation && !resource.rules.keeps_generation {
            metadata.insert("generation".into(), 1.into());
        }
        if version.has_status()
            && !resource.rules.keeps_status
            && let Some(members) = object.as_object_mut()
        {
            match version.is_typed() {
                true => members.insert("status".into(), Map::new().into()),
                false => members.remove("status"),
            };
        }
        let early = (self.strategy().early_warnings)(object);
        self.act.warnings.extend(early);
        (self.strategy().prepare)(&self.context(), object, None);
        self.act.warnings.extend(validate::dedup_owner_references(object, true));
    }

    fn prepare_update(&mut self, new: &mut Value, old: &Value) {
        let Located { resource, version, subresource, .. } = self.act.target;
        match subresource.map(|subresource| subresource.owns) {
            None if version.has_status() => carry_over(new, old, "status"),
            None => {}
            // The handler has changed the object that it was given.
            Some("") => {}
            Some(own) => {
                let foreign: Vec<Text> = [&*new, old]
                    .into_iter()
                    .filter_map(|object| object.as_object())
                    .flat_map(|members| members.keys().cloned())
                    .filter(|key| key != "metadata" && key != own)
                    .collect();
                foreign.iter().for_each(|key| carry_over(new, old, key));
            }
        }
        (self.strategy().prepare)(&self.context(), new, Some(old));
        meta::keep_system_fields(new, old);
        let whole = subresource.is_none_or(|subresource| subresource.name != "status");
        let annotated = resource.rules.annotations_count && whole && annotations_differ(new, old);
        let labelled = resource.rules.labels_count && whole && labels_differ(new, old);
        if resource.rules.owns_generation && (counts(self.act, new, old) || annotated || labelled) {
            meta::set(new, "generation", meta::generation(old).wrapping_add(1));
        }
        managers::settle_times(self.act, new, old);
    }

    /// Refuses an invalid object, and warns about a valid one.
    ///
    /// # Errors
    /// 422 if there are errors, except for those that the server's options allow; 504 if validation exceeds the request's deadline.
    pub(super) fn validate(&mut self, new: &Value) -> ApiResult<()> {
        let (resource, old) = (self.act.target.resource, self.old());
        let Findings { mut errors, warnings } = resource.validate(&self.context(), new, old);
        self.act.deadline.check()?;
        self.act.warnings.extend(warnings);
        if self.act.server.cluster.policy.allow_privileged {
            errors.retain(|error| !error.is_about_privileged());
        }
        if !errors.is_empty() {
            let name = if meta::name(new).is_empty() { self.act.target.name } else { meta::name(new) };
            return Err(ApiError::invalid(resource.qualified_kind(), name, &errors));
        }
        let warnings = (self.strategy().warnings)(&self.context(), new, old);
        self.act.warnings.extend(warnings);
        Ok(())
    }

    /// Lets admission refuse the object.
    ///
    /// # Errors
    /// A plugin's refusal.
    pub(super) async fn admit(&mut self, new: &Value) -> ApiResult<()> {
        if self.is_of_scale() {
            let scale = |object| scales::of(self.act, object, Some(scales::UNSET));
            let (new, old) = (scale(new)?, self.old().map(scale).transpose()?);
            return admission::validate(self.act, self.options, &new, old.as_ref()).await;
        }
        admission::validate(self.act, self.options, new, self.old()).await
    }

    /// The object as it is stored, in the storage version. If `limited`, its size is checked.
    ///
    /// # Errors
    /// 413 if it is too large; 500 if a webhook does not convert it; 504 if the deadline has passed.
    pub(super) async fn encode(&self, new: &mut Value, limited: bool) -> ApiResult<Encoded> {
        self.act.deadline.check()?;
        let lacks_defaults = (self.act.target.resource.rules.lacks_defaults)(new, self.old());
        if self.current.is_none() || self.act.target.subresource.is_some() {
            // Upstream answers with the object as read from storage, and sets defaults again as it reads. Other updates have got all of
            // them before; through a subresource, the rest of the object was not sent.
            self.default(new);
        }
        let mut draft = self.draft(new).await?;
        let revision = self.current.map(|current| current.entry.revision);
        if limited && let Err(refusal) = size::check(self.act.target.resource, &draft, revision) {
            // Upstream stores an object that is too large without its managed fields, unless it is applied.
            if self.is_managed || meta::metadata_mut(new).remove("managedFields").is_none() {
                return Err(refusal);
            }
            draft = self.draft(new).await?;
            size::check(self.act.target.resource, &draft, revision)?;
        }
        draft.meta.lacks_defaults = lacks_defaults;
        draft.meta.complete_under = self.complete_under(new);
        Ok(draft)
    }

    async fn draft(&self, new: &Value) -> ApiResult<Encoded> {
        let Located { resource, version, .. } = self.act.target;
        draft(resource, &*version.custom_to_storage(new, self.options.dry_run, &self.act.deadline).await?)
    }

    /// The number of the schema under which the object is complete, or 0. Fields carried over from another stored version may lack
    /// this version's defaults.
    pub(super) fn complete_under(&self, new: &Value) -> u64 {
        let version = self.act.target.version;
        let is_own = |current: Current<'_>| current.entry.json().starts_with(version.head.as_bytes());
        if self.current.is_none_or(is_own) { version.complete_under(new) } else { 0 }
    }

    /// Whether the current object stays as it is. This does not encode the new one.
    pub(super) fn changes_nothing(&self, new: &Value) -> bool {
        let Some(Current { entry, object }) = self.current else { return false };
        let Located { resource, version, .. } = self.act.target;
        let is_stored_so = !version.is_converted_last() && entry.json().starts_with(resource.storage().head.as_bytes());
        new == object && is_stored_so && !entry.meta.lacks_defaults && !self.ends_deletion(new)
    }

    /// Whether nothing keeps a deleted object any more.
    pub(super) fn ends_deletion(&self, new: &Value) -> bool {
        self.old().is_some_and(|old| deletion::ends(self.act.target.resource, old, new))
    }
}

/// Authorizes the create of a missing object by an update (`withAuthorization`). A POST has been authorized before.
pub(super) fn authorize_create(act: &Act<'_>) -> ApiResult<()> {
    let Located { version, namespace, name, .. } = act.target;
    if name.is_empty() {
        return Ok(());
    }
    let target = Target::Resource {
        group: &version.group,
        version: &version.name,
        resource: &version.plural,
        subresource: "",
        namespace,
        name,
    };
    let attributes = Attributes { deadline: &act.deadline, ..Attributes::new(&act.user, "create", target) };
    act.server.cluster.authorize(&attributes)?.permit(&attributes)
}

/// 409 if the client sent another resource version than the current one, 422 if it sent none where the kind requires one.
pub(super) fn check_version(act: &Act<'_>, new: &Value, entry: &Entry) -> ApiResult<()> {
    let Located { version, name, .. } = act.target;
    let sent = match meta::resource_version(new) {
        "" => 0,
        sent => parse_uint(sent).map_err(ApiError::untyped)?,
    };
    if sent == entry.revision || sent == 0 && version.unconditional_update {
        return Ok(());
    }
    if sent != 0 {
        return Err(ApiError::modified(version.qualified(), name));
    }
    let error = FieldError::invalid("metadata.resourceVersion", &json!(0), "must be specified for an update");
    // The one place where upstream names the resource, not the kind, in an Invalid.
    Err(ApiError::invalid(version.qualified(), name, &[error]))
}

/// Whether a change counts in `metadata.generation`: for custom resources without the status subresource, the status, too.
fn counts(act: &Act<'_>, new: &Value, old: &Value) -> bool {
    let Located { resource, version, .. } = act.target;
    if !version.is_typed() {
        return generation::untyped_differs(new, old, !version.has_status());
    }
    generation::spec_differs(new, old, Some(resource.storage().ty()))
        || resource.rules.counts_empties && generation::has_empties(new, resource.storage().ty())
}

fn labels_differ(new: &Value, old: &Value) -> bool {
    !meta::labels(new).iter().eq(meta::labels(old).iter())
}

fn annotations_differ(new: &Value, old: &Value) -> bool {
    !meta::annotations(new).iter().eq(meta::annotations(old).iter())
}
