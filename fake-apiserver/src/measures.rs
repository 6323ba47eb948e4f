//! Counters and histograms of parts of the server that are busy only now and then, by their labels.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A family of metrics.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Family {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    /// The names of the labels, in alphabetical order.
    pub(crate) labels: &'static [&'static str],
    /// The upper bounds of the buckets of a histogram, in nanoseconds; none for a counter.
    pub(crate) bounds: &'static [u64],
}

/// The values that were counted with the same labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Measure {
    /// Their number by bucket; those above all bounds come last. A counter has no other bucket.
    pub(crate) counts: Vec<u64>,
    /// Their sum, in nanoseconds.
    pub(crate) sum: u128,
}

/// The measures of a server.
#[derive(Debug, Default)]
pub(crate) struct Measures(Mutex<Measured>);

/// Measures by the name of the family and the values of the labels.
type Measured = BTreeMap<(&'static str, Vec<String>), Measure>;

impl Measures {
    /// Counts one, with these values of the labels, in their order.
    pub(crate) fn count(&self, family: &'static Family, labels: &[&str]) {
        self.time(family, labels, Duration::ZERO);
    }

    /// Counts a duration.
    pub(crate) fn time(&self, family: &'static Family, labels: &[&str], elapsed: Duration) {
        debug_assert_eq!(labels.len(), family.labels.len(), "{}", family.name);
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        let nanoseconds = elapsed.as_nanos();
        let bucket = family.bounds.iter().position(|bound| nanoseconds <= u128::from(*bound));
        let mut measured = self.lock();
        let measure = measured.entry((family.name, labels)).or_default();
        measure.counts.resize(family.bounds.len() + 1, 0);
        measure.counts[bucket.unwrap_or(family.bounds.len())] += 1;
        measure.sum += nanoseconds;
    }

    /// The measures of a family, by the values of the labels.
    pub(crate) fn of(&self, family: &Family) -> Vec<(Vec<String>, Measure)> {
        let measured = self.lock();
        let own = measured.range((family.name, Vec::new())..).take_while(|((name, _), _)| *name == family.name);
        own.map(|((_, labels), measure)| (labels.clone(), measure.clone())).collect()
    }

    /// Forgets all.
    pub(crate) fn forget(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Measured> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_by_their_labels() {
        static TIMES: Family = Family { name: "b", help: "", labels: &["x"], bounds: &[10, 20] };
        static COUNTS: Family = Family { name: "a", help: "", labels: &["x", "y"], bounds: &[] };
        let measures = Measures::default();
        measures.count(&COUNTS, &["1", "2"]);
        measures.count(&COUNTS, &["1", "1"]);
        measures.count(&COUNTS, &["1", "2"]);
        for nanoseconds in [10, 11, 21, 0] {
            measures.time(&TIMES, &["z"], Duration::from_nanos(nanoseconds));
        }
        let counted = measures.of(&COUNTS).into_iter().map(|(labels, measure)| (labels.join(" "), measure.counts));
        assert_eq!(counted.collect::<Vec<_>>(), [("1 1".to_owned(), vec![1]), ("1 2".to_owned(), vec![2])]);
        assert_eq!(measures.of(&TIMES), [(vec!["z".to_owned()], Measure { counts: vec![2, 1, 1], sum: 42 })]);
        measures.forget();
        assert_eq!(measures.of(&COUNTS), []);
    }
}
