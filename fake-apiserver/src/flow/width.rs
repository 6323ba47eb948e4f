//! The seats that a request needs: one, or more to list much. Pure.
//!
//! Follows `pkg/util/flowcontrol/request/list_work_estimator.go` of `k8s.io/apiserver` (v0.37.1), and `pkg/storage/cacher/delegator`, by
//! which a list is read from the watch cache or from etcd.

/// The bytes of objects that a seat is enough for (`bytesPerSeat`).
const BYTES_PER_SEAT: usize = 100_000;
/// The memory that a list from the watch cache takes at most (`cacheWithStreamingMaxMemoryUsage`).
const MOST_OF_CACHE: usize = 1_000_000;
/// The most seats of a list (`MaximumListSeatsLimit`).
const MOST: usize = 100;

/// The wishes of a list or a watch; texts are those of its query.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wanted<'a> {
    pub(crate) is_watch: bool,
    /// Whether it selects an object by its name.
    pub(crate) is_single: bool,
    /// Whether it selects by fields or labels.
    pub(crate) selects: bool,
    pub(crate) limit: &'a str,
    pub(crate) timeout: &'a str,
    pub(crate) continues: &'a str,
    pub(crate) revision: &'a str,
    pub(crate) revision_match: &'a str,
    pub(crate) sends_initial_events: bool,
}

/// The objects of a resource: their number, and the bytes of one on average.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stored {
    pub(crate) count: usize,
    pub(crate) bytes: usize,
}

/// The seats of a list or a watch of a resource with these objects, `None` if it is unknown; `widest` at most.
pub(crate) fn width(wanted: &Wanted<'_>, stored: impl FnOnce() -> Option<Stored>, widest: Option<usize>) -> usize {
    let widest = widest.unwrap_or(MOST).min(MOST);
    let number = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<i64>().ok() };
    let (Some(limit), Some(_)) = (number(wanted.limit), number(wanted.timeout)) else { return widest };
    let begins_with_objects = wanted.sends_initial_events || matches!(wanted.revision, "" | "0");
    if wanted.is_watch && !begins_with_objects {
        return 1;
    }
    let Some(Stored { count, bytes }) = stored() else { return 1 };
    let limited = usize::try_from(limit).ok().filter(|limit| *limit > 0).map_or(count, |limit| limit.min(count));
    let is_cached = wanted.is_watch || !wanted.is_from_storage(limit > 0);
    let loaded = match () {
        () if wanted.is_single => 1,
        () if !is_cached && wanted.selects => limited.max(count / 2),
        () => limited,
    };
    let memory = loaded.saturating_mul(bytes).min(if is_cached { MOST_OF_CACHE } else { usize::MAX });
    memory.div_ceil(BYTES_PER_SEAT).clamp(1, widest)
}

impl Wanted<'_> {
    /// `ShouldDelegateList`.
    fn is_from_storage(&self, is_limited: bool) -> bool {
        match self.revision_match {
            "NotOlderThan" => false,
            "" => !self.continues.is_empty() || is_limited && !matches!(self.revision, "" | "0"),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_lists_need_more_seats() {
        let list = Wanted::default();
        let many = Some(Stored { count: 1000, bytes: 2000 });
        for (wanted, stored, widest, expected) in [
            (list, None, None, 1),
            (list, Some(Stored { count: 0, bytes: 0 }), None, 1),
            (list, many, None, 10),
            (list, many, Some(4), 4),
            (Wanted { is_single: true, ..list }, many, None, 1),
            (Wanted { limit: "100", ..list }, many, None, 2),
            (Wanted { limit: "x", ..list }, many, None, 100),
            (Wanted { revision_match: "Exact", revision: "7", ..list }, many, None, 20),
            (Wanted { revision: "7", limit: "100", selects: true, ..list }, many, None, 10),
            (Wanted { is_watch: true, revision: "7", ..list }, many, None, 1),
            (Wanted { is_watch: true, revision: "0", ..list }, many, None, 10),
            (Wanted { is_watch: true, revision: "7", sends_initial_events: true, ..list }, many, None, 10),
        ] {
            assert_eq!(width(&wanted, || stored, widest), expected, "{wanted:?}");
        }
    }
}
