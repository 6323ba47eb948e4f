//! Questions that users have, each with the answer.

mod basics;
mod support;
mod tenants;
