//! The control loops in a world in memory.

mod cron_jobs;
mod daemon_sets;
mod deployments;
mod hashes;
mod jobs;
mod kubelet;
mod replicas;
mod scheduler;
mod stateful_sets;
mod world;
