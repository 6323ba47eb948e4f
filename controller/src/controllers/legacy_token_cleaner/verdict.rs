//! The decision about a secret: pure functions of it, of its service account, of pods that refer to it, and of dates.
//!
//! Dates are compared as text, as upstream does; the day is UTC's.

use super::labels::{INVALID_SINCE_LABEL, LAST_USED_LABEL, TRACKED_SINCE_KEY};
use crate::controllers::tokens::belongs::{is_token, refers_to};
use crate::controllers::tokens::keys::{SERVICE_ACCOUNT_UID_KEY, annotation};
use anyhow::Context;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{ConfigMap, Secret, ServiceAccount};
use kube::ResourceExt;
use std::time::Duration;

/// The decision about a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Keep,
    /// Label it as invalid as of today.
    Mark,
    Delete,
}

/// The dates that decide.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CutOff {
    /// Secrets created at that time or later are kept.
    created: Timestamp,
    /// Secrets used, or marked, on that day or later are kept.
    used: String,
    /// The date for new marks.
    pub(super) today: String,
}

impl CutOff {
    /// The dates that lie `period` before `now`; `None` if uses were not tracked for that long.
    pub(super) fn new(now: Timestamp, tracked_since: Timestamp, period: Duration) -> Option<CutOff> {
        let period = SignedDuration::try_from(period).ok()?;
        if now < tracked_since.checked_add(period).ok()? {
            return None;
        }
        let created = now.checked_sub(period).ok()?;
        Some(CutOff { created, used: day_of(created), today: day_of(now) })
    }
}

/// The beginning of the day after the API server began to track uses.
///
/// # Errors
/// If the config map has no date, or an invalid one.
pub(super) fn day_after_tracking_began(config_map: &ConfigMap) -> anyhow::Result<Timestamp> {
    let since = config_map.data.as_ref().and_then(|data| data.get(TRACKED_SINCE_KEY));
    let since = since.with_context(|| format!("there is no {TRACKED_SINCE_KEY:?} in the config map"))?;
    let date = parse_date(since).with_context(|| format!("{since:?} is not a date like 2006-01-02"))?;
    Ok(date.tomorrow()?.to_zoned(TimeZone::UTC)?.timestamp())
}

/// Decides about `secret`, which names the service account `account`; `used` tells whether a pod of the namespace refers to
/// a secret of that name.
///
/// # Errors
/// The value of the label with the last use, if it is not a date.
pub(super) fn judge<'a>(
    secret: &'a Secret,
    account: Option<&ServiceAccount>,
    used: impl FnOnce(&str) -> bool,
    cut_off: &CutOff,
) -> Result<Verdict, &'a str> {
    let old = secret.creation_timestamp().is_none_or(|created| created.0 < cut_off.created);
    if !is_token(secret) || !old || secret.metadata.deletion_timestamp.is_some() {
        return Ok(Verdict::Keep);
    }
    // A token without the label was not used since uses are tracked.
    if let Some(last_used) = secret.labels().get(LAST_USED_LABEL) {
        parse_date(last_used).ok_or(last_used.as_str())?;
        if *last_used >= cut_off.used {
            return Ok(Verdict::Keep);
        }
    }
    // A secret that its service account does not refer to may have been created by a user.
    let name = secret.name_any();
    let generated = account.is_some_and(|account| is_for(secret, account) && refers_to(account, &name));
    if !generated || used(&name) {
        return Ok(Verdict::Keep);
    }
    let invalid_since = secret.labels().get(INVALID_SINCE_LABEL).filter(|date| parse_date(date).is_some());
    Ok(match invalid_since {
        None => Verdict::Mark,
        Some(date) if *date >= cut_off.used => Verdict::Keep,
        Some(_) => Verdict::Delete,
    })
}

/// Whether the secret has no uid annotation, or that of `account`.
fn is_for(secret: &Secret, account: &ServiceAccount) -> bool {
    let uid = annotation(secret, SERVICE_ACCOUNT_UID_KEY);
    uid.is_empty() || account.metadata.uid.as_deref() == Some(uid)
}

/// The date in `text`, if that is exactly in Go's layout `2006-01-02`.
pub(super) fn parse_date(text: &str) -> Option<Date> {
    let shaped = text.len() == 10
        && text
            .bytes()
            .enumerate()
            .all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() });
    text.parse().ok().filter(|_| shaped)
}

fn day_of(time: Timestamp) -> String {
    time.to_zoned(TimeZone::UTC).date().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    fn time(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn dates_are_what_go_reads() {
        for (text, is_date) in [
            ("2022-12-27", true),
            ("0000-02-29", true),
            ("2022-02-29", false),
            ("2022-13-01", false),
            ("2022-12-27-1", false),
            ("2022-12-27T00:00:00Z", false),
            ("2022-1-27", false),
            ("+2022-1-27", false),
            ("20221227", false),
            ("2022/12/27", false),
            ("", false),
        ] {
            assert_eq!(parse_date(text).is_some(), is_date, "{text}");
        }
    }

    /// The rows of `TestLegacyServiceAccountTokenCleanUp` that cannot be played on a server, because it repairs the config map.
    #[test]
    fn tracking_counts_from_the_day_after() {
        for (data, expected) in [
            (json!(null), None),
            (json!({"until": "2022-12-27"}), None),
            (json!({"since": "2022-12-27-1"}), None),
            (json!({"since": "2022-12-27"}), Some("2022-12-28T00:00:00Z")),
            (json!({"since": "2022-12-31"}), Some("2023-01-01T00:00:00Z")),
        ] {
            let config_map = from_value(json!({ "data": data.clone() })).expect("a config map");
            assert_eq!(day_after_tracking_began(&config_map).ok(), expected.map(time), "{data}");
        }
    }

    #[test]
    fn nothing_is_cut_off_before_uses_were_tracked_for_the_period() {
        let day = Duration::from_secs(24 * 60 * 60);
        for (now, period, used) in [
            ("2023-01-10T23:59:59Z", 10 * day, None),
            ("2023-01-11T00:00:00Z", 10 * day, Some("2023-01-01")),
            ("2023-01-11T12:00:00Z", 10 * day, Some("2023-01-01")),
            ("2023-01-12T00:00:00Z", 10 * day + day / 2, Some("2023-01-01")),
            ("2023-01-12T00:00:00Z", Duration::MAX, None),
        ] {
            let cut_off = CutOff::new(time(now), time("2023-01-01T00:00:00Z"), period);
            assert_eq!(cut_off.map(|cut_off| cut_off.used).as_deref(), used, "{now} {period:?}");
        }
    }
}
