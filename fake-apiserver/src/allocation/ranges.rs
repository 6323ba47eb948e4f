//! The ranges of cluster IPs, which the ready `ServiceCIDR` objects define, and the order in which addresses of one are tried.
//!
//! Follows `pkg/registry/core/service/ipallocator/{cidrallocator,ipallocator}.go` (v1.37.1). Ranges are tried in the order of the
//! server's options, then by address; upstream's order is random.

use crate::object::ip::Cidr;
use crate::object::meta;
use crate::registry::{ids, items, text};
use crate::store::{Scope, Store};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The size of the part of a range that is reserved for requested addresses, and used last (`calculateRangeOffset`): a share, between two bounds.
const STATIC_SHARE: u128 = 16;
const STATIC_MIN: u128 = 16;
const STATIC_MAX: u128 = 256;

/// The ranges of the ready service CIDRs of a family, those of `first` before others.
pub(super) fn ready(store: &Store, first: &[Cidr], ipv6: bool) -> Vec<Cidr> {
    let mut ready = BTreeMap::new();
    for entry in store.snapshot().range(&Scope::all(ids::SERVICE_CIDRS), "") {
        let object = entry.object();
        let condition = items(&object, "/status/conditions").iter().find(|found| text(found, "/type") == "Ready");
        let is_ready = condition.is_none_or(|condition| text(condition, "/status") == "True");
        let counts = is_ready && meta::deletion_timestamp(&object).is_none();
        for range in items(&object, "/spec/cidrs").iter().filter_map(|text| Cidr::parse(text.as_str()?)) {
            *ready.entry(range.1).or_insert(false) |= counts;
        }
    }
    let mut ranges: Vec<Cidr> = ready.into_iter().filter(|(_, counts)| *counts).map(|(range, _)| range).collect();
    ranges.retain(|range| range.is_ipv6() == ipv6);
    ranges.sort_by_key(|range| (!first.contains(range), *range));
    ranges
}

/// The first and the last address that services get: not that of the network nor, in IPv4, the one for broadcasts.
fn bounds(range: Cidr) -> (u128, u128) {
    let last = number(range.last());
    (number(range.base()) + 1, if range.is_ipv6() { last } else { last.saturating_sub(1) })
}

/// Whether services get that address of the range (`PrefixContainsIP`).
pub(super) fn offers(range: Cidr, address: IpAddr) -> bool {
    let (first, last) = bounds(range);
    range.contains(address) && (first..=last).contains(&number(address))
}

/// All addresses of the range: the upper part first, each part from a random place on. `below` is the source of chance.
pub(super) fn candidates(range: Cidr, below: impl Fn(u64) -> u64) -> impl Iterator<Item = IpAddr> {
    let (first, last) = bounds(range);
    let size = (last + 1).saturating_sub(first);
    let offset = static_part(range);
    let parts = match size.saturating_sub(offset) {
        0 => [(first, 0), (first, 0)],
        upper => [(first + offset, upper), (first, offset.min(size))],
    };
    let part = move |(begin, size): (u128, u128)| {
        let start = match u64::try_from(size).unwrap_or(u64::MAX) {
            0 => 0,
            size => u128::from(below(size)),
        };
        (0..size).map(move |step| begin + (start + step) % size)
    };
    parts.into_iter().flat_map(part).map(move |number| address(range, number))
}

fn static_part(range: Cidr) -> u128 {
    match 1_u128.checked_shl(range.host_bits().into()).unwrap_or(u128::MAX) {
        size if size <= STATIC_MIN => 0,
        size => (size / STATIC_SHARE).clamp(STATIC_MIN, STATIC_MAX),
    }
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// The address of that number, of the family of the range.
fn address(range: Cidr, number: u128) -> IpAddr {
    match u32::try_from(number) {
        Ok(number) if !range.is_ipv6() => Ipv4Addr::from_bits(number).into(),
        _ => Ipv6Addr::from_bits(number).into(),
    }
}

/// The address of the service `kubernetes`: the first one.
pub(crate) fn first(range: Cidr) -> IpAddr {
    address(range, bounds(range).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> Cidr {
        Cidr::parse(text).expect("it is one").1
    }

    #[test]
    fn the_upper_part_comes_first() {
        let all: Vec<String> = candidates(range("10.0.0.0/24"), |_| 2).map(|ip| ip.to_string()).collect();
        assert_eq!(all.len(), 254);
        assert_eq!([&*all[0], &*all[237], &*all[238], &*all[253]], ["10.0.0.19", "10.0.0.18", "10.0.0.3", "10.0.0.2"]);
    }

    #[test]
    fn small_and_large_ranges_have_addresses() {
        let table = [
            ("10.0.0.0/29", 6, "10.0.0.1"),
            ("10.0.0.0/31", 0, ""),
            ("10.0.0.1/32", 0, ""),
            ("fd00::/125", 7, "fd00::1"),
        ];
        for (text, count, first) in table {
            let all: Vec<String> = candidates(range(text), |_| 0).map(|ip| ip.to_string()).collect();
            assert_eq!((all.len(), all.first().map_or("", |ip| ip)), (count, first), "{text}");
        }
        assert_eq!(candidates(range("fd00::/64"), |_| 0).next(), "fd00::101".parse().ok());
    }

    #[test]
    fn networks_and_broadcasts_are_not_offered() {
        let table =
            [("10.0.0.0", false), ("10.0.0.1", true), ("10.0.0.255", false), ("10.0.1.1", false), ("fd00::1", false)];
        for (text, expected) in table {
            assert_eq!(offers(range("10.0.0.0/24"), text.parse().expect("it is one")), expected, "{text}");
        }
        assert!(offers(range("fd00::/120"), "fd00::ff".parse().expect("it is one")));
    }
}
