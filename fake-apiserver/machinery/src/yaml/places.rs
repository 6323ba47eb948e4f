//! The lines where the parts of a document are: what a reader of an error looks for.

use super::nodes::{Kind, Nodes, read};
use super::source;
use crate::deadline::Deadline;

/// The lines, from 1, of parts of the first document. A step of a path is the name of a field or the index of an item; where the document has
/// no such part, the line is that of the last one on the way. `None` if the document has no value, or is not YAML.
pub fn lines(text: &[u8], paths: &[Vec<&str>]) -> Option<Vec<usize>> {
    let nodes = read(&source::read(text), &Deadline::default()).ok()?;
    paths.iter().map(|path| line(&nodes, path)).collect()
}

fn line(nodes: &Nodes, path: &[&str]) -> Option<usize> {
    let mut line = nodes.0.first()?.line;
    let mut at = 0;
    for step in path {
        if let Kind::Alias(target, _) = nodes.0[at].kind {
            at = target;
        }
        let found = match nodes.0[at].kind {
            Kind::List(end) => item(nodes, at, end, step),
            Kind::Object(end) => field(nodes, at, end, step),
            Kind::Scalar { .. } | Kind::Alias(..) => None,
        };
        let Some((place, value)) = found else { break };
        (line, at) = (nodes.0[place].line, value);
    }
    Some(line)
}

/// The item of a list, as the node where it begins and the node of its value.
fn item(nodes: &Nodes, list: usize, end: usize, step: &str) -> Option<(usize, usize)> {
    let index: usize = step.parse().ok()?;
    let mut next = list + 1;
    for _ in 0..index {
        next = if next < end { nodes.behind(next) } else { return None };
    }
    (next < end).then_some((next, next))
}

/// The field of an object, as the node of its name and that of its value.
fn field(nodes: &Nodes, object: usize, end: usize, step: &str) -> Option<(usize, usize)> {
    let mut next = object + 1;
    while next < end {
        let value = nodes.behind(next);
        if matches!(&nodes.0[next].kind, Kind::Scalar { text, .. } if text == step) {
            return Some((next, value));
        }
        next = nodes.behind(value);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_where_the_text_has_them() {
        let text = b"# a pod\na: 1\nb:\n- c: 2\n  d:\n    e: {f: 3}\n- [4,\n   5]\n\"a.b/c\": &x\n  g: 6\nh: *x\n";
        for (path, expected) in [
            (&[][..], 2),
            (&["a"], 2),
            (&["b"], 3),
            (&["b", "0", "c"], 4),
            (&["b", "0", "d", "e", "f"], 6),
            (&["b", "1", "1"], 8),
            (&["b", "7"], 3),
            (&["b", "0", "none", "of", "these"], 4),
            (&["a.b/c", "g"], 10),
            (&["h", "g"], 10),
        ] {
            assert_eq!(lines(text, &[path.to_vec()]), Some(vec![expected]), "{path:?}");
        }
        let none = [vec!["a"]];
        assert_eq!((lines(b"# nothing\n", &none), lines(b"a: [", &none)), (None, None));
    }
}
