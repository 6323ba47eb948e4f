//! The versions of a resource that convert its objects from and to the stored one.

use super::conversion::Conversion;
use super::resource::Version;
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult};
use crate::object::meta;
use crate::schema;
use std::borrow::Cow;
use tree::Value;

impl Version {
    /// The Go package of the internal type, which error messages show: that of the storage version.
    pub(crate) fn go_package(&self) -> &str {
        let stored_as = self.conversion.as_ref().map_or(&self.api_version, |conversion| &conversion.storage);
        match stored_as.split_once('/') {
            None => "core",
            Some((group, _)) => group.split('.').next().unwrap_or(group),
        }
    }

    /// Converts an object of this version to the storage version, in which it is defaulted, admitted and validated. Custom resources stay
    /// in the version of the request for that.
    pub(crate) fn convert_to_storage(&self, object: &mut Value) {
        if let Some(Conversion { storage, functions, .. }) =
            self.conversion.as_ref().filter(|_| !self.is_converted_last())
        {
            (functions.to_storage)(object);
            object["apiVersion"] = (&**storage).into();
        }
    }

    /// A validated object as it is stored. In a dry run a webhook is shown the revision that a client sent.
    ///
    /// # Errors
    /// 500, if a webhook should convert it and does not.
    pub(crate) async fn custom_to_storage<'o>(
        &self,
        object: &'o Value,
        dry_run: bool,
        deadline: &Deadline,
    ) -> ApiResult<Cow<'o, Value>> {
        let conversion = self.conversion.as_ref().filter(|conversion| conversion.storage != self.api_version);
        let Some(conversion) = conversion.filter(|_| self.is_converted_last()) else {
            return Ok(Cow::Borrowed(object));
        };
        let mut object = object.clone();
        match &conversion.webhook {
            None => object["apiVersion"] = (&*conversion.storage).into(),
            Some(webhook) => {
                if !dry_run {
                    meta::remove(&mut object, "resourceVersion");
                }
                let converted = webhook.convert(vec![object], &conversion.storage).await;
                object = converted.map_err(ApiError::untyped)?.swap_remove(0);
            }
        }
        conversion.prune(&mut object, deadline);
        Ok(Cow::Owned(object))
    }

    /// A stored object as writes work on it: a custom resource in this version, others in the storage version. A webhook has converted
    /// it already. If the time is up, it stays incomplete.
    pub(crate) fn custom_from_storage(&self, stored: Value, deadline: &Deadline) -> Value {
        if self.is_converted_last() && !self.asks_webhook() {
            self.convert_from_storage(stored, deadline)
        } else {
            stored
        }
    }

    /// Whether a webhook converts objects from and to this version.
    pub(crate) fn asks_webhook(&self) -> bool {
        self.conversion.as_ref().is_some_and(|conversion| conversion.webhook.is_some())
    }

    /// Stored objects as readers see them, converted by the webhook; without one they stay as they are.
    ///
    /// # Errors
    /// The failure of the webhook, as a message.
    pub(crate) async fn convert_from_storage_by_webhook(
        &self,
        mut objects: Vec<Value>,
        deadline: &Deadline,
    ) -> Result<Vec<Value>, String> {
        let Some(conversion) = &self.conversion else { return Ok(objects) };
        let Some(webhook) = &conversion.webhook else { return Ok(objects) };
        for object in &mut objects {
            conversion.apply_schema(object, deadline);
            meta::remove(object, "resourceVersion");
        }
        let mut objects = webhook.convert(objects, &self.api_version).await?;
        objects.iter_mut().for_each(|object| conversion.prune(object, deadline));
        Ok(objects)
    }

    /// Objects as the webhook answers with them in this version: not pruned.
    ///
    /// # Errors
    /// The failure of the webhook, as a message.
    pub(crate) async fn by_webhook(&self, objects: Vec<Value>) -> Result<Vec<Value>, String> {
        match self.conversion.as_ref().and_then(|conversion| conversion.webhook.as_ref()) {
            Some(webhook) => webhook.convert(objects, &self.api_version).await,
            None => Ok(objects),
        }
    }

    /// Whether objects have to be changed before clients see them, apart from conversion by a webhook.
    pub(crate) fn converts_from_storage(&self) -> bool {
        self.conversion.as_ref().is_some_and(|conversion| conversion.webhook.is_none())
    }

    /// An object of the storage version in this one; `None` if it is in it already, as custom resources are.
    pub(crate) fn built_in_from_storage(&self, object: &Value) -> Option<Value> {
        (self.conversion.is_some() && !self.is_converted_last())
            .then(|| self.convert_from_storage(object.clone(), &Deadline::default()))
    }

    /// Converts a stored object to this version.
    fn convert_from_storage(&self, mut object: Value, deadline: &Deadline) -> Value {
        if let Some(conversion) = &self.conversion {
            conversion.apply_schema(&mut object, deadline);
            (conversion.functions.from_storage)(&mut object);
            if object["apiVersion"] != *self.api_version {
                object["apiVersion"] = (&*self.api_version).into();
                conversion.prune(&mut object, deadline);
            }
        }
        object
    }

    /// The number of the schema under which an object is complete that was completed in this version, and is stored as it is; 0 if it may not
    /// be.
    pub(crate) fn complete_under(&self, object: &Value) -> u64 {
        let number = self.schema_number();
        if number != 0 && is_read_as_written(object) { number } else { 0 }
    }

    /// The number of the schema, if objects are stored in this version and completing them twice is completing them once; otherwise 0.
    fn schema_number(&self) -> u64 {
        let stays = |conversion: &&Conversion| conversion.webhook.is_none() && conversion.storage == self.api_version;
        let place = self.conversion.as_ref().filter(stays).and(self.schema.as_ref());
        place.filter(|place| place.get().is_some_and(|one| one.schema.completes_once)).map_or(0, |place| place.number)
    }

    /// Whether an object that is complete under the schema of that number is shown as it is stored. Versions may share a schema.
    fn is_shown_as_stored(&self, stored: &[u8], complete_under: u64) -> bool {
        let is_in = |api_version: &str| {
            let version = stored.strip_prefix(br#"{"apiVersion":""#);
            version
                .and_then(|rest| rest.strip_prefix(api_version.as_bytes()))
                .is_some_and(|rest| rest.starts_with(b"\""))
        };
        let is_complete = || complete_under != 0 && complete_under == self.schema_number() && is_in(&self.api_version);
        !self.converts_from_storage() || is_complete()
    }

    /// The JSON of a stored object, with the line feed at its end if there is one, in this version; `None` if it is the same, as it is for one
    /// that is complete under the schema of that number.
    ///
    /// # Errors
    /// 500, if it is not JSON; 504, if the time is up.
    pub(crate) fn json_from_storage(
        &self,
        stored: &[u8],
        complete_under: u64,
        deadline: &Deadline,
    ) -> ApiResult<Option<Vec<u8>>> {
        if self.is_shown_as_stored(stored, complete_under) {
            debug_assert!(
                !self.converts_from_storage()
                    || self.convert(stored, &Deadline::default()).is_ok_and(|converted| converted == stored),
                "not complete: {}",
                String::from_utf8_lossy(stored)
            );
            return Ok(None);
        }
        self.convert(stored, deadline).map(Some)
    }

    fn convert(&self, stored: &[u8], deadline: &Deadline) -> ApiResult<Vec<u8>> {
        let object: Value = tree::parse_object(stored).map_err(ApiError::internal)?;
        // An object that was not stored has no revision.
        let revision = meta::resource_version(&object).parse();
        let object = self.convert_from_storage(object, deadline);
        deadline.check()?;
        let encoded = schema::encode(&object, self.ty());
        let mut json = revision.map_or_else(|_| encoded.json.clone(), |revision| encoded.at_revision(revision));
        if stored.ends_with(b"\n") {
            json.push(b'\n');
        }
        Ok(json)
    }
}

/// Whether an object that is written and read again is the same: one without nulls, which a reader may not see, and without numbers that are
/// read otherwise, as large floating-point ones without a fraction and `-0` are.
fn is_read_as_written(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            number.is_i64() || number.as_f64().is_some_and(|number| number.is_finite() && number.fract() != 0.0)
        }
        Value::Array(items) => items.iter().all(is_read_as_written),
        Value::Object(fields) => fields.values().all(is_read_as_written),
        Value::Null => false,
        Value::Bool(_) | Value::String(_) | Value::Raw(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::is_read_as_written;

    #[test]
    fn some_values_are_read_otherwise_than_written() {
        for (json, stays) in [
            (r#"{"a": [1, -7, 0.5, 1e-9, "1e3", true]}"#, true),
            (r#"{"a": {"b": null}}"#, false),
            (r#"{"a": {"b": 18446744073709551615}}"#, false),
            (r#"{"a": [1e30]}"#, false),
            ("-0.0", false),
        ] {
            assert_eq!(is_read_as_written(&serde_json::from_str(json).unwrap()), stays, "{json}");
        }
    }
}
