//! Selectors of lists and watches: by label, and by the few fields that a kind offers.

mod field;
mod label;
mod structured;

pub use field::{FieldSelector, SelectableField, exact_fields};
pub use label::LabelSelector;
pub use structured::validate as validate_structured;
