//! Room for recursion: expressions nest some hundred levels deep, each of which takes a dozen calls to parse.

use std::sync::{Mutex, PoisonError};

/// The stack for expressions that nest deeply, in bytes; as much of it is used as is needed.
const STACK: usize = 256 << 20;

/// Calls a function, on a thread with a large stack if it has to go deep.
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
        // Where no thread can be started the stack at hand has to do.
        (None, Some(call)) => call(),
        (None, None) => unreachable!("the function was called, and gave a result"),
    }
}
