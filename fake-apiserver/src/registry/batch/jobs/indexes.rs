//! Indexes of completions: numbers and intervals of them, in order (`1,3-5,7`).
//!
//! Follows `validateIndexesFormat`, `parseIndexInterval` and `validateFailedIndexesNotOverlapCompleted` of
//! `pkg/apis/batch/validation/validation.go` (v1.37.1).

use crate::schema::quote;

/// The number of indexes in a text.
///
/// # Errors
/// Upstream's text, if it is not one of indexes below `completions` in order.
pub(super) fn count(text: &str, completions: i64) -> Result<i64, String> {
    let (mut last, mut total) = (None, 0);
    for interval in text.split(',').filter(|_| !text.is_empty()) {
        let (first, end) = self::interval(interval, completions)?;
        if let Some(last) = last.filter(|last| *last >= first) {
            return Err(format!("non-increasing order, previous: {last}, current: {first}"));
        }
        total += end - first + 1;
        last = Some(end);
    }
    Ok(total)
}

/// The first and the last index of an interval.
fn interval(text: &str, completions: i64) -> Result<(i64, i64), String> {
    let limits: Vec<&str> = text.split('-').collect();
    if limits.len() > 2 {
        return Err(format!(
            "the fragment {} violates the requirement that an index interval can have at most two parts separated by '-'",
            quote(text)
        ));
    }
    let index = |text: &str| match text.parse::<i64>() {
        Err(_) => Err(format!("cannot convert string to integer for index: {}", quote(text))),
        Ok(index) if index >= completions => Err(format!("too large index: {}", quote(text))),
        Ok(index) => Ok(index),
    };
    let first = index(limits[0])?;
    let Some(last) = limits.get(1) else { return Ok((first, first)) };
    match index(last)? {
        last if first >= last => Err(format!("non-increasing order, previous: {first}, current: {last}")),
        last => Ok((first, last)),
    }
}

/// The first index that is in both texts. Malformed intervals are skipped.
pub(super) fn common(completed: &str, failed: &str, completions: i64) -> Option<i64> {
    let intervals = |text: &str| -> Vec<(i64, i64)> {
        text.split(',').filter_map(|interval| self::interval(interval, completions).ok()).collect()
    };
    let (completed, failed) = (intervals(completed), intervals(failed));
    let (mut one, mut other) = (completed.iter().peekable(), failed.iter().peekable());
    while let (Some((first, last)), Some((other_first, other_last))) = (one.peek(), other.peek()) {
        if first <= other_last && other_first <= last {
            return Some(*first.max(other_first));
        }
        if first <= other_first {
            one.next()
        } else {
            other.next()
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_are_counted() {
        for (text, expected) in [
            ("", Ok(0)),
            ("0", Ok(1)),
            ("0,2-4", Ok(4)),
            ("2,1", Err("non-increasing order, previous: 2, current: 1")),
            ("3-3", Err("non-increasing order, previous: 3, current: 3")),
            ("9", Err("too large index: \"9\"")),
            ("x", Err("cannot convert string to integer for index: \"x\"")),
        ] {
            assert_eq!(count(text, 5), expected.map_err(str::to_owned), "{text}");
        }
        assert_eq!(common("0,2-4", "1,4", 5), Some(4));
        assert_eq!(common("0,2", "1,3", 5), None);
    }
}
