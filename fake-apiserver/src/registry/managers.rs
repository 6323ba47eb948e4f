//! Field management of a resource's objects: the types and conversions for `managed/`, and the managers of the server's own writes.

use super::resource::{Resource, Version};
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult};
use crate::managed::{self, Context, Managers, Set, Trees, Type, Versions};
use crate::object::meta::{self, Metadata};
use crate::schema::{self, TypeRef};
use tree::{Map, Value};

/// The field of `metadata`.
const FIELD: &str = "managedFields";
/// The manager of the fields that an object without managers had before the first apply.
pub(crate) const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// The versions of a resource, and the fields that a write through one of its endpoints can change.
pub(crate) struct Endpoint<'r> {
    pub(crate) resource: &'r Resource,
    pub(crate) version: &'r Version,
    /// Empty for the object itself.
    pub(crate) subresource: &'r str,
}

impl Versions for Endpoint<'_> {
    fn ty(&self, api_version: &str) -> Option<Type<'_>> {
        let version = self.resource.versions.iter().find(|version| *version.api_version == *api_version)?;
        if self.version.is_typed() {
            // The models of a built-in group are those of its own versions.
            return (version.group == self.version.group).then(|| Type::built_in(version.ty()));
        }
        Some(version.structural().map_or(Type::Deduced, |schema| Type::custom(schema.root())))
    }

    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, String> {
        if self.version.asks_webhook() {
            return Err(format!("fake-apiserver asks no webhook for {api_version} to find the field managers"));
        }
        let mut object = object.clone();
        if self.version.is_typed() {
            return self.converted(object, api_version);
        }
        object["apiVersion"] = api_version.into();
        Ok(object)
    }

    /// Custom resources have a converter of their own, which does not tell a missing version from other mistakes.
    fn pass_over(&self, api_version: &str) -> Result<(), String> {
        match self.version.is_typed() {
            true => Ok(()),
            false => Err(format!("request to convert CR to an invalid group/version: {api_version}")),
        }
    }

    fn reset(&self, api_version: &str) -> Option<&Set> {
        self.resource.reset(api_version, self.subresource)
    }
}

impl<'r> Endpoint<'r> {
    /// An object of a built-in kind in another version of its group, with all that Go shows of it.
    fn converted(&self, mut object: Value, api_version: &str) -> Result<Value, String> {
        let named = |api_version: &str| self.resource.versions.iter().find(|own| *own.api_version == *api_version);
        let (from, to) = (object["apiVersion"].as_str().and_then(named), named(api_version));
        let (Some(from), Some(to)) = (from, to) else { return Err(format!("no version {api_version}")) };
        from.convert_to_storage(&mut object);
        let object = to.built_in_from_storage(&object).unwrap_or(object);
        complete(&object, to.ty()).map_err(|why| why.to_string())
    }

    /// The context for `managed/` of a write at the time `now`.
    pub(crate) fn context<'c>(&'c self, trees: Trees, now: &'c str) -> Context<'c> {
        let (api_version, subresource) = (&*self.version.api_version, self.subresource);
        Context { versions: self, api_version, subresource, trees, now, deadline: Deadline::default() }
    }

    /// The form of decoded objects.
    pub(crate) fn trees(&self) -> Trees {
        if self.version.is_typed() { Trees::Canonical } else { Trees::Complete }
    }
}

/// A manager that writes at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Writer<'w> {
    /// The manager's name, such as `kube-apiserver`.
    pub(crate) manager: &'w str,
    /// The subresource through which it writes; empty for the object itself.
    pub(crate) subresource: &'w str,
    /// The time, as `managedFields` shows it.
    pub(crate) now: &'w str,
}

impl Resource {
    /// Sets the field managers of an object of the storage version that the server makes of the stored one, or of none. An object
    /// without managers stays so.
    pub(crate) fn track(&self, writer: Writer<'_>, old: Option<&Value>, new: &mut Value) {
        let endpoint = Endpoint { resource: self, version: self.storage(), subresource: writer.subresource };
        let context = endpoint.context(endpoint.trees(), writer.now);
        let Some(old) = old else {
            meta::remove(new, FIELD);
            let created = context.create(new, writer.manager);
            return set_created(new, created);
        };
        let managers = of(old);
        if managers.is_empty() {
            return;
        }
        meta::remove(new, FIELD);
        match context.update(old, new, managers, writer.manager) {
            Ok(managers) => set(new, &managers),
            Err(_) => set(new, &of(old)),
        }
    }

    /// The stored object after a forced apply by the server of those fields.
    ///
    /// # Errors
    /// 500, if the objects do not have the form of their type.
    pub(crate) fn apply(&self, writer: Writer<'_>, old: &Value, fields: Map) -> ApiResult<Value> {
        let (tree, managers) = self.merged(writer, old, fields)?;
        let decoded = tree.map(|tree| schema::check(&tree, self.storage().ty())).transpose();
        let mut new = decoded.map_err(ApiError::internal)?.map_or_else(|| old.clone(), |decoded| decoded.object);
        set(&mut new, &managers);
        Ok(new)
    }

    /// The complete tree of a stored object after a forced apply, if that changes it, and its managers.
    fn merged(&self, writer: Writer<'_>, old: &Value, fields: Map) -> ApiResult<(Option<Value>, Managers)> {
        let version = self.storage();
        let endpoint = Endpoint { resource: self, version, subresource: writer.subresource };
        let unowned = |object: &Value| {
            let mut object = object.clone();
            meta::remove(&mut object, FIELD);
            complete(&object, version.ty()).map_err(ApiError::internal)
        };
        let context = endpoint.context(Trees::Complete, writer.now);
        let (live, mut managers) = (unowned(old)?, of(old));
        let nothing = empty(&version.api_version, &version.kind);
        if managers.is_empty() {
            let before = context.update(&unowned(&nothing)?, &live, managers, BEFORE_FIRST_APPLY);
            managers = before.map_err(ApiError::internal)?;
        }
        let mut configuration = nothing;
        fields.into_iter().for_each(|(name, value)| configuration[name.as_str()] = value);
        let applied = context.apply(&live, &configuration, managers, writer.manager, true);
        applied.map_err(|_| ApiError::internal("the server cannot apply what it has made"))
    }
}

/// An object with all fields that Go writes of the type.
///
/// # Errors
/// If the object does not have the form of the type.
pub(crate) fn complete(object: &Value, ty: TypeRef<'_>) -> serde_json::Result<Value> {
    let mut complete = serde_json::from_slice(&schema::encode(object, ty).json)?;
    // It is not encoded.
    let revision = meta::resource_version(object);
    if !revision.is_empty() {
        meta::set(&mut complete, "resourceVersion", revision.to_owned());
    }
    Ok(complete)
}

/// An object of a version without anything.
pub(crate) fn empty(api_version: &str, kind: &str) -> Value {
    [("apiVersion", api_version), ("kind", kind)].into_iter().collect()
}

/// The field managers of a stored object; none if they cannot be read.
pub(crate) fn of(object: &Value) -> Managers {
    managed::decode(Metadata::of(object).field(FIELD)).unwrap_or_default()
}

/// Whether fields of a stored object were applied by that manager.
pub(crate) fn has_applied(object: &Value, manager: &str) -> bool {
    of(object).keys().any(|known| known.name == manager && known.applies())
}

/// Sets the field managers of a new object without any to what `create` has returned. An object that does not have the form of its type gets
/// none.
pub(crate) fn set_created(object: &mut Value, created: Result<Option<Value>, String>) {
    if let Ok(Some(entry)) = created {
        meta::set(object, FIELD, vec![entry]);
    }
}

/// Sets the field managers of an object.
pub(crate) fn set(object: &mut Value, managers: &Managers) {
    match managers.is_empty() {
        true => meta::remove(object, FIELD),
        false => meta::set(object, FIELD, managed::encode(managers)),
    }
}

#[cfg(test)]
mod tests;
