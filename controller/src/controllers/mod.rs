//! The ported controllers, one a module.

pub mod legacy_token_cleaner;
pub mod root_ca;
pub mod service_accounts;
pub mod tokens;
