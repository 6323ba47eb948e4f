//! Other projects' clients, and Kubernetes' own tests, each a suite of checks in its own language (`conformance/clients/`), run against the fake and against a
//! real kube-apiserver.
//!
//! ```text
//! suites ──install──▶ target/clients/NAME ──run, KUBECONFIG──▶ lines ──outcome──▶ ledger, table
//!                                              ▲
//!                                    server: the fake's program, or a real control plane
//! ```
//!
//! A suite prints a line a check; all other output goes to its standard error:
//!
//! ```text
//! client kubectl v1.37.1
//! ok create-configmap
//! FAIL apply-service: the server doesn't have a resource type "services"
//! ```

pub mod cli;
mod ledger;
mod outcome;
mod server;
mod suites;
mod table;
