//! The stable sort of Go's package `sort`. Strategic merge patches sort lists by a comparison that contradicts itself; the result then
//! depends on the algorithm.

/// Sorts items as `sort.SliceStable` does: insertions into blocks of 20, which are merged in place (Kim and Kutzner's SymMerge).
///
/// A port of `stable_func` of `sort/zsortfunc.go` (Go 1.26).
pub(super) fn sort_stable<T>(items: &mut [T], is_less: impl Fn(&T, &T) -> bool) {
    const BLOCK: usize = 20;
    for block in items.chunks_mut(BLOCK) {
        insert_all(block, &is_less);
    }
    let mut block = BLOCK;
    while block < items.len() {
        for pair in items.chunks_mut(2 * block).filter(|pair| pair.len() > block) {
            merge(pair, block, &is_less);
        }
        block *= 2;
    }
}

fn insert_all<T>(items: &mut [T], is_less: &impl Fn(&T, &T) -> bool) {
    for next in 1..items.len() {
        for at in (1..=next).rev() {
            if !is_less(&items[at], &items[at - 1]) {
                break;
            }
            items.swap(at, at - 1);
        }
    }
}

/// Merges the items before `middle` with those from there on.
fn merge<T>(items: &mut [T], middle: usize, is_less: &impl Fn(&T, &T) -> bool) {
    let len = items.len();
    if middle == 1 {
        let end = first(1, len, |at| !is_less(&items[at], &items[0]));
        items[..end].rotate_left(1);
        return;
    }
    if len - middle == 1 {
        let start = first(0, middle, |at| is_less(&items[middle], &items[at]));
        items[start..].rotate_right(1);
        return;
    }
    let half = len / 2;
    let sum = half + middle;
    let (low, high) = if middle > half { (sum - len, half) } else { (0, middle) };
    let start = first(low, high, |at| is_less(&items[sum - 1 - at], &items[at]));
    let end = sum - start;
    if start < middle && middle < end {
        items[start..end].rotate_left(middle - start);
    }
    if 0 < start && start < half {
        merge(&mut items[..half], start, is_less);
    }
    if half < end && end < len {
        merge(&mut items[half..], end - half, is_less);
    }
}

/// The first place between these for which it is so, by halving.
fn first(mut low: usize, mut high: usize, is_so: impl Fn(usize) -> bool) -> usize {
    while low < high {
        let middle = low.midpoint(high);
        match is_so(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::sort_stable;

    #[test]
    fn an_order_is_kept_among_equals() {
        for len in 0..200_usize {
            let mut items: Vec<(usize, usize)> = (0..len).map(|at| (at * 7919 % 13, at)).collect();
            let mut expected = items.clone();
            expected.sort();
            sort_stable(&mut items, |one, other| one.0 < other.0);
            assert_eq!(items, expected);
        }
    }

    #[test]
    fn what_is_less_than_all_is_reversed() {
        let mut items: Vec<usize> = (0..10).collect();
        sort_stable(&mut items, |_, _| true);
        assert!(items.iter().rev().eq(&(0..10).collect::<Vec<_>>()));
    }
}
