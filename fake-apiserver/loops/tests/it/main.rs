//! The control loops in a world in memory.

mod deployments;
mod jobs;
mod kubelet;
mod replicas;
mod scheduler;
mod world;
