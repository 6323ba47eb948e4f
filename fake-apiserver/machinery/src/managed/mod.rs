//! Field management: the managers of an object's fields (`metadata.managedFields`), and server-side apply.
//!
//! Pure functions over trees. They know types, those of built-in kinds and the schemas of custom resources alike, but no kind and
//! no request.
//!
//! - [`Set`] is a set of fields, and its JSON form `fieldsV1`; [`Managers`] are the entries of `managedFields`.
//! - [`compare`] returns the changes of a write, [`fields_of`] the fields that a configuration names, [`validate`] its errors.
//! - [`merge`] merges a configuration into an object without regard to managers; [`atomics`] names the values that it would replace as a whole.
//! - [`Context::update`] and [`Context::apply`] return the managers after a write, and an apply also the object.

mod atomics;
mod compare;
mod created;
mod element;
mod item;
mod managers;
mod merge;
mod scale;
mod set;
mod text;
mod types;
mod update;
mod validate;
#[cfg(test)]
mod vectors;
mod walk;

pub use atomics::atomics;
pub use compare::{Empty, Trees, compare, equal};
pub use element::Element;
pub use managers::{Manager, Managers, Operation, asks_for_reset, decode, encode};
pub use merge::merge;
pub use scale::{of_scale, of_workload};
pub use set::Set;
pub use types::Type;
pub use update::{Conflicts, Context, Failure, Versions};
pub use validate::{fields_of, validate, validate_computed};
