//! Compiled schemas of custom resources: made when they are first needed, and shared by content.
//!
//! Most definitions of a test are never used, and the clusters of a process have the same ones.

use super::rules::Rules;
use super::schema::Structural;
use crate::deadline::{Deadline, Pace};
use crate::error::{ApiError, ApiResult};
use aws_lc_rs::digest::{SHA256, SHA256_OUTPUT_LEN, digest};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, Weak};
use tree::Value;

/// A schema, and the rules in it.
#[derive(Debug)]
pub struct Compiled {
    /// The structural schema.
    pub schema: Structural,
    /// `None` if it has none.
    pub rules: Option<Rules>,
}

/// The place of a compiled schema. All versions with that schema share it, in all clusters.
#[derive(Debug)]
pub struct Place {
    /// The number of the schema in this process, from 1 on.
    pub number: u64,
    compiled: OnceLock<Result<Compiled, String>>,
}

/// The pace of a compilation: it is needed until another request has compiled the schema.
struct Needed {
    place: Arc<Place>,
    deadline: Deadline,
}

impl Pace for Needed {
    fn goes_on(&self) -> bool {
        self.place.compiled.get().is_none() && self.deadline.check().is_ok()
    }
}

/// The SHA-256 of a schema's JSON.
type Digest = [u8; SHA256_OUTPUT_LEN];

impl Place {
    /// The place of a schema, the `openAPIV3Schema` of a valid definition.
    pub fn of(schema: &Value) -> Arc<Place> {
        static PLACES: LazyLock<Mutex<HashMap<Digest, Weak<Place>>>> = LazyLock::new(Mutex::default);
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        let mut key = Digest::default();
        key.copy_from_slice(digest(&SHA256, schema.to_string().as_bytes()).as_ref());
        let mut places = PLACES.lock().expect("no code that runs under this lock panics");
        if let Some(place) = places.get(&key).and_then(Weak::upgrade) {
            return place;
        }
        if places.len() == places.capacity() {
            places.retain(|_, place| place.strong_count() > 0);
        }
        let place = Arc::new(Place { number: NUMBERS.fetch_add(1, Ordering::Relaxed), compiled: OnceLock::new() });
        places.insert(key, Arc::downgrade(&place));
        place
    }

    /// Compiles the schema, unless that was done before; the inner error says that it is not the schema of a valid definition. Requests
    /// that need it at the same time compile it each, until the first of them is done: none holds a lock that another waits for.
    ///
    /// # Errors
    /// 504, if the deadline has passed.
    pub fn compile(self: &Arc<Self>, schema: &Value, deadline: &Deadline) -> ApiResult<Result<&Compiled, &String>> {
        if self.compiled.get().is_none() {
            let needed = Deadline::new(Arc::new(Needed { place: self.clone(), deadline: deadline.clone() }));
            let compiled = Structural::until(schema, &needed)
                .map(|structural| Compiled { schema: structural, rules: Rules::until(schema, true, &needed) });
            // The result of a compilation that was ended is not kept.
            if needed.check().is_ok() {
                self.compiled.get_or_init(|| compiled);
            }
        }
        self.compiled.get().map(Result::as_ref).ok_or_else(ApiError::deadline_exceeded)
    }

    /// The compiled schema, if there is one.
    pub fn get(&self) -> Option<&Compiled> {
        self.compiled.get()?.as_ref().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn equal_schemas_are_compiled_once() {
        let schema = json!({"type": "object", "properties": {"one": {"type": "string"}}});
        let (first, second) = (Place::of(&schema), Place::of(&schema.clone()));
        let compiled: *const Compiled = first.compile(&schema, &Deadline::default()).unwrap().unwrap();
        assert!(std::ptr::eq(compiled, second.get().unwrap()));
        assert!(Place::of(&json!({"type": "object"})).get().is_none(), "another schema");
    }

    #[test]
    fn what_is_not_used_any_more_is_dropped() {
        let schema = json!({"type": "object", "properties": {"two": {"type": "string"}}});
        let place = Place::of(&schema);
        place.compile(&schema, &Deadline::default()).unwrap().unwrap();
        drop(place);
        assert!(Place::of(&schema).get().is_none());
    }

    #[test]
    fn a_compilation_that_was_ended_is_done_again() {
        let schema = json!({"type": "object", "properties": {"four": {"type": "string"}}});
        let place = Place::of(&schema);
        assert_eq!(place.compile(&schema, &Deadline::passed()).unwrap_err().code(), 504);
        assert!(place.get().is_none());
        assert!(place.compile(&schema, &Deadline::default()).unwrap().is_ok());
        assert!(place.compile(&schema, &Deadline::passed()).is_ok(), "it is there");
    }

    #[test]
    fn a_malformed_schema_is_refused_each_time() {
        let schema = json!({"type": "object", "properties": {"three": {"type": "text"}}});
        let place = Place::of(&schema);
        for _ in 0..2 {
            let compiled = place.compile(&schema, &Deadline::default()).unwrap();
            assert!(compiled.unwrap_err().contains("\"text\" is not supported"));
        }
        assert!(place.get().is_none());
    }
}
