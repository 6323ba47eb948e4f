//! Suites of Go packages that start envtest: run with the real pair of etcd and kube-apiserver, then with this program, and compared verdict by
//! verdict.
//!
//! Nothing of the suites is here: `fixtures/suites.toml` names modules, which Go's module cache has, or a caller names a checkout.

pub mod cli;
mod figures;
mod go;
mod list;
mod memory;
mod module;
pub mod table;
mod verdicts;
