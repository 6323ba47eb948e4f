//! The common parts of all objects: metadata, names, selectors and patches, over untyped trees.

pub mod generation;
pub(crate) mod ip;
pub mod meta;
pub mod name;
pub mod patch;
pub mod selector;
pub(crate) mod url;
pub mod validate;
pub mod version_order;
