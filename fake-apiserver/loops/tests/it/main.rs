//! The control loops in a world in memory.

mod deployments;
mod replicas;
mod world;
