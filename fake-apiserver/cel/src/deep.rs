//! Stack for recursion: expressions nest some hundred levels deep, each of which takes a dozen calls to parse.

use std::sync::{Mutex, PoisonError};

/// The stack for deeply nested expressions, in bytes, which is committed only as it is used.
const STACK: usize = 256 << 20;

/// Calls a function, on a thread with a large stack if it recurses deeply.
pub(crate) fn with_room<T: Send>(goes_deep: bool, call: impl FnOnce() -> T + Send) -> T {
    if !goes_deep {
        return call();
    }
    let call = Mutex::new(Some(call));
    let take = || call.lock().unwrap_or_else(PoisonError::into_inner).take();
    let result = std::thread::scope(|scope| {
        let run = || take().map(|call| call());
        let thread = std::thread::Builder::new().name("cel".to_owned()).stack_size(STACK).spawn_scoped(scope, run);
        thread.ok().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    match (result.flatten(), take()) {
        (Some(result), _) => result,
        // If no thread can be started, the present stack is used.
        (None, Some(call)) => call(),
        (None, None) => unreachable!("the function was called, and gave a result"),
    }
}
