//! The fields of an object, in the order of their names.

use crate::counting::{Work, count};
use crate::{Text, Value};
use std::cmp::Ordering;
use std::collections::{BTreeMap, btree_map};
use std::hash::{Hash, Hasher};
use std::{fmt, mem, slice, vec};

/// The number of fields up to which they are a list, in which a new one moves those behind it.
const MAX_LISTED: usize = 64;
/// The number of fields up to which one is looked for by trying each.
const MAX_TRIED: usize = 8;

/// The fields of an object, in the order of their names.
#[derive(Clone)]
pub struct Map {
    fields: Fields,
}

#[derive(Clone)]
enum Fields {
    /// Sorted. No longer than [`MAX_LISTED`].
    Listed(Vec<(Text, Value)>),
    #[expect(clippy::box_collection, reason = "a map that is a list, as most are, is to take no more than a list does")]
    Many(Box<BTreeMap<Text, Value>>),
}

use Fields::{Listed, Many};

impl Map {
    /// A map without fields.
    pub const fn new() -> Map {
        Map { fields: Listed(Vec::new()) }
    }

    /// A map without fields, with room for some.
    pub fn with_capacity(capacity: usize) -> Map {
        Map { fields: Listed(Vec::with_capacity(capacity.min(MAX_LISTED))) }
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        match &self.fields {
            Listed(list) => list.len(),
            Many(tree) => tree.len(),
        }
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all fields.
    pub fn clear(&mut self) {
        *self = Map::new();
    }

    /// The value of a field.
    pub fn get<Q: AsRef<str> + ?Sized>(&self, name: &Q) -> Option<&Value> {
        match &self.fields {
            Listed(list) => find(list, name.as_ref()).map(|at| &list[at].1),
            Many(tree) => tree.get(name.as_ref()),
        }
    }

    /// The value of a field.
    pub fn get_mut<Q: AsRef<str> + ?Sized>(&mut self, name: &Q) -> Option<&mut Value> {
        match &mut self.fields {
            Listed(list) => find(list, name.as_ref()).map(|at| &mut list[at].1),
            Many(tree) => tree.get_mut(name.as_ref()),
        }
    }

    /// Whether there is such a field.
    pub fn contains_key<Q: AsRef<str> + ?Sized>(&self, name: &Q) -> bool {
        self.get(name).is_some()
    }

    /// Sets a field. Returns the value that it had.
    pub fn insert(&mut self, name: Text, value: Value) -> Option<Value> {
        match self.entry(name).0 {
            Place::Taken(known) => Some(mem::replace(known, value)),
            free => {
                Entry(free).or_insert(value);
                None
            }
        }
    }

    /// Removes a field. Returns its value.
    pub fn remove<Q: AsRef<str> + ?Sized>(&mut self, name: &Q) -> Option<Value> {
        match &mut self.fields {
            Listed(list) => find(list, name.as_ref()).map(|at| list.remove(at).1),
            Many(tree) => tree.remove(name.as_ref()),
        }
    }

    /// The place of a field.
    pub fn entry(&mut self, name: impl Into<Text>) -> Entry<'_> {
        let name = name.into();
        if let Listed(list) = &mut self.fields
            && list.len() >= MAX_LISTED
        {
            self.fields = Many(Box::new(mem::take(list).into_iter().collect()));
        }
        Entry(match &mut self.fields {
            Listed(list) => match place(list, &name) {
                Ok(at) => Place::Taken(&mut list[at].1),
                Err(at) => Place::Listed(list, at, name),
            },
            Many(tree) => match tree.entry(name) {
                btree_map::Entry::Occupied(entry) => Place::Taken(entry.into_mut()),
                btree_map::Entry::Vacant(room) => Place::Many(room),
            },
        })
    }

    /// Keeps only the fields for which `keep` is true.
    pub fn retain(&mut self, mut keep: impl FnMut(&Text, &mut Value) -> bool) {
        match &mut self.fields {
            Listed(list) => list.retain_mut(|(name, value)| keep(name, value)),
            Many(tree) => tree.retain(keep),
        }
    }

    /// The fields in order.
    pub fn iter(&self) -> Iter<'_> {
        match &self.fields {
            Listed(list) => Iter::Listed(list.iter()),
            Many(tree) => Iter::Many(tree.iter()),
        }
    }

    /// The fields in order.
    pub fn iter_mut(&mut self) -> IterMut<'_> {
        match &mut self.fields {
            Listed(list) => IterMut::Listed(list.iter_mut()),
            Many(tree) => IterMut::Many(tree.iter_mut()),
        }
    }

    /// The names of the fields in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &Text> + ExactSizeIterator {
        self.iter().map(|(name, _)| name)
    }

    /// The values in the order of their names.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Value> + ExactSizeIterator {
        self.iter().map(|(_, value)| value)
    }

    /// The values in the order of their names.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.iter_mut().map(|(_, value)| value)
    }

    /// The values in the order of their names.
    pub fn into_values(self) -> impl Iterator<Item = Value> {
        self.into_iter().map(|(_, value)| value)
    }
}

/// The place of a field in a list.
fn find(list: &[(Text, Value)], name: &str) -> Option<usize> {
    count(Work::Lookup, 1);
    if list.len() > MAX_TRIED {
        return place(list, name).ok();
    }
    list.iter().position(|(known, _)| known.as_str() == name)
}

/// The place of a field in a list, or the one where it would be. Most are added in order.
fn place(list: &[(Text, Value)], name: &str) -> Result<usize, usize> {
    match list.last() {
        Some((last, _)) if order(last, name).is_lt() => Err(list.len()),
        Some(_) => list.binary_search_by(|(known, _)| order(known, name)),
        None => Err(0),
    }
}

/// The order of two names: that of their bytes, of which the first mostly decides.
fn order(one: &str, other: &str) -> Ordering {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    one.first().cmp(&other.first()).then_with(|| one.cmp(other))
}

/// The place of a field, which may be there.
pub struct Entry<'m>(Place<'m>);

enum Place<'m> {
    Taken(&'m mut Value),
    /// In a list, where the field would be.
    Listed(&'m mut Vec<(Text, Value)>, usize, Text),
    Many(btree_map::VacantEntry<'m, Text, Value>),
}

impl<'m> Entry<'m> {
    /// The value, which is set if the field is not there.
    pub fn or_insert(self, value: Value) -> &'m mut Value {
        self.or_insert_with(|| value)
    }

    /// The value, which is set if the field is not there.
    pub fn or_insert_with(self, value: impl FnOnce() -> Value) -> &'m mut Value {
        match self.0 {
            Place::Taken(known) => known,
            Place::Listed(list, at, name) => {
                list.insert(at, (name, value()));
                &mut list[at].1
            }
            Place::Many(room) => room.insert(value()),
        }
    }
}

impl Default for Map {
    fn default() -> Self {
        Map::new()
    }
}

impl PartialEq for Map {
    fn eq(&self, other: &Map) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for Map {}

impl Hash for Map {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len().hash(state);
        self.iter().for_each(|field| field.hash(state));
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

impl<K: Into<Text>> Extend<(K, Value)> for Map {
    fn extend<I: IntoIterator<Item = (K, Value)>>(&mut self, fields: I) {
        let fields = fields.into_iter().map(|(name, value)| (name.into(), value));
        let least = fields.size_hint().0;
        if least > MAX_LISTED && least >= self.len() {
            // Sorting all of them is faster than finding the place of each.
            let all: BTreeMap<Text, Value> = mem::take(self).into_iter().chain(fields).collect();
            self.fields = Many(Box::new(all));
            return;
        }
        for (name, value) in fields {
            self.insert(name, value);
        }
    }
}

impl<K: Into<Text>> FromIterator<(K, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (K, Value)>>(fields: I) -> Map {
        let fields = fields.into_iter();
        let (least, most) = fields.size_hint();
        let mut map = Map::with_capacity(most.unwrap_or(least));
        map.extend(fields);
        map
    }
}

macro_rules! iterator {
    ($(#[$doc:meta])* $name:ident$(<$life:lifetime>)?, $listed:ty, $many:ty, $item:ty, $pair:expr) => {
        $(#[$doc])*
        pub enum $name$(<$life>)? {
            /// Of a list.
            #[doc(hidden)]
            Listed($listed),
            /// Of a tree.
            #[doc(hidden)]
            Many($many),
        }

        impl$(<$life>)? Iterator for $name$(<$life>)? {
            type Item = $item;

            fn next(&mut self) -> Option<Self::Item> {
                match self {
                    $name::Listed(list) => list.next().map($pair),
                    $name::Many(tree) => tree.next(),
                }
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                match self {
                    $name::Listed(list) => list.size_hint(),
                    $name::Many(tree) => tree.size_hint(),
                }
            }
        }

        impl$(<$life>)? DoubleEndedIterator for $name$(<$life>)? {
            fn next_back(&mut self) -> Option<Self::Item> {
                match self {
                    $name::Listed(list) => list.next_back().map($pair),
                    $name::Many(tree) => tree.next_back(),
                }
            }
        }

        impl$(<$life>)? ExactSizeIterator for $name$(<$life>)? {}
    };
}

iterator!(
    /// The fields in order.
    #[derive(Clone)]
    Iter<'m>,
    slice::Iter<'m, (Text, Value)>,
    btree_map::Iter<'m, Text, Value>,
    (&'m Text, &'m Value),
    |(name, value)| (name, value)
);
iterator!(
    /// The fields in order.
    IterMut<'m>,
    slice::IterMut<'m, (Text, Value)>,
    btree_map::IterMut<'m, Text, Value>,
    (&'m Text, &'m mut Value),
    |(name, value)| (&*name, value)
);
iterator!(
    /// The fields in order.
    IntoIter,
    vec::IntoIter<(Text, Value)>,
    btree_map::IntoIter<Text, Value>,
    (Text, Value),
    |field| field
);

impl<'m> IntoIterator for &'m Map {
    type Item = (&'m Text, &'m Value);
    type IntoIter = Iter<'m>;

    fn into_iter(self) -> Iter<'m> {
        self.iter()
    }
}

impl<'m> IntoIterator for &'m mut Map {
    type Item = (&'m Text, &'m mut Value);
    type IntoIter = IterMut<'m>;

    fn into_iter(self) -> IterMut<'m> {
        self.iter_mut()
    }
}

impl IntoIterator for Map {
    type Item = (Text, Value);
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        match self.fields {
            Listed(list) => IntoIter::Listed(list.into_iter()),
            Many(tree) => IntoIter::Many(tree.into_iter()),
        }
    }
}
