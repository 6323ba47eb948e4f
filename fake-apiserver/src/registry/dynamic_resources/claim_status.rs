//! The status of claims: the devices that are allocated, who uses them, and what drivers say of them.
//!
//! Follows `pkg/apis/resource/validation/validation.go` (v1.37.1).

use super::names::{covered_driver, covered_pool, driver, is_bounded, label_names, pool, unique};
use super::requests::{RequestNames, toleration};
use super::selectors::{configuration, raw_object};
use crate::error::{Errors, FieldError};
use crate::object::{ip, meta, name};
use crate::registry::cursor::At;
use crate::registry::types::{conditions, node_selector};
use crate::schema::quote;
use std::collections::HashSet;
use tree::Value;

const MAX_CONSUMERS: usize = 256;
const MAX_RESULTS: usize = 32;
/// Configurations of the class and of the claim.
const MAX_CONFIGS: usize = 2 * 32;
const MAX_BINDING_CONDITIONS: usize = 4;
const MAX_CONDITIONS: usize = 8;
const MAX_ADDRESSES: usize = 16;
const MAX_INTERFACE: usize = 256;
const MAX_HARDWARE_ADDRESS: usize = 128;
const MAX_DATA: usize = 10 * 1024;

/// A device that is allocated: driver, pool, device and share.
pub(super) type Device<'v> = [&'v str; 4];

/// The device that a part of a status is about.
pub(super) fn device<'v>(value: &'v Value) -> Device<'v> {
    ["driver", "pool", "device", "shareID"].map(|field| value[field].as_str().unwrap_or_default())
}

/// `ValidateResourceClaimStatusUpdate`.
pub(super) fn update(claim: At<'_, '_>, old: At<'_, '_>, errors: &mut Errors) {
    let (status, before) = (claim.field("status"), old.field("status"));
    let names = RequestNames::of(&claim.value()["spec"]);
    let (consumers, allocation) = (status.field("reservedFor"), status.field("allocation"));
    if is_bounded(consumers, MAX_CONSUMERS, errors) {
        for consumer in consumers.items() {
            ["resource", "name", "uid"].iter().for_each(|field| consumer.field(field).set(errors));
        }
        unique(consumers, |consumer| consumer.field("uid").text(), errors);
    }
    let results = allocation.field("devices.results");
    let allocated: HashSet<Device<'_>> = results.items().map(|result| device(result.value())).collect();
    let devices = status.field("devices");
    for one in devices.items() {
        device_status(one, &allocated, errors);
    }
    unique(devices, |one| device(one.value()), errors);
    if !consumers.is_empty() {
        reserved(claim.value(), consumers, before.field("reservedFor"), allocation.is_set(), errors);
    }
    if !allocation.is_set() {
        return;
    }
    let old = before.field("allocation");
    match old.is_set() {
        true => errors.covered("update", |errors| allocation.immutable(&old, errors)),
        false => self::allocation(allocation, &names, errors),
    }
}

/// Only an allocated claim can be reserved, and one that is being deleted not anew.
fn reserved(claim: &Value, now: At<'_, '_>, before: At<'_, '_>, is_allocated: bool, errors: &mut Errors) {
    let had = |consumer: &At<'_, '_>| before.items().any(|old| old.equals(consumer));
    if !is_allocated {
        now.forbidden("may not be specified when `allocated` is not set", errors);
    } else if meta::deletion_timestamp(claim).is_some() && !now.items().all(|consumer| had(&consumer)) {
        let detail = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set";
        now.forbidden(detail, errors);
    }
}

/// `validateAllocationResult`.
fn allocation(allocation: At<'_, '_>, names: &RequestNames<'_>, errors: &mut Errors) {
    let (results, configs) = (allocation.field("devices.results"), allocation.field("devices.config"));
    if is_bounded(results, MAX_RESULTS, errors) {
        for result in results.items() {
            self::result(result, names, errors);
        }
    }
    if is_bounded(configs, MAX_CONFIGS, errors) {
        for config in configs.items() {
            errors.covered("", |errors| {
                config.field("source").one_of(&["FromClaim", "FromClass"], errors);
            });
            names.check_all(config.field("requests"), errors);
            configuration(config, false, errors);
        }
    }
    let selector = allocation.field("nodeSelector");
    if selector.is_set() {
        node_selector(selector, true, errors);
    }
}

/// `validateDeviceRequestAllocationResult`.
fn result(result: At<'_, '_>, names: &RequestNames<'_>, errors: &mut Errors) {
    names.check(result.field("request"), errors);
    covered_driver(result.field("driver"), errors);
    covered_pool(result.field("pool"), errors);
    result.field("device").follows(name::dns_label, errors);
    binding_conditions(result, errors);
    for one in result.field("tolerations").items() {
        toleration(one, errors);
    }
    share(result.field("shareID"), errors);
}

/// `validateUID`, for which declarative validation looks, too.
fn share(id: At<'_, '_>, errors: &mut Errors) {
    let is_good = |text: &str| {
        let dashes = [8, 13, 18, 23];
        let fits = |(index, byte): (usize, u8)| match dashes.contains(&index) {
            true => byte == b'-',
            false => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
        };
        text.len() == 36 && text.bytes().enumerate().all(fits)
    };
    if id.is_set() && !is_good(id.text()) {
        let detail = "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase \
            hexadecimal characters";
        errors.covered("format=k8s-uuid", |errors| id.invalid(detail, errors));
    }
}

/// `validateDeviceBindingParameters`.
pub(super) fn binding_conditions(at: At<'_, '_>, errors: &mut Errors) {
    let (good, bad) = (at.field("bindingConditions"), at.field("bindingFailureConditions"));
    label_names(good, MAX_BINDING_CONDITIONS, errors);
    label_names(bad, MAX_BINDING_CONDITIONS, errors);
    let mut seen = HashSet::new();
    for condition in good.items().filter(|condition| !seen.insert(condition.text())) {
        condition.duplicate(errors);
    }
    let mut failures = HashSet::new();
    for condition in bad.items() {
        if !failures.insert(condition.text()) {
            condition.duplicate(errors);
        }
        if seen.contains(condition.text()) {
            condition.invalid("bindingFailureConditions must not overlap with bindingConditions", errors);
        }
    }
    if good.is_empty() && !bad.is_empty() {
        good.invalid("bindingConditions are required to use bindingFailureConditions", errors);
    }
    if bad.is_empty() && !good.is_empty() {
        bad.invalid("bindingFailureConditions are required to use bindingConditions", errors);
    }
}

/// `validateDeviceStatus`.
fn device_status(status: At<'_, '_>, allocated: &HashSet<Device<'_>>, errors: &mut Errors) {
    driver(status.field("driver"), errors);
    pool(status.field("pool"), errors);
    status.field("device").follows(name::dns_label, errors);
    share(status.field("shareID"), errors);
    let id = device(status.value());
    if !allocated.contains(&id) {
        let [driver, pool, name, share] = id.map(quote);
        let shown = format!(r#"{{"Driver":{driver},"Pool":{pool},"Device":{name},"ShareID":{share}}}"#);
        let detail = "must be an allocated device in the claim";
        errors.push(FieldError::invalid_printed(status.path(), shown, detail));
    }
    let list = status.field("conditions");
    if list.len() > MAX_CONDITIONS {
        errors.push(FieldError::too_many(list.path(), list.len(), MAX_CONDITIONS));
    }
    conditions(list, errors);
    if status.field("data").is_set() {
        raw_object(status.field("data"), MAX_DATA, errors);
    }
    network(status.field("networkData"), errors);
}

/// `validateNetworkDeviceData`.
fn network(data: At<'_, '_>, errors: &mut Errors) {
    for (field, most) in [("interfaceName", MAX_INTERFACE), ("hardwareAddress", MAX_HARDWARE_ADDRESS)] {
        let at = data.field(field);
        if at.text().len() > most {
            errors.covered("maxBytes", |errors| errors.push(FieldError::too_long(at.path(), most)));
        }
    }
    let addresses = data.field("ips");
    if !is_bounded(addresses, MAX_ADDRESSES, errors) {
        return;
    }
    for address in addresses.items() {
        match canonical(address.text()) {
            None => {
                let detail = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)";
                address.invalid(detail, errors);
            }
            Some(canonical) if canonical != address.text() => {
                address.invalid(format!("must be in canonical form ({})", quote(&canonical)), errors);
            }
            Some(_) => {}
        }
    }
    unique(addresses, |address| address.text(), errors);
}

/// The canonical form of the address of an interface (`IsValidInterfaceAddress`).
fn canonical(text: &str) -> Option<String> {
    let (address, network) = ip::Cidr::parse(text)?;
    let length = if address.is_ipv4() { 32 } else { 128 };
    Some(format!("{}/{}", address.to_canonical(), length - network.host_bits()))
}
