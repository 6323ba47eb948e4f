//! The parts of client-go and apimachinery that controllers and kubelets use. None of them knows a controller.

mod answer_limit;
pub mod api_errors;
pub mod client;
pub mod informer;
pub mod leader_election;
pub mod leader_status;
pub mod mutation_cache;
pub mod objects;
pub mod reflector;
pub mod retry;
pub mod workqueue;
