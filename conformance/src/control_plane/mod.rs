//! A real Kubernetes control plane, built from its own Go modules (`conformance/control-plane/`) and run here.

pub mod cache;
