//! The pace of long loops: they let others compute in between.

use tokio::task::yield_now;

/// The number of steps between two yields.
const STRIDE: usize = 256;

/// A counter of a loop's steps.
#[derive(Default)]
pub(super) struct Pace(usize);

impl Pace {
    /// Counts a step, and yields now and then.
    pub(super) async fn step(&mut self) {
        self.0 += 1;
        if self.0.is_multiple_of(STRIDE) {
            yield_now().await;
        }
    }
}
