//! Questions that users have, each with the answer.

mod basics;
mod cases;
mod clusters;
mod generated;
mod support;
mod tenants;
mod webhooks;
