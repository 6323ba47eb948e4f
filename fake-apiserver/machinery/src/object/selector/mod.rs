//! Selectors of lists and watches: by labels, and by the selectable fields of a kind.

mod field;
mod label;
mod requirement;
mod structured;

pub use field::{FieldSelector, SelectableField, exact_fields, field_requirements};
pub use label::LabelSelector;
pub use structured::{
    validate as validate_structured, validate_but_values as validate_structured_but_values,
    validate_update as validate_structured_update,
};
