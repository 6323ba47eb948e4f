//! Sorting as Go does: `sort.Sort` of Go 1.26 (`sort/zsortinterface.go`), a pattern-defeating quicksort.
//!
//! By an order that is not transitive, the result depends on each comparison; so these are Go's, one by one. They are at most
//! about n log n, whatever the order.

/// Slices up to this length are sorted by insertion.
const SHORT: usize = 12;
/// Slices from this length on choose their pivot among nine items, and have few items shifted into place.
const LONG: usize = 50;

/// Sorts items; `less` is whether the first one comes before the second. Not stable.
pub(super) fn sort<T>(items: &mut [T], less: impl Fn(&T, &T) -> bool) {
    let (end, limit) = (items.len(), bits(items.len()));
    Sorting { items, less }.range(0, end, limit);
}

/// The number of bits of a length.
fn bits(length: usize) -> u32 {
    usize::BITS - length.leading_zeros()
}

/// A guess about a range, by the items among which its pivot was chosen.
enum Guess {
    Increasing,
    Decreasing,
    Unknown,
}

struct Sorting<'s, T, L> {
    items: &'s mut [T],
    less: L,
}

impl<T, L: Fn(&T, &T) -> bool> Sorting<'_, T, L> {
    fn less(&self, one: usize, other: usize) -> bool {
        (self.less)(&self.items[one], &self.items[other])
    }

    /// Sorts a range by partitions, of which `limit` may be bad before the heap sorts the rest.
    fn range(&mut self, mut start: usize, mut end: usize, mut limit: u32) {
        let (mut was_balanced, mut was_partitioned) = (true, true);
        while end - start > SHORT {
            let length = end - start;
            if limit == 0 {
                return self.by_heap(start, end);
            }
            if !was_balanced {
                self.scatter(start, end);
                limit -= 1;
            }
            let (mut pivot, mut guess) = self.pivot(start, end);
            if matches!(guess, Guess::Decreasing) {
                self.items[start..end].reverse();
                pivot = end - 1 - (pivot - start);
                guess = Guess::Increasing;
            }
            let seems_sorted = was_balanced && was_partitioned && matches!(guess, Guess::Increasing);
            if seems_sorted && self.is_sorted_by_few_shifts(start, end) {
                return;
            }
            if start > 0 && !self.less(start - 1, pivot) {
                start = self.partition_equal(start, end, pivot);
                continue;
            }
            let middle;
            (middle, was_partitioned) = self.partition(start, end, pivot);
            let (left, right) = (middle - start, end - middle);
            was_balanced = left.min(right) >= length / 8;
            if left < right {
                self.range(start, middle, limit);
                start = middle + 1;
            } else {
                self.range(middle + 1, end, limit);
                end = middle;
            }
        }
        for next in start + 1..end {
            self.shift_left(next, start);
        }
    }

    /// Moves an item to the left, at most to `first`, while it is less than the one before it.
    fn shift_left(&mut self, mut at: usize, first: usize) {
        while at > first && self.less(at, at - 1) {
            self.items.swap(at, at - 1);
            at -= 1;
        }
    }

    fn by_heap(&mut self, start: usize, end: usize) {
        let length = end - start;
        for root in (0..=(length - 1) / 2).rev() {
            self.sift_down(root, length, start);
        }
        for last in (0..length).rev() {
            self.items.swap(start, start + last);
            self.sift_down(0, last, start);
        }
    }

    /// Restores the heap of `length` items from `first` on, below its `root`.
    fn sift_down(&mut self, mut root: usize, length: usize, first: usize) {
        loop {
            let mut child = 2 * root + 1;
            if child >= length {
                return;
            }
            if child + 1 < length && self.less(first + child, first + child + 1) {
                child += 1;
            }
            if !self.less(first + root, first + child) {
                return;
            }
            self.items.swap(first + root, first + child);
            root = child;
        }
    }

    /// Swaps three items in the middle with others, by a xorshift seeded with the length.
    fn scatter(&mut self, start: usize, end: usize) {
        let length = end - start;
        let mut random = length as u64;
        let mask = (1_u64 << bits(length)) - 1;
        let middle = start + length / 4 * 2;
        for at in middle - 1..=middle + 1 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let other = (random & mask) as usize;
            self.items.swap(at, start + if other >= length { other - length } else { other });
        }
    }

    /// Sorts a range that needs a few shifts only; false if it needs more.
    fn is_sorted_by_few_shifts(&mut self, start: usize, end: usize) -> bool {
        const SHIFTS: usize = 5;
        let mut at = start + 1;
        for _ in 0..SHIFTS {
            while at < end && !self.less(at, at - 1) {
                at += 1;
            }
            if at == end {
                return true;
            }
            if end - start < LONG {
                return false;
            }
            self.items.swap(at, at - 1);
            if at - start >= 2 {
                // Go stops at the first item of all, not of the range.
                self.shift_left(at - 1, 0);
            }
            let mut next = at + 1;
            while next < end && self.less(next, next - 1) {
                self.items.swap(next, next - 1);
                next += 1;
            }
        }
        false
    }

    /// Puts lesser items before the pivot, and others behind it; its place, and whether all were there already.
    fn partition(&mut self, start: usize, end: usize, pivot: usize) -> (usize, bool) {
        self.items.swap(start, pivot);
        let (mut left, mut right) = (start + 1, end - 1);
        let mut was_partitioned = true;
        loop {
            while left <= right && self.less(left, start) {
                left += 1;
            }
            while left <= right && !self.less(right, start) {
                right -= 1;
            }
            if left > right {
                self.items.swap(right, start);
                return (right, was_partitioned);
            }
            was_partitioned = false;
            self.items.swap(left, right);
            left += 1;
            right -= 1;
        }
    }

    /// Puts items that are not greater than the pivot, which is the least, before others; the place behind them.
    fn partition_equal(&mut self, start: usize, end: usize, pivot: usize) -> usize {
        self.items.swap(start, pivot);
        let (mut left, mut right) = (start + 1, end - 1);
        loop {
            while left <= right && !self.less(start, left) {
                left += 1;
            }
            while left <= right && self.less(start, right) {
                right -= 1;
            }
            if left > right {
                return left;
            }
            self.items.swap(left, right);
            left += 1;
            right -= 1;
        }
    }

    fn pivot(&self, start: usize, end: usize) -> (usize, Guess) {
        let quarter = (end - start) / 4;
        let mut places = [1, 2, 3].map(|times| start + times * quarter);
        let mut swaps = 0;
        if end - start >= LONG {
            places = places.map(|at| self.median([at - 1, at, at + 1], &mut swaps));
        }
        let pivot = self.median(places, &mut swaps);
        let guess = match swaps {
            0 => Guess::Increasing,
            // All comparisons swapped. In short ranges there are fewer.
            12 => Guess::Decreasing,
            _ => Guess::Unknown,
        };
        (pivot, guess)
    }

    fn median(&self, [mut one, mut two, mut three]: [usize; 3], swaps: &mut usize) -> usize {
        let mut order = |low: &mut usize, high: &mut usize| {
            if self.less(*high, *low) {
                *swaps += 1;
                std::mem::swap(low, high);
            }
        };
        order(&mut one, &mut two);
        order(&mut two, &mut three);
        order(&mut one, &mut two);
        two
    }
}
