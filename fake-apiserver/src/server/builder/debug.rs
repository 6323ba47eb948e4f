//! A builder in logs.

use super::Builder;
use std::fmt;

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Builder { ports, authorization, replicas, clock_offsets, .. } = self;
        // Keys and tokens must not get into logs.
        f.debug_struct("Builder")
            .field("bind_address", &ports.address)
            .field("secure_port", &ports.secure)
            .field("insecure_port", &ports.insecure)
            .field("authorization_mode", authorization)
            .field("replicas", replicas)
            .field("clock_offsets", clock_offsets)
            .finish_non_exhaustive()
    }
}
