//! Admission policies: their bindings, and the parameters that they are evaluated with.
//!
//! ```text
//!   Policies (index) ──▶ matching() ──▶ a policy, and its bindings ──▶ parameters() ──▶ invocations
//! ```
//! Upstream walks over policies, bindings and parameters in random order; here they are in the order of their names.
//!
//! Follows `pkg/admission/plugin/policy/generic` of `k8s.io/apiserver` (v0.37.1).

mod binding;
mod error_type;
mod index;
mod namespace;
mod parameters;
mod policy;

pub(crate) use binding::{Action, Binding};
pub(crate) use error_type::error_type;
pub(crate) use index::{Hook, Policies};
pub(crate) use namespace::namespace_of;
pub(crate) use parameters::{Found, Parameter, parameters};
pub(crate) use policy::{Compile, Policy};
