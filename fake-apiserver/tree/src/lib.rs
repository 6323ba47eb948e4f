//! JSON values as a server of Kubernetes objects needs them.
//!
//! A [`Value`] is what `serde_json::Value` is, with its methods, but cheaper to make, to copy and to drop: objects have a dozen of fields, so a
//! [`Map`] is a sorted list until it is long; most names and texts are short, so a [`Text`] up to 23 bytes needs no memory of its own, and a
//! longer one is shared among its copies.
//!
//! ```
//! let mut pod = tree::json!({"kind": "Pod", "spec": {"nodeName": "one"}});
//! pod["spec"]["nodeName"] = "two".into();
//! assert_eq!(pod.to_string(), r#"{"kind":"Pod","spec":{"nodeName":"two"}}"#);
//! ```

#![forbid(unsafe_code)]

mod compare;
mod convert;
pub mod counting;
mod index;
mod map;
mod serial;
mod value;

pub use index::Index;
pub use map::{Entry, IntoIter, Iter, IterMut, Map};
pub use serde_json::Number;
pub use serial::parse_object;
pub use smol_str::SmolStr as Text;
pub use value::Value;

#[doc(hidden)]
pub use serde_json;

/// A [`Value`] in the form of JSON, in which expressions may stand for values.
#[macro_export]
macro_rules! json {
    ({}) => { $crate::Value::Object($crate::Map::new()) };
    ([]) => { $crate::Value::Array(::std::vec::Vec::new()) };
    ($($json:tt)+) => { $crate::Value::from($crate::serde_json::json!($($json)+)) };
}
