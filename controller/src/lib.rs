pub mod api_errors;
pub mod informer;
pub mod keys;
pub mod mutation_cache;
pub mod retry;
pub mod tokens;
pub mod workqueue;
