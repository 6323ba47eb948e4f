//! The costs of one request.

use stats_alloc::Stats;
use tree::counting::counted;

/// The kinds of cost, as the table names them: those of the allocator, then those that the server counts.
pub(crate) const NAMES: [&str; 9] =
    ["allocations", "bytes", "parses", "walks", "look-ups", "clones", "encodes", "copied", "tasks"];

/// Costs: those of the allocator, then those that the server counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Costs(pub [u64; NAMES.len()]);

impl Costs {
    /// Those of the process since it began. Memory that grows counts as allocated.
    pub(crate) fn so_far() -> Costs {
        let Stats { allocations, reallocations, bytes_allocated, .. } = crate::COUNTED.stats();
        let [parses, walks, lookups, clones, encodes, copied, tasks] = counted();
        let allocations = (allocations + reallocations) as u64;
        Costs([allocations, bytes_allocated as u64, parses, walks, lookups, clones, encodes, copied, tasks])
    }

    /// Those of one of `requests`, by which they rose from `begin`, to the nearest number.
    pub(crate) fn of_each(self, begin: Costs, requests: u64) -> Costs {
        let mut each = self;
        for (cost, before) in each.0.iter_mut().zip(begin.0) {
            *cost = (*cost - before + requests / 2) / requests;
        }
        each
    }
}
