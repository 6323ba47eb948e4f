//! Many schedules from one seed.

use crate::world;
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, MaxSteps, Runner};

/// The policy by which the next thread is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// Any thread that can run, at every point.
    Random,
    /// By priorities that change a few times in a schedule, which finds errors that need few but unlucky switches (PCT).
    Priorities,
}

/// Schedules to run.
#[derive(Debug, Clone, Copy)]
pub struct Schedules {
    /// The seed; equal seeds make equal schedules.
    pub seed: u64,
    /// The number of schedules.
    pub count: usize,
    /// The policy by which threads are chosen.
    pub policy: Policy,
}

/// The number of changes of priorities in a schedule.
const CHANGES: usize = 4;
/// The limit of steps above which a schedule counts as endless.
const STEPS: usize = 100_000;
/// The stack of a thread, in bytes.
const STACK: usize = 256 * 1024;

impl Schedules {
    /// Runs them.
    ///
    /// # Panics
    /// If a guarantee is broken, with its name, or at a deadlock. The scheduler prints the schedule before that.
    pub fn run(self) {
        let mut config = Config::new();
        config.stack_size = STACK;
        config.max_steps = MaxSteps::FailAfter(STEPS);
        // The warning that all orderings are simulated as sequentially consistent.
        config.silence_warnings = true;
        match self.policy {
            Policy::Random => {
                Runner::new(RandomScheduler::new_from_seed(self.seed, self.count), config).run(world::run);
            }
            Policy::Priorities => {
                Runner::new(PctScheduler::new_from_seed(self.seed, CHANGES, self.count), config).run(world::run);
            }
        }
    }
}
