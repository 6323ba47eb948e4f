//! A builder in logs.

use super::Builder;
use std::fmt;

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Builder { bind_address, secure_port, insecure_port, authorization, replicas, clock_offsets, .. } = self;
        // Keys and tokens must not get into logs.
        f.debug_struct("Builder")
            .field("bind_address", bind_address)
            .field("secure_port", secure_port)
            .field("insecure_port", insecure_port)
            .field("authorization_mode", authorization)
            .field("replicas", replicas)
            .field("clock_offsets", clock_offsets)
            .finish_non_exhaustive()
    }
}
