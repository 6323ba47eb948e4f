//! The nodes of a document, in the order of the text, in which aliases refer to others.

use super::events::{Parser, Properties, What};
use super::scan::Scanner;
use super::source::Source;
use crate::deadline::{Deadline, Steps};
use std::collections::HashMap;

/// The nodes of a document. The first is its root.
pub(super) struct Nodes(pub(super) Vec<Node>);

/// A node. Its children follow it.
pub(super) struct Node {
    /// Its line, from 1.
    pub(super) line: usize,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    Scalar {
        text: String,
        plain: bool,
        tag: Option<String>,
    },
    /// With the index of the node behind its children.
    List(usize),
    /// Keys and values by turns; with the index of the node behind its children.
    Object(usize),
    /// The index of the node that it repeats, and the anchor's name.
    Alias(usize, String),
}

impl Nodes {
    /// The index of the node behind a node and its children.
    pub(super) fn behind(&self, at: usize) -> usize {
        match self.0[at].kind {
            Kind::List(end) | Kind::Object(end) => end,
            Kind::Scalar { .. } | Kind::Alias(..) => at + 1,
        }
    }
}

/// Reads the first document; no nodes if there is none.
///
/// # Errors
/// If it is not YAML, or the deadline has passed.
pub(super) fn read(source: &Source<'_>, deadline: &Deadline) -> Result<Nodes, String> {
    let steps = Steps::until(deadline);
    let (mut nodes, mut open, mut anchors) = (Vec::new(), Vec::new(), HashMap::new());
    let mut parser = Parser::new(Scanner::new(&source.text, source.bad));
    loop {
        steps.step().map_err(|passed| passed.to_string())?;
        let event = parser.next().map_err(|problem| problem.to_string())?;
        let at = nodes.len();
        let (kind, anchor) = match event.what {
            What::Scalar { text, plain, properties: Properties { anchor, tag } } => {
                (Kind::Scalar { text, plain, tag }, anchor)
            }
            What::Alias(name) => match anchors.get(&name) {
                Some(target) => (Kind::Alias(*target, name), None),
                None => return Err(format!("unknown anchor '{name}' referenced")),
            },
            What::ListStart(properties) => (Kind::List(0), properties.anchor),
            What::ObjectStart(properties) => (Kind::Object(0), properties.anchor),
            What::End => {
                if let Some(begin) = open.pop() {
                    let begin: &mut Node = &mut nodes[begin];
                    if let Kind::List(end) | Kind::Object(end) = &mut begin.kind {
                        *end = at;
                    }
                }
                continue;
            }
            What::DocumentEnd => return Ok(Nodes(nodes)),
        };
        if let Some(anchor) = anchor {
            anchors.insert(anchor, at);
        }
        if matches!(kind, Kind::List(_) | Kind::Object(_)) {
            open.push(at);
        }
        nodes.push(Node { line: event.line + 1, kind });
    }
}
