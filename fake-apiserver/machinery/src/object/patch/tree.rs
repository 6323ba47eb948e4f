//! A document to which a JSON Patch is applied: a tree with the heights of its nodes, whose long lists insert at the front as
//! fast as at the end.

use super::echo::Read;
use crate::json;
use serde::ser::{Serialize, Serializer};
use std::collections::BTreeMap;
use tree::Value;

/// A value in the document.
#[derive(Clone)]
pub(super) struct Node {
    content: Content,
    height: usize,
    /// Whether operations looked into it, or brought it along: then its keys are sorted in messages.
    read: bool,
}

#[derive(Clone)]
pub(super) enum Content {
    /// Neither an object nor an array.
    Scalar(Value),
    Object(BTreeMap<String, Node>),
    Array(Items),
}

impl Node {
    /// The value of a missing key.
    pub(super) const NULL: Node = Node { content: Content::Scalar(Value::Null), height: 0, read: false };

    pub(super) fn content_mut(&mut self) -> &mut Content {
        &mut self.content
    }

    /// The depth of objects and arrays in it, itself included, or the greatest it had earlier.
    pub(super) fn height(&self) -> usize {
        self.height
    }

    /// Raises the height to at least `height`, as an operation looks into it to put something there.
    pub(super) fn raise(&mut self, height: usize) {
        self.height = self.height.max(height);
        self.read = true;
    }

    /// The node, all of which was read.
    pub(super) fn all_read(mut self) -> Node {
        self.compared();
        self
    }

    /// Notes that all of it was read.
    pub(super) fn compared(&mut self) {
        self.read = true;
        match &mut self.content {
            Content::Scalar(_) => {}
            Content::Object(fields) => fields.values_mut().for_each(Node::compared),
            Content::Array(items) => items.chunks.iter_mut().flatten().for_each(Node::compared),
        }
    }

    /// The part of it that was read.
    pub(super) fn read(&self) -> Option<Read> {
        let part = |(key, node): (String, &Node)| Some((key, node.read()?));
        match &self.content {
            _ if !self.read => None,
            Content::Scalar(_) => None,
            Content::Object(fields) => {
                Some(Read::of(fields.iter().map(|(key, node)| (key.clone(), node)).filter_map(part)))
            }
            Content::Array(items) => {
                let items = items.iter().enumerate();
                Some(Read::of(items.map(|(index, node)| (index.to_string(), node)).filter_map(part)))
            }
        }
    }

    /// The length of its JSON, as Go writes it.
    pub(super) fn json_bytes(&self) -> usize {
        match &self.content {
            Content::Scalar(Value::Null) => 0,
            _ => json::encode(self).len(),
        }
    }
}

impl From<Value> for Node {
    fn from(value: Value) -> Node {
        let mut below = 0;
        let mut child = |value: Value| {
            let node = Node::from(value);
            below = below.max(node.height);
            node
        };
        let content = match value {
            Value::Object(fields) => {
                Content::Object(fields.into_iter().map(|(key, value)| (key.into(), child(value))).collect())
            }
            Value::Array(items) => Content::Array(items.into_iter().map(child).collect()),
            scalar => return Node { content: Content::Scalar(scalar), height: 0, read: false },
        };
        Node { content, height: below + 1, read: false }
    }
}

impl From<Node> for Value {
    fn from(node: Node) -> Value {
        match node.content {
            Content::Scalar(value) => value,
            Content::Object(fields) => {
                Value::Object(fields.into_iter().map(|(key, node)| (key, Value::from(node))).collect())
            }
            Content::Array(items) => Value::Array(items.chunks.into_iter().flatten().map(Value::from).collect()),
        }
    }
}

impl PartialEq<Value> for Node {
    fn eq(&self, other: &Value) -> bool {
        match (&self.content, other) {
            (Content::Scalar(own), other) => own == other,
            (Content::Object(own), Value::Object(other)) => {
                own.len() == other.len()
                    && own.iter().zip(other).all(|((key, node), (other, value))| key == other && node == value)
            }
            (Content::Array(own), Value::Array(other)) => {
                own.len() == other.len() && own.iter().zip(other).all(|(node, value)| node == value)
            }
            _ => false,
        }
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.content {
            Content::Scalar(value) => value.serialize(serializer),
            Content::Object(fields) => serializer.collect_map(fields),
            Content::Array(items) => serializer.collect_seq(items.iter()),
        }
    }
}

/// The items of an array in chunks, so that no operation moves more of them than a chunk holds.
#[derive(Clone, Default)]
pub(super) struct Items {
    /// The chunks, of at least one item and at most `CHUNK`.
    chunks: Vec<Vec<Node>>,
    length: usize,
}

const CHUNK: usize = 1024;

impl Items {
    pub(super) fn len(&self) -> usize {
        self.length
    }

    fn iter(&self) -> impl Iterator<Item = &Node> {
        self.chunks.iter().flatten()
    }

    /// The chunk with an index, and the index in there; for the length, one behind the last item.
    fn place(&self, index: usize) -> (usize, usize) {
        let mut rest = index;
        let last = self.chunks.len().saturating_sub(1);
        for (at, chunk) in self.chunks.iter().enumerate() {
            if rest < chunk.len() || at == last {
                return (at, rest);
            }
            rest -= chunk.len();
        }
        (0, rest)
    }

    pub(super) fn get(&self, index: usize) -> Option<&Node> {
        let (chunk, index) = self.place(index);
        self.chunks.get(chunk)?.get(index)
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Node> {
        let (chunk, index) = self.place(index);
        self.chunks.get_mut(chunk)?.get_mut(index)
    }

    /// Inserts before the item of that index.
    ///
    /// # Panics
    /// If the index is beyond the length.
    pub(super) fn insert(&mut self, index: usize, node: Node) {
        assert!(index <= self.length, "an index within the array");
        let (mut at, mut index) = self.place(index);
        match self.chunks.get_mut(at) {
            None => self.chunks.push(Vec::new()),
            Some(chunk) if chunk.len() == CHUNK => {
                let upper = chunk.split_off(CHUNK / 2);
                self.chunks.insert(at + 1, upper);
                if index > CHUNK / 2 {
                    (at, index) = (at + 1, index - CHUNK / 2);
                }
            }
            Some(_) => {}
        }
        self.chunks[at].insert(index, node);
        self.length += 1;
    }

    pub(super) fn remove(&mut self, index: usize) -> Option<Node> {
        let (at, index) = self.place(index);
        let chunk = self.chunks.get_mut(at).filter(|chunk| index < chunk.len())?;
        let node = chunk.remove(index);
        if chunk.is_empty() {
            self.chunks.remove(at);
        }
        self.length -= 1;
        Some(node)
    }
}

impl FromIterator<Node> for Items {
    fn from_iter<I: IntoIterator<Item = Node>>(nodes: I) -> Items {
        let mut items = Items::default();
        for node in nodes {
            match items.chunks.last_mut() {
                Some(chunk) if chunk.len() < CHUNK => chunk.push(node),
                _ => items.chunks.push(vec![node]),
            }
            items.length += 1;
        }
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The items compared with a plain vector, over several chunks.
    #[test]
    fn items_are_where_they_were_put() {
        let random = &mut fastrand::Rng::with_seed(1);
        let mut expected: Vec<usize> = (0..3 * CHUNK).collect();
        let mut items: Items = expected.iter().map(|value| Node::from(Value::from(*value))).collect();
        for round in 0..6_000 {
            let index = random.usize(..=expected.len());
            if round % 5 < 2 + (round / 3_000) * 2 && index < expected.len() {
                assert!(items.remove(index).unwrap() == Value::from(expected.remove(index)));
            } else {
                items.insert(index, Node::from(Value::from(round)));
                expected.insert(index, round);
            }
        }
        assert!(items.chunks.iter().all(|chunk| (1..=CHUNK).contains(&chunk.len())));
        assert_eq!(items.len(), expected.len());
        assert!(expected.iter().enumerate().all(|(index, value)| *items.get(index).unwrap() == Value::from(*value)));
        assert!(items.get(items.len()).is_none() && items.remove(items.len()).is_none());
    }
}
