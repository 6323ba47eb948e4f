//! The subsets of endpoints: addresses that have the same ports.
//!
//! Follows `RepackSubsets` of `pkg/api/v1/endpoints/util.go` (v1.37.1), except that subsets and ports are sorted by what they are, not by a
//! hash of that.

use crate::workloads::facts::read;
use std::collections::BTreeMap;
use tree::{Value, json};

/// An address by which endpoints are the same: IP and uid.
type Address = (String, String);

/// Addresses, each with whether it is ready.
#[derive(Default)]
pub(super) struct Subsets {
    addresses: BTreeMap<Address, Value>,
    /// By port; without one, by nothing.
    by_port: BTreeMap<String, (Option<Value>, BTreeMap<Address, bool>)>,
}

impl Subsets {
    /// Adds an address with a port, or without one.
    pub(super) fn add(&mut self, address: Value, port: Option<Value>, ready: bool) {
        let key = (read::text(&address, "/ip").to_owned(), read::text(&address, "/targetRef/uid").to_owned());
        self.addresses.entry(key.clone()).or_insert(address);
        let text = port.as_ref().map(Value::to_string).unwrap_or_default();
        let (_, addresses) = self.by_port.entry(text).or_insert_with(|| (port, BTreeMap::new()));
        // Once it is not ready, it is not.
        let ready = addresses.get(&key).copied().unwrap_or(true) && ready;
        addresses.insert(key, ready);
    }

    /// The subsets of an object.
    pub(super) fn of(subsets: &[Value]) -> Subsets {
        let mut all = Subsets::default();
        for subset in subsets {
            let ports = read::list(subset, "/ports").iter().cloned().map(Some);
            let ports: Vec<Option<Value>> = if ports.len() == 0 { vec![None] } else { ports.collect() };
            for port in ports {
                for (field, ready) in [("/addresses", true), ("/notReadyAddresses", false)] {
                    for address in read::list(subset, field) {
                        all.add(address.clone(), port.clone(), ready);
                    }
                }
            }
        }
        all
    }

    /// The subsets, as few as there can be.
    pub(super) fn packed(self) -> Vec<Value> {
        let mut by_addresses: BTreeMap<Vec<(Address, bool)>, Vec<Value>> = BTreeMap::new();
        for (port, addresses) in self.by_port.into_values() {
            by_addresses.entry(addresses.into_iter().collect()).or_default().extend(port);
        }
        let packed = by_addresses.into_iter().map(|(addresses, ports)| {
            let mut subset = json!({});
            for (field, wanted) in [("addresses", true), ("notReadyAddresses", false)] {
                let chosen = addresses.iter().filter(|(_, ready)| *ready == wanted);
                let chosen: Vec<Value> = chosen.filter_map(|(key, _)| self.addresses.get(key).cloned()).collect();
                if !chosen.is_empty() {
                    subset[field] = chosen.into();
                }
            }
            if !ports.is_empty() {
                subset["ports"] = ports.into();
            }
            subset
        });
        packed.collect()
    }
}

/// Leaves no more than so many addresses, ready ones first; whether there were more.
pub(super) fn truncate(subsets: &mut [Value], most: usize) -> bool {
    let count =
        |subsets: &[Value], field: &str| subsets.iter().map(|subset| read::list(subset, field).len()).sum::<usize>();
    let (ready, other) = (count(subsets, "/addresses"), count(subsets, "/notReadyAddresses"));
    if ready + other <= most {
        return false;
    }
    let (field, all, room) = match ready > most {
        true => ("addresses", ready, most),
        false => ("notReadyAddresses", other, most - ready),
    };
    let mut left = room;
    for subset in subsets {
        if ready > most
            && let Some(subset) = subset.as_object_mut()
        {
            subset.remove("notReadyAddresses");
        }
        let Some(addresses) = subset.get_mut(field).and_then(Value::as_array_mut) else { continue };
        let share = (addresses.len() * room).div_ceil(all).min(left);
        addresses.truncate(share);
        left -= addresses.len();
    }
    true
}
