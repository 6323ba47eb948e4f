//! The machinery of Kubernetes' API for objects of any kind: types, objects, patches, schemas of custom resources, field managers, errors.
//!
//! Pure functions over trees: no store, no wire, and nothing to wait for. It follows `k8s.io/apimachinery` and the parts of
//! `k8s.io/apiextensions-apiserver` that know no server. Made for `fake-apiserver`, whose interface it is not part of.

pub mod custom;
pub mod deadline;
pub mod error;
pub mod json;
pub mod managed;
pub mod object;
pub mod schema;
pub mod text;
pub mod yaml;
