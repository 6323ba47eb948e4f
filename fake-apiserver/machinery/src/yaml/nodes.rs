//! The nodes of a document, in the order of the text, in which aliases refer to others.

use super::words;
use crate::schema::MAX_DEPTH;
use granit_parser::{Event, Options, Parser, ScalarStyle};
use std::borrow::Cow;
use std::collections::HashMap;

/// The nodes of a document. The first is its root.
pub(super) struct Nodes<'t>(pub(super) Vec<Node<'t>>);

/// A node. Its children follow it.
pub(super) struct Node<'t> {
    /// Its line, from 1.
    pub(super) line: usize,
    pub(super) kind: Kind<'t>,
}

pub(super) enum Kind<'t> {
    Scalar {
        text: Cow<'t, str>,
        plain: bool,
        tag: Option<Box<str>>,
    },
    /// With the index of the node behind its children.
    List(usize),
    /// Keys and values by turns; with the index of the node behind its children.
    Object(usize),
    /// The index of the node that it repeats, and the anchor's name.
    Alias(usize, &'t str),
}

impl Nodes<'_> {
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
/// If it is not YAML, or too deep.
pub(super) fn read(text: &str) -> Result<Nodes<'_>, String> {
    let (mut nodes, mut open, mut anchors) = (Vec::new(), Vec::new(), HashMap::new());
    let mut options = Options::default();
    (options.flow_nesting_limit, options.block_nesting_limit) = (MAX_DEPTH + 1, MAX_DEPTH + 1);
    (options.strict_indentation, options.emit_unresolved_aliases) = (false, true);
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|why| words::refusal(text, &why))?;
        let at = nodes.len();
        let (anchor, kind) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.map(|tag| tag.to_string().into_boxed_str());
                let plain = style == ScalarStyle::Plain;
                (anchor, Kind::Scalar { text, plain, tag })
            }
            Event::Alias(anchor) => {
                let name = span.byte_range().and_then(|range| text.get(range)).unwrap_or_default();
                let target = anchors.get(&anchor).copied().unwrap_or_default();
                (0, Kind::Alias(target, name.trim_start_matches('*')))
            }
            Event::UnresolvedAlias(name) => return Err(format!("unknown anchor '{name}' referenced")),
            Event::SequenceStart(_, anchor, _) => (anchor, Kind::List(0)),
            Event::MappingStart(_, anchor, _) => (anchor, Kind::Object(0)),
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(begin) = open.pop() {
                    let begin: &mut Node<'_> = &mut nodes[begin];
                    if let Kind::List(end) | Kind::Object(end) = &mut begin.kind {
                        *end = at;
                    }
                }
                if open.is_empty() {
                    break;
                }
                continue;
            }
            Event::DocumentEnd => break,
            _ => continue,
        };
        if anchor > 0 {
            anchors.insert(anchor, at);
        }
        if matches!(kind, Kind::List(_) | Kind::Object(_)) {
            open.push(at);
            if open.len() > MAX_DEPTH {
                return Err(format!("exceeded max depth of {MAX_DEPTH}"));
            }
        }
        nodes.push(Node { line: span.start.line(), kind });
        if open.is_empty() {
            break;
        }
    }
    Ok(Nodes(nodes))
}
