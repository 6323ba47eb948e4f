//! Selectors of lists and watches: by label, and by the few fields that a kind offers.

mod field;
mod label;

pub use field::FieldSelector;
pub use label::LabelSelector;
