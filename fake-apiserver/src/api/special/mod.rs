//! Endpoints that answer a create without storing what is posted: actions on an object, and questions.

pub(super) mod binding;
pub(super) mod reviews;
pub(super) mod token;
