//! Sets of fields, and their JSON form `fieldsV1`
//! (`fieldpath/set.go` and `serialize.go` of `sigs.k8s.io/structured-merge-diff/v6`, v6.4.2).

use super::element::Element;
use std::fmt::Write as _;
use std::iter;

/// A set of fields, as a trie: each child may be a member, and have members below it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Set {
    /// In the order of their elements. Each is a member, or has members below it.
    nodes: Vec<Node>,
}

/// A child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) element: Element,
    pub(super) member: bool,
    pub(super) below: Set,
}

impl Node {
    fn is_empty(&self) -> bool {
        !self.member && self.below.is_empty()
    }
}

impl Set {
    /// The set of these paths, each of names of fields: `&[&["metadata", "labels"]]`.
    pub fn of_fields(paths: &[&[&str]]) -> Set {
        let mut set = Set::default();
        for path in paths {
            set.insert(&path.iter().map(|name| Element::field(name)).collect::<Vec<_>>());
        }
        set
    }

    /// Whether it has no members.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Adds a child behind the others, and whatever is below it. [`Set::sort`] has to follow, unless they come in order.
    pub(super) fn push(&mut self, element: Element, member: bool, below: Set) {
        let node = Node { element, member, below };
        if !node.is_empty() {
            self.nodes.push(node);
        }
    }

    /// Puts the children in order, and unites those that were added twice.
    pub(super) fn sort(&mut self) {
        if self.nodes.is_sorted_by(|one, other| one.element < other.element) {
            return;
        }
        self.nodes.sort_by(|one, other| one.element.cmp(&other.element));
        self.nodes.dedup_by(|later, earlier| {
            let same = later.element == earlier.element;
            if same {
                earlier.member |= later.member;
                earlier.below = std::mem::take(&mut earlier.below).union(std::mem::take(&mut later.below));
            }
            same
        });
    }

    /// The child of that element.
    pub(super) fn node(&self, element: &Element) -> Option<&Node> {
        self.find(element).ok().map(|at| &self.nodes[at])
    }

    /// The child that is a field of that name.
    pub(super) fn field(&self, name: &str) -> Option<&Node> {
        let is_it = |node: &&Node| matches!(&node.element, Element::Field(own) if own == name);
        self.nodes.iter().find(is_it)
    }

    fn find(&self, element: &Element) -> Result<usize, usize> {
        self.nodes.binary_search_by(|node| node.element.cmp(element))
    }

    /// Adds a path; that of the whole object adds nothing.
    pub fn insert(&mut self, path: &[Element]) {
        let Some((first, rest)) = path.split_first() else { return };
        let at = self.find(first).unwrap_or_else(|at| {
            self.nodes.insert(at, Node { element: first.clone(), member: false, below: Set::default() });
            at
        });
        match rest.is_empty() {
            true => self.nodes[at].member = true,
            false => self.nodes[at].below.insert(rest),
        }
    }

    /// Whether the child itself is a member.
    pub fn has_member(&self, element: &Element) -> bool {
        self.find(element).is_ok_and(|at| self.nodes[at].member)
    }

    /// Whether the field at a path is a member.
    pub fn has(&self, path: &[Element]) -> bool {
        match path.split_first() {
            None => false,
            Some((last, [])) => self.has_member(last),
            Some((first, rest)) => self.below(first).is_some_and(|below| below.has(rest)),
        }
    }

    /// Whether the fields that select an item of a list are members in all items.
    pub fn has_keys(&self) -> bool {
        self.nodes.iter().all(|node| {
            let has = |name: &str| node.below.has_member(&Element::field(name));
            let is_keyed = match &node.element {
                Element::Key(fields) => fields.iter().all(|(name, _)| has(name)),
                _ => true,
            };
            is_keyed && node.below.has_keys()
        })
    }

    /// The fields below a child; `None` if there are none.
    pub fn below(&self, element: &Element) -> Option<&Set> {
        let at = self.find(element).ok()?;
        Some(&self.nodes[at].below).filter(|below| !below.is_empty())
    }

    /// The fields that are in either set; a field in both is written as in `other`.
    #[must_use]
    pub fn union(self, other: Set) -> Set {
        if self.is_empty() || other.is_empty() {
            return if self.is_empty() { other } else { self };
        }
        let mut nodes: Vec<Node> = Vec::with_capacity(self.nodes.len() + other.nodes.len());
        let mut others = other.nodes.into_iter().peekable();
        for mut node in self.nodes {
            while let Some(other) = others.next_if(|other| other.element < node.element) {
                nodes.push(other);
            }
            if let Some(other) = others.next_if(|other| other.element == node.element) {
                // Equal numbers may be written in two ways, one of them rounded.
                node.element = other.element;
                node.member |= other.member;
                node.below = node.below.union(other.below);
            }
            nodes.push(node);
        }
        nodes.extend(others);
        Set { nodes }
    }

    /// The fields that are in any of the sets; a field in several is written as in the last of them.
    #[must_use]
    pub fn union_of(mut sets: Vec<Set>) -> Set {
        // By pairs, so that each field is moved only a few times.
        while sets.len() > 1 {
            let mut all = sets.into_iter();
            sets = iter::from_fn(|| Some(all.next()?.union(all.next().unwrap_or_default()))).collect();
        }
        sets.pop().unwrap_or_default()
    }

    /// The fields that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Set) -> Set {
        let mut result = Set::default();
        let mut others = &other.nodes[..];
        for node in &self.nodes {
            others = from(others, &node.element);
            if let Some(other) = others.first().filter(|other| other.element == node.element) {
                let below = node.below.intersection(&other.below);
                result.push(node.element.clone(), node.member && other.member, below);
            }
        }
        result
    }

    /// The fields that are not in the other set. Those below its members stay.
    #[must_use]
    pub fn difference(mut self, other: &Set) -> Set {
        self.subtract(other, false);
        self
    }

    /// The fields that are neither in the other set nor below one of its members.
    #[must_use]
    pub fn recursive_difference(mut self, other: &Set) -> Set {
        self.subtract(other, true);
        self
    }

    fn subtract(&mut self, other: &Set, recursive: bool) {
        let mut others = &other.nodes[..];
        self.nodes.retain_mut(|node| {
            others = from(others, &node.element);
            if let Some(other) = others.first().filter(|other| other.element == node.element) {
                if recursive && other.member {
                    return false;
                }
                node.member &= !other.member;
                node.below.subtract(&other.below, recursive);
            }
            !node.is_empty()
        });
    }

    /// The paths of all members as messages show them: those of an object before those below its fields.
    pub fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect("", &mut paths);
        paths
    }

    fn collect(&self, at: &str, paths: &mut Vec<String>) {
        let path = |node: &Node| {
            let mut path = at.to_owned();
            write!(path, "{}", node.element).expect("writing to a String cannot fail");
            path
        };
        paths.extend(self.nodes.iter().filter(|node| node.member).map(path));
        for node in self.nodes.iter().filter(|node| !node.below.is_empty()) {
            node.below.collect(&path(node), paths);
        }
    }
}

/// The nodes from an element on: found by steps that double, so that those behind it cost nothing.
fn from<'n>(nodes: &'n [Node], element: &Element) -> &'n [Node] {
    let is_before = |node: &Node| node.element < *element;
    let mut end = 1;
    while end < nodes.len() && is_before(&nodes[end - 1]) {
        end *= 2;
    }
    let end = end.min(nodes.len());
    &nodes[nodes[..end].partition_point(is_before)..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn nodes_are_found_from_an_element_on() {
        let mut set = Set::default();
        (10..60).step_by(2).for_each(|number| set.insert(&[Element::field(&number.to_string())]));
        for number in 9..62 {
            let element = Element::field(&number.to_string());
            let expected: Vec<_> = set.nodes.iter().filter(|node| node.element >= element).collect();
            assert_eq!(from(&set.nodes, &element).iter().collect::<Vec<_>>(), expected, "{number}");
        }
    }

    #[test]
    fn sets_keep_their_form() {
        for fields in [
            json!({}),
            json!({"f:data": {".": {}, "f:a": {}}, "f:metadata": {"f:finalizers": {".": {}, "v:\"x/y\"": {}}}}),
            json!({"f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}}}, "f:x": {"i:3": {}}}),
        ] {
            assert_eq!(Set::parse(&fields).unwrap().print(), fields);
        }
        assert_eq!(Set::parse(&json!({"x:future": {}, "f:a": null})).unwrap().print(), json!({"f:a": {}}));
        for malformed in [json!([]), json!({"a": {}}), json!({"f:a": 1}), json!({"k:[]": {}}), json!({"i:x": {}})] {
            assert!(Set::parse(&malformed).is_err(), "{malformed}");
        }
    }

    #[test]
    fn differences_spare_what_is_below_unless_told() {
        let set = |fields| Set::parse(&fields).unwrap();
        let all = set(json!({"f:a": {".": {}, "f:b": {}}, "f:c": {}}));
        let parent = set(json!({"f:a": {}}));
        assert_eq!(all.clone().difference(&parent).print(), json!({"f:a": {"f:b": {}}, "f:c": {}}));
        assert_eq!(all.clone().recursive_difference(&parent).print(), json!({"f:c": {}}));
        assert_eq!(all.intersection(&parent), parent);
        assert_eq!(parent.clone().union(all.clone()), all);
        assert_eq!(Set::union_of(vec![parent.clone(), Set::default(), set(json!({"f:c": {}})), all.clone()]), all);
        assert_eq!(Set::union_of(Vec::new()), Set::default());
        assert_eq!(all.paths(), [".a", ".c", ".a.b"]);
    }
}
