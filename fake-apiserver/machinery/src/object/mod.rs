//! The common parts of all objects: metadata, names, selectors and patches, over untyped trees.

pub mod difference;
pub mod generation;
pub mod ip;
pub mod meta;
pub mod name;
pub mod patch;
pub mod selector;
pub mod url;
pub mod validate;
pub mod version_order;
