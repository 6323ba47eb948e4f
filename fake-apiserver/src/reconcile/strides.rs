//! The strides of long loops: after each, others compute.

use tokio::task::yield_now;

/// The number of steps between two yields.
const STRIDE: usize = 256;

/// A counter of a loop's steps.
#[derive(Default)]
pub(crate) struct Strides(usize);

impl Strides {
    /// Counts a step, and yields now and then.
    pub(crate) async fn step(&mut self) {
        self.0 += 1;
        if self.0.is_multiple_of(STRIDE) {
            yield_now().await;
        }
    }
}
