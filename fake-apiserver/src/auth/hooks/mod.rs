//! Webhooks that authorize requests, and authenticate tokens.

mod access;
mod caller;
mod conditions;
mod question;
mod tokens;

pub(crate) use access::{AccessWebhook, AccessWebhookConfig};
pub(crate) use conditions::Conditions;
pub(crate) use tokens::TokenWebhook;
