//! The size of the future that serves a request: it is moved for each.

use super::*;

/// The size of the future of a function, in bytes.
fn size<A, B, C, D, E, F: Future>(_: fn(A, B, C, D, E) -> F) -> usize {
    size_of::<F>()
}

/// Rare and large futures, such as that of the webhook client, are boxed where they start.
#[test]
fn futures_are_small() {
    let size = size(exchange);
    assert!(size <= 4 * 1024 + 256, "{size}");
}
