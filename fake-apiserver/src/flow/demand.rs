//! The demand of a level for seats over time, by which others lend it some. Pure.
//!
//! Follows `pkg/util/flowcontrol/fairqueuing/integrator.go` and `seatDemandStats` of `pkg/util/flowcontrol/apf_controller.go` of
//! `k8s.io/apiserver` (v0.37.1).

use std::time::Duration;

/// `seatDemandSmoothingCoefficient`.
const SMOOTHING: f64 = 0.977;

/// The demand since the last adjustment.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Demand {
    since: Duration,
    seats: f64,
    most: f64,
    seconds: f64,
    /// The integrals of the demand, and of its square, over time.
    sum: f64,
    squares: f64,
}

/// The demand as it is known at an adjustment.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Known {
    pub(crate) average: f64,
    pub(crate) deviation: f64,
    pub(crate) most: f64,
    /// A demand that falls slowly after it was high.
    pub(crate) smoothed: f64,
}

impl Demand {
    /// Notes the demand from that time on.
    pub(super) fn is(&mut self, now: Duration, seats: f64) {
        self.pass(now);
        self.seats = seats;
        self.most = self.most.max(seats);
    }

    fn pass(&mut self, now: Duration) {
        let seconds = now.saturating_sub(self.since).as_secs_f64();
        self.since = now;
        self.seconds += seconds;
        self.sum += seconds * self.seats;
        self.squares += seconds * self.seats * self.seats;
    }

    /// The demand until now, after what was known before; it begins anew.
    pub(super) fn adjusted(&mut self, now: Duration, before: Known) -> Known {
        self.pass(now);
        let past = *self;
        *self = Demand { since: now, seats: past.seats, most: past.seats, ..Demand::default() };
        if past.seconds <= 0.0 {
            return Known { most: past.most, ..before };
        }
        let average = past.sum / past.seconds;
        let deviation = (past.squares / past.seconds - average * average).max(0.0).sqrt();
        let envelope = average + deviation;
        let smoothed = envelope.max(SMOOTHING * before.smoothed + (1.0 - SMOOTHING) * envelope);
        Known { average, deviation, most: past.most, smoothed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demand_is_averaged_and_smoothed() {
        let seconds = Duration::from_secs;
        let mut demand = Demand::default();
        demand.is(seconds(0), 4.0);
        demand.is(seconds(5), 0.0);
        let known = demand.adjusted(seconds(10), Known::default());
        assert_eq!((known.average, known.deviation, known.most, known.smoothed), (2.0, 2.0, 4.0, 4.0));
        let later = demand.adjusted(seconds(20), known);
        assert_eq!((later.average, later.deviation, later.most), (0.0, 0.0, 0.0));
        assert!((later.smoothed - 4.0 * SMOOTHING).abs() < 1e-9, "{later:?}");
        assert_eq!(demand.adjusted(seconds(20), later).smoothed, later.smoothed);
    }
}
