//! The pool of node ports: those of stored services are taken, and those of writes in progress.
//!
//! Follows `pkg/registry/core/service/portallocator/{allocator,operation}.go` (v1.37.1).

use super::access::Access;
use crate::ids::Ids;
use crate::index::{Index, Place};
use crate::registry::ids;
use crate::registry::services::{health_check_node_port, node_ports};
use crate::store::{Entry, Kept, Key, ResourceId, Store};
use imbl::{HashMap, OrdMap};
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard};

const FULL: &str = "range is full";
const ALLOCATED: &str = "provided port is already allocated";

/// The part of the range that is taken from last (`calculateRangeOffset`): a share, between two bounds.
const STATIC_SHARE: u64 = 32;
const STATIC_MIN: u64 = 16;
const STATIC_MAX: u64 = 128;

/// The ports that a dry run takes begin behind this one.
const DRY_RUN: i64 = 32768;

/// The ports of stored services.
#[derive(Clone, Default)]
struct Taken {
    services: HashMap<Key, Arc<[i64]>>,
    /// The number of services that have a port: one, if all went well.
    ports: OrdMap<i64, usize>,
}

impl Index for Taken {
    const PLACE: Place = Place::NodePorts;
    const RESOURCES: &'static [ResourceId] = &[ids::SERVICES];

    fn apply(&mut self, entry: &Entry) {
        self.delete(&entry.key);
        let service = entry.object();
        let mut ports = node_ports(&service);
        ports.extend(Some(health_check_node_port(&service)).filter(|port| *port != 0));
        if ports.is_empty() {
            return;
        }
        for port in &ports {
            *self.ports.entry(*port).or_insert(0) += 1;
        }
        self.services.insert(entry.key.clone(), ports.into_iter().collect());
    }

    fn delete(&mut self, key: &Key) {
        for port in self.services.remove(key).iter().flat_map(|ports| ports.iter()) {
            match self.ports.get(port) {
                Some(count) if *count > 1 => self.ports.insert(*port, count - 1),
                _ => self.ports.remove(port),
            };
        }
    }
}

/// The ports of writes in progress.
#[derive(Default)]
struct Reserved(Mutex<HashSet<i64>>);

impl Kept for Reserved {
    const PLACE: usize = Place::ReservedNodePorts as usize;

    fn fork(&self, _: u64) -> Self {
        Reserved::default()
    }

    fn renew(&self) {}
}

/// The pool of node ports.
pub(super) struct NodePorts {
    range: RangeInclusive<u16>,
}

impl NodePorts {
    pub(super) fn new(range: RangeInclusive<u16>) -> Self {
        NodePorts { range }
    }

    /// An operation that has taken no port yet.
    pub(super) fn operation<'a>(&'a self, access: Access<'a>) -> Operation<'a> {
        Operation { pool: self, store: access.store, ids: access.ids, dry_run: access.dry_run, ports: Vec::new() }
    }

    fn contains(&self, port: i64) -> bool {
        u16::try_from(port).is_ok_and(|port| self.range.contains(&port))
    }

    /// All ports: the upper part first, each part from a random one on.
    fn candidates(&self, ids: &Ids) -> impl Iterator<Item = i64> {
        let (first, size) = (u64::from(*self.range.start()), self.range.len() as u64);
        let offset = match size {
            ..=STATIC_MIN => 0,
            size => (size / STATIC_SHARE).clamp(STATIC_MIN, STATIC_MAX),
        };
        let parts = [(first + offset, size - offset), (first, offset)].map(|(begin, size)| {
            let start = if size == 0 { 0 } else { ids.below(size) };
            (0..size).map(move |step| begin + (start + step) % size)
        });
        parts.into_iter().flatten().filter_map(|port| i64::try_from(port).ok())
    }
}

/// The ports of writes to a store that are in progress.
fn reserved(store: &Store) -> MutexGuard<'_, HashSet<i64>> {
    store.kept::<Reserved>().0.lock().expect("no code that runs under this lock panics")
}

/// The ports reserved by a write. Dropping this ends the reservation; if the write succeeded, the stored service holds them by then.
pub(super) struct Operation<'a> {
    pool: &'a NodePorts,
    store: &'a Store,
    ids: &'a Ids,
    dry_run: bool,
    ports: Vec<i64>,
}

impl Operation<'_> {
    /// Whether a port of the range is taken.
    fn is_taken(&self, port: i64) -> bool {
        let reserved = reserved(self.store);
        let is_taken = || reserved.contains(&port) || Taken::current(self.store).ports.contains_key(&port);
        self.pool.contains(port) && is_taken()
    }

    /// Reserves the first free one of these ports.
    fn reserve(&self, ports: impl IntoIterator<Item = i64>) -> Option<i64> {
        let mut reserved = reserved(self.store);
        // A port is reserved until its service is stored, so that one of both has it.
        let taken = Taken::current(self.store);
        let free = ports.into_iter().find(|port| !reserved.contains(port) && !taken.ports.contains_key(port))?;
        reserved.insert(free);
        Some(free)
    }

    /// Takes that port.
    ///
    /// # Errors
    /// The reason that it cannot be allocated.
    pub(super) fn take(&mut self, port: i64) -> Result<(), String> {
        let pool = self.pool;
        if self.dry_run {
            if self.is_taken(port) || self.ports.contains(&port) {
                return Err(ALLOCATED.into());
            }
        } else {
            if !pool.contains(port) {
                let range = format!("{}-{}", pool.range.start(), pool.range.end());
                return Err(format!("provided port is not in the valid range. The range of valid ports is {range}"));
            }
            self.reserve([port]).ok_or(ALLOCATED)?;
        }
        self.ports.push(port);
        Ok(())
    }

    /// Takes any port.
    ///
    /// # Errors
    /// If none is left.
    pub(super) fn take_any(&mut self) -> Result<i64, String> {
        if self.dry_run {
            let last = self.ports.iter().copied().max().unwrap_or(DRY_RUN);
            if let Some(port) = (last + 1..100).find(|port| self.take(*port).is_ok()) {
                return Ok(port);
            }
            self.ports.push(last + 1);
            return Ok(last + 1);
        }
        let port = self.reserve(self.pool.candidates(self.ids)).ok_or(FULL)?;
        self.ports.push(port);
        Ok(port)
    }
}

impl Drop for Operation<'_> {
    fn drop(&mut self) {
        if !self.dry_run {
            let mut reserved = reserved(self.store);
            self.ports.iter().for_each(|port| {
                reserved.remove(port);
            });
        }
    }
}
