//! The values of flags, in the forms of Go.

use super::csv;
use fake_apiserver::internals::parse_duration;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

/// `strconv.ParseBool`.
pub(super) fn go_bool(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("neither true nor false".into()),
    }
}

/// Parses a duration to seconds, within kube-apiserver's bounds; 0 means no limit.
pub(super) fn max_token_expiration(text: &str) -> Result<i64, String> {
    let duration = parse_duration(text).ok().filter(|_| !text.starts_with('-')).ok_or("not a duration such as 24h")?;
    match i64::try_from(duration.as_secs()) {
        Ok(seconds @ (0 | 3600..=0x1_0000_0000)) => Ok(seconds),
        _ => Err("must be between 1 hour and 2^32 seconds".into()),
    }
}

/// A pair of `ConfigurationMap` of `k8s.io/component-base/cli/flag`: without `=` the value is empty.
pub(super) fn runtime_config(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').unwrap_or((text, ""));
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

pub(super) fn request_timeout(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok().filter(|time| !time.is_zero()).ok_or_else(|| "not a duration such as 30s".into())
}

/// A replica and an offset of its clock in seconds: `1=-30`, `0=2m`.
pub(super) fn clock_offset(text: &str) -> Result<(usize, i64), String> {
    let (replica, offset) = text.split_once('=').ok_or("not REPLICA=DURATION, such as 1=-30s")?;
    let replica = replica.parse().map_err(|_| "the replica is not a number from 0 on")?;
    if let Ok(seconds) = offset.parse() {
        return Ok((replica, seconds));
    }
    let (is_behind, length) = offset.strip_prefix('-').map_or((false, offset), |length| (true, length));
    let length = parse_duration(length).ok().filter(|_| !length.starts_with('-'));
    let length = length.ok_or("the offset is neither a number of seconds nor a duration such as 2m")?;
    if length.subsec_nanos() != 0 {
        return Err("the offset has fractions of a second".into());
    }
    // A duration has less than 2^63 nanoseconds.
    let seconds = length.as_secs().cast_signed();
    Ok((replica, if is_behind { seconds.saturating_neg() } else { seconds }))
}

/// A directive of the header `Strict-Transport-Security` (`validateHSTSDirectives` of `k8s.io/apiserver/pkg/server/options`, v0.37.1).
pub(super) fn transport_security(text: &str) -> Result<String, String> {
    let is_age = text.strip_prefix("max-age=").is_some_and(|age| !age.contains('='));
    match text.trim() {
        "" => Err("empty value in strict-transport-security-directives".into()),
        _ if is_age || ["includeSubDomains", "preload"].contains(&text) => Ok(text.to_owned()),
        _ => Err("allowed values: max-age=expireTime, includeSubDomains, preload".into()),
    }
}

/// The items of a list, which is a line of CSV.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed(pub(super) Vec<String>);

/// A list as `stringSlice` of pflag.
pub(super) fn listed(text: &str) -> Result<Listed, String> {
    csv::fields(text).map(Listed)
}

/// The address of a port of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServiceAddress {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) port: u16,
    pub(super) address: SocketAddr,
}

/// A service, its port and an address: `namespace/name:443=127.0.0.1:8443`.
pub(super) fn service_address(text: &str) -> Result<ServiceAddress, String> {
    let parts = || {
        let (service, address) = text.split_once('=')?;
        let (namespace, service) = service.split_once('/')?;
        let (name, port) = service.split_once(':')?;
        let (port, address) = (port.parse().ok()?, address.parse().ok()?);
        Some(ServiceAddress { namespace: namespace.into(), name: name.into(), port, address })
    };
    parts().ok_or_else(|| "not a service and an address such as default/hook:443=127.0.0.1:8443".into())
}

/// `PortRange.Set` of `k8s.io/apimachinery/pkg/util/net`: a first and a last port, a first port and a number of others, or one port.
pub(super) fn port_range(text: &str) -> Result<RangeInclusive<u16>, String> {
    const WRONG: &str = "not ports such as 30000-32767";
    let number = |text: &str| text.trim().parse::<u16>().map_err(|_| WRONG);
    let (first, last) = match (text.split_once('-'), text.split_once('+')) {
        (Some((first, last)), None) => (number(first)?, number(last)?),
        (None, Some((first, more))) => {
            let first = number(first)?;
            (first, first.checked_add(number(more)?).ok_or(WRONG)?)
        }
        _ => (number(text)?, number(text)?),
    };
    if first > last { Err("the last port is before the first".into()) } else { Ok(first..=last) }
}
