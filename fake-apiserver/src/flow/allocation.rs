//! The seats of a server, allocated to levels that lend and borrow. Pure.
//!
//! Follows `pkg/util/flowcontrol/conc_alloc.go` of `k8s.io/apiserver` (v0.37.1).

/// The seats that a level needs and may have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wish {
    /// The seats that it would like to have; at least `lowest`.
    pub(super) target: f64,
    pub(super) lowest: f64,
    /// At least `lowest`.
    pub(super) highest: f64,
}

/// A target may not be zero, as others are compared with it.
const LEAST_TARGET: f64 = 0.001;
const EPSILON: f64 = 0.000_000_1;

/// The seats of each level, of `sum` in all, and the fraction of their targets that they have: each has that of its own, unless its bounds
/// forbid it. `None`, if the bounds of all leave no such sum.
pub(super) fn allocate(sum: f64, wishes: &[Wish]) -> Option<(Vec<f64>, f64)> {
    let of_all = |of: fn(&Wish) -> f64| wishes.iter().map(of).sum::<f64>();
    let (lowest, highest) = (of_all(|wish| wish.lowest), of_all(|wish| wish.highest));
    if lowest - sum > EPSILON || sum - highest > EPSILON {
        return None;
    }
    // The sum grows with the fraction, in straight lines from one bound to the next.
    let mut bounds: Vec<f64> =
        wishes.iter().flat_map(|wish| [wish.lowest, wish.highest].map(|bound| bound / wish.part())).collect();
    bounds.sort_by(f64::total_cmp);
    let first = bounds.first().copied().unwrap_or_default();
    let mut fraction = first;
    let mut reached = lowest;
    for next in bounds {
        if reached >= sum {
            break;
        }
        // Those that grow between the two fractions.
        let is_free = |wish: &&Wish| wish.lowest / wish.part() <= fraction && wish.highest / wish.part() > fraction;
        let slope: f64 = wishes.iter().filter(is_free).map(Wish::part).sum();
        let needed = if slope > 0.0 { fraction + (sum - reached) / slope } else { f64::INFINITY };
        if needed <= next {
            fraction = needed;
            break;
        }
        reached += (next - fraction) * slope;
        fraction = next;
    }
    let seats = wishes.iter().map(|wish| (fraction * wish.part()).clamp(wish.lowest, wish.highest)).collect();
    Some((seats, fraction))
}

impl Wish {
    fn part(&self) -> f64 {
        self.target.max(LEAST_TARGET)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(lowest: f64, target: f64, highest: f64) -> Wish {
        Wish { target, lowest, highest }
    }

    /// Cases of `TestConcAlloc` and others, whose sums are those asked for.
    #[test]
    fn seats_follow_targets_within_bounds() {
        for (sum, wishes, expected) in [
            (10.0, vec![wish(0.0, 1.0, 100.0), wish(0.0, 4.0, 100.0)], Some(vec![2.0, 8.0])),
            (10.0, vec![wish(0.0, 1.0, 1.0), wish(0.0, 4.0, 100.0)], Some(vec![1.0, 9.0])),
            (10.0, vec![wish(4.0, 4.0, 100.0), wish(0.0, 16.0, 100.0)], Some(vec![4.0, 6.0])),
            (3.0, vec![wish(1.0, 1.0, 5.0), wish(2.0, 9.0, 9.0)], Some(vec![1.0, 2.0])),
            (14.0, vec![wish(1.0, 1.0, 5.0), wish(2.0, 9.0, 9.0)], Some(vec![5.0, 9.0])),
            (5.0, vec![wish(0.0, 0.0, 0.0), wish(0.0, 0.0, 10.0)], Some(vec![0.0, 5.0])),
            (0.0, vec![wish(0.0, 2.0, 9.0)], Some(vec![0.0])),
            (2.0, vec![wish(3.0, 3.0, 9.0)], None),
            (10.0, vec![wish(3.0, 3.0, 9.0)], None),
        ] {
            let found = allocate(sum, &wishes)
                .map(|(seats, _)| seats.iter().map(|seats| (seats * 1e6).round() / 1e6).collect::<Vec<f64>>());
            assert_eq!(found, expected, "{sum} {wishes:?}");
        }
    }
}
