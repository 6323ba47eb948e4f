//! The objects in the order of their keys: a persistent B+ tree with the ranks of objects.
//!
//! ```text
//!              Inner: for each child its first key and its number of objects
//!             ╱     │     ╲
//!         Leaf    Leaf    Leaf: up to 64 entries, and renderings of all of them together
//! ```
//! A clone is a pointer or two. A write copies the nodes on its way that a clone still shares, and changes the others in
//! place; so a snapshot is cheap, and the rendering of a leaf is kept until an object in it changes, as long as there
//! is [`ROOM`].

use super::entry::{Entry, FormId};
use super::key::Key;
use super::memo::Memo;
use super::room::{Claim, Room};
use bytes::Bytes;
use std::iter;
use std::ops::Range;
use std::sync::Arc;

/// The most entries of a leaf.
const LEAF: usize = 64;
/// The most children of an inner node.
const CHILDREN: usize = 32;

/// The memory for renderings of leaves, in bytes.
const ROOM: usize = 64 * 1024 * 1024;

#[derive(Clone)]
pub(super) struct Tree {
    root: Node,
    room: Room,
}

#[derive(Clone)]
enum Node {
    Leaf(Arc<Leaf>),
    Inner(Arc<Vec<Child>>),
}

#[derive(Clone)]
struct Child {
    /// A lower bound of the keys below this child, except for the leftmost child.
    first: Key,
    /// The number of objects below it.
    len: usize,
    node: Node,
}

#[derive(Default)]
struct Leaf {
    entries: Vec<Arc<Entry>>,
    rendered: Memo<FormId, Rendered>,
}

/// A rendering of a leaf's entries, and the room that it takes.
struct Rendered {
    chunks: Vec<Bytes>,
    _room: Claim,
}

/// Consecutive objects, to be taken one after the other. A clone is a pointer or two.
#[derive(Clone)]
pub struct Slice {
    objects: Tree,
    ranks: Range<usize>,
}

/// Consecutive objects of one leaf.
#[derive(Clone)]
pub struct Run {
    leaf: Arc<Leaf>,
    range: Range<usize>,
    room: Room,
}

impl Tree {
    pub(super) fn new() -> Self {
        Tree { root: Node::Leaf(Arc::default()), room: Room::new(ROOM) }
    }

    pub(super) fn get(&self, key: &Key) -> Option<&Arc<Entry>> {
        let mut node = &self.root;
        loop {
            match node {
                Node::Leaf(leaf) => return leaf.find(key).ok().map(|index| &leaf.entries[index]),
                Node::Inner(children) => node = &children[child_of(children, key)].node,
            }
        }
    }

    /// Inserts an entry under its key; returns the entry that it replaces.
    pub(super) fn insert(&mut self, entry: Arc<Entry>) -> Option<Arc<Entry>> {
        let (replaced, right) = self.root.insert(entry);
        if let Some(right) = right {
            let left = std::mem::replace(&mut self.root, Node::Leaf(Arc::default()));
            // The first key of the leftmost child is never read.
            let left = Child { first: right.first.clone(), len: left.len(), node: left };
            self.root = Node::Inner(Arc::new(vec![left, right]));
        }
        replaced
    }

    pub(super) fn remove(&mut self, key: &Key) -> Option<Arc<Entry>> {
        let removed = self.root.remove(key);
        while let Node::Inner(children) = &self.root
            && let [only] = &***children
        {
            self.root = only.node.clone();
        }
        removed
    }

    /// The number of objects with a key before `key`.
    pub(super) fn rank(&self, key: &Key) -> usize {
        let (mut node, mut rank) = (&self.root, 0);
        loop {
            match node {
                Node::Leaf(leaf) => return rank + leaf.find(key).unwrap_or_else(|index| index),
                Node::Inner(children) => {
                    let at = child_of(children, key);
                    rank += children[..at].iter().map(|child| child.len).sum::<usize>();
                    node = &children[at].node;
                }
            }
        }
    }

    /// The entries at those ranks.
    pub(super) fn range(&self, ranks: Range<usize>) -> impl Iterator<Item = &Arc<Entry>> {
        self.leaves(ranks).flat_map(|(leaf, range)| &leaf.entries[range])
    }

    /// The entries at those ranks, to be kept.
    pub(super) fn slice(self, ranks: Range<usize>) -> Slice {
        Slice { objects: self, ranks }
    }

    fn leaves(&self, mut ranks: Range<usize>) -> impl Iterator<Item = (&Arc<Leaf>, Range<usize>)> {
        iter::from_fn(move || {
            if ranks.is_empty() {
                return None;
            }
            let (leaf, start) = self.leaf_at(ranks.start)?;
            let end = leaf.entries.len().min(start + ranks.len());
            ranks.start += end - start;
            Some((leaf, start..end))
        })
    }

    /// The leaf with the entry of that rank, and its index there.
    fn leaf_at(&self, mut rank: usize) -> Option<(&Arc<Leaf>, usize)> {
        let mut node = &self.root;
        loop {
            match node {
                Node::Leaf(leaf) => return (rank < leaf.entries.len()).then_some((leaf, rank)),
                Node::Inner(children) => {
                    let child = children.iter().find(|child| {
                        let is_below = rank < child.len;
                        rank -= if is_below { 0 } else { child.len };
                        is_below
                    });
                    node = &child?.node;
                }
            }
        }
    }
}

impl Node {
    fn len(&self) -> usize {
        match self {
            Node::Leaf(leaf) => leaf.entries.len(),
            Node::Inner(children) => children.iter().map(|child| child.len).sum(),
        }
    }

    /// Inserts an entry. Returns the entry that it replaces, and the right half of this node if it has become too large.
    fn insert(&mut self, entry: Arc<Entry>) -> (Option<Arc<Entry>>, Option<Child>) {
        match self {
            Node::Leaf(leaf) => {
                let place = leaf.find(&entry.key);
                let entries = Leaf::entries_mut(leaf);
                match place {
                    Ok(index) => return (Some(std::mem::replace(&mut entries[index], entry)), None),
                    Err(index) => entries.insert(index, entry),
                }
                let right = right_half(entries, LEAF).map(|entries| {
                    let (first, len) = (entries[0].key.clone(), entries.len());
                    Child { first, len, node: Node::Leaf(Arc::new(Leaf { entries, rendered: Memo::default() })) }
                });
                (None, right)
            }
            Node::Inner(children) => {
                let children = Arc::make_mut(children);
                let at = child_of(children, &entry.key);
                let (replaced, right) = children[at].node.insert(entry);
                children[at].len += usize::from(replaced.is_none());
                if let Some(right) = right {
                    children[at].len -= right.len;
                    children.insert(at + 1, right);
                }
                let right = right_half(children, CHILDREN).map(|children| {
                    let (first, node) = (children[0].first.clone(), Node::Inner(Arc::new(children)));
                    Child { first, len: node.len(), node }
                });
                (replaced, right)
            }
        }
    }

    fn remove(&mut self, key: &Key) -> Option<Arc<Entry>> {
        match self {
            Node::Leaf(leaf) => {
                let index = leaf.find(key).ok()?;
                Some(Leaf::entries_mut(leaf).remove(index))
            }
            Node::Inner(children) => {
                let children = Arc::make_mut(children);
                let at = child_of(children, key);
                let removed = children[at].node.remove(key)?;
                children[at].len -= 1;
                join(children, at);
                Some(removed)
            }
        }
    }

    /// The number of its entries or children, and the limit of that.
    fn width(&self) -> (usize, usize) {
        match self {
            Node::Leaf(leaf) => (leaf.entries.len(), LEAF),
            Node::Inner(children) => (children.len(), CHILDREN),
        }
    }

    /// Appends the entries or children of `right`, whose keys all follow.
    fn append(&mut self, first: Key, right: Node) {
        match (self, right) {
            (Node::Leaf(left), Node::Leaf(right)) => {
                Leaf::entries_mut(left).extend_from_slice(&right.entries);
            }
            (Node::Inner(left), Node::Inner(right)) => {
                let left = Arc::make_mut(left);
                let middle = left.len();
                left.extend_from_slice(&right);
                left[middle].first = first;
            }
            _ => unreachable!("all leaves are at the same depth"),
        }
    }
}

/// The index of the child that a key belongs to.
fn child_of(children: &[Child], key: &Key) -> usize {
    children.partition_point(|child| child.first <= *key).saturating_sub(1)
}

/// Splits off the second half, if there are more than `most`.
fn right_half<T>(all: &mut Vec<T>, most: usize) -> Option<Vec<T>> {
    (all.len() > most).then(|| all.split_off(all.len() / 2))
}

/// Joins a child that has shrunk with a neighbour, if one node can hold both.
fn join(children: &mut Vec<Child>, at: usize) {
    let (width, most) = children[at].node.width();
    if width > most / 2 {
        return;
    }
    let fits = |left: usize| {
        let right = children.get(left + 1)?;
        (children[left].node.width().0 + right.node.width().0 <= most).then_some(left)
    };
    if let Some(left) = at.checked_sub(1).and_then(fits).or_else(|| fits(at)) {
        let right = children.remove(left + 1);
        children[left].len += right.len;
        children[left].node.append(right.first, right.node);
    }
}

impl Leaf {
    fn find(&self, key: &Key) -> Result<usize, usize> {
        self.entries.binary_search_by(|entry| entry.key.cmp(key))
    }

    /// The entries, to be changed: renderings of them are dropped.
    fn entries_mut(leaf: &mut Arc<Leaf>) -> &mut Vec<Arc<Entry>> {
        if Arc::get_mut(leaf).is_none() {
            *leaf = Arc::new(Leaf { entries: leaf.entries.clone(), rendered: Memo::default() });
        }
        let leaf = Arc::get_mut(leaf).expect("a new leaf is not shared");
        leaf.rendered = Memo::default();
        &mut leaf.entries
    }
}

impl FromIterator<Arc<Entry>> for Slice {
    /// Objects that are read in another form than the stored one. Renderings of their leaves are not cached.
    fn from_iter<I: IntoIterator<Item = Arc<Entry>>>(entries: I) -> Self {
        let mut objects = Tree { root: Node::Leaf(Arc::default()), room: Room::new(0) };
        entries.into_iter().for_each(|entry| drop(objects.insert(entry)));
        let ranks = 0..objects.root.len();
        Slice { objects, ranks }
    }
}

impl Slice {
    /// The number of remaining objects.
    pub fn len(&self) -> usize {
        self.ranks.len()
    }

    /// Whether no objects are left.
    pub fn is_empty(&self) -> bool {
        self.ranks.is_empty()
    }

    /// Keeps the first `len` objects only.
    pub fn truncate(&mut self, len: usize) {
        self.ranks.end = self.ranks.end.min(self.ranks.start.saturating_add(len));
    }

    /// The remaining objects.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.objects.range(self.ranks.clone())
    }

    /// The last object.
    pub fn last(&self) -> Option<&Arc<Entry>> {
        self.objects.range(self.ranks.end.max(self.ranks.start + 1) - 1..self.ranks.end).next()
    }

    /// Takes the next object.
    pub fn next_entry(&mut self) -> Option<Arc<Entry>> {
        let entry = self.iter().next()?.clone();
        self.ranks.start += 1;
        Some(entry)
    }

    /// Takes the next objects of one leaf.
    pub fn next_run(&mut self) -> Option<Run> {
        let (leaf, range) = self.objects.leaves(self.ranks.clone()).next()?;
        let run = Run { leaf: leaf.clone(), range, room: self.objects.room.clone() };
        self.ranks.start += run.range.len();
        Some(run)
    }
}

impl Run {
    /// The objects.
    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.leaf.entries[self.range.clone()]
    }

    /// Drops the first `count` objects.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn skip(&mut self, count: usize) {
        assert!(count <= self.range.len(), "{count} of {} objects", self.range.len());
        self.range.start += count;
    }

    /// The objects in `form`, rendered once by `render`, and kept until an object in the leaf changes. `None` if they are
    /// not all objects of the leaf, or if there is no room for `bytes` bytes.
    ///
    /// # Errors
    /// The errors of `render`.
    pub fn rendered<E>(
        &self,
        form: FormId,
        bytes: usize,
        render: impl FnOnce(&[Arc<Entry>]) -> Result<Vec<Bytes>, E>,
    ) -> Result<Option<&[Bytes]>, E> {
        if self.range.len() < self.leaf.entries.len() {
            return Ok(None);
        }
        let place = self.leaf.rendered.place(form);
        if place.get().is_none() {
            let Some(claim) = self.room.claim(bytes) else { return Ok(None) };
            let chunks = render(&self.leaf.entries)?;
            place.get_or_init(|| Rendered { chunks, _room: claim });
        }
        Ok(place.get().map(|rendered| &*rendered.chunks))
    }
}

#[cfg(test)]
mod tests;
