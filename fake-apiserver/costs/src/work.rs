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

    /// By how much they rose from `begin`.
    pub(crate) fn since(self, begin: Costs) -> Costs {
        Costs(std::array::from_fn(|cost| self.0[cost] - begin.0[cost]))
    }

    /// Of each cost the least.
    ///
    /// # Panics
    /// If there are none.
    pub(crate) fn least(all: &[Costs]) -> Costs {
        let least = |cost: usize| all.iter().map(|one| one.0[cost]).min();
        Costs(std::array::from_fn(|cost| least(cost).expect("there is one")))
    }
}
