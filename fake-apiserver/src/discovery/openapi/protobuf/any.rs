//! Values of any type, which messages hold as YAML: what `yaml.Marshal` of go.yaml.in/yaml/v3 (v3.0.4) prints of a node without a style.

use super::node::Node;
use crate::yaml::in_line;

/// The columns of a level, but for objects in lists, which have two.
const INDENT: usize = 4;

/// The YAML of a value.
pub(super) fn yaml(node: &Node) -> String {
    let mut text = String::new();
    write(&mut text, node, 0, false);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Appends a value that begins at that column; `is_member`: behind the key of an object, which began at that column.
fn write(text: &mut String, node: &Node, column: usize, is_member: bool) {
    let next = INDENT * (column / INDENT + 1);
    let inner = if is_member { next } else { column };
    match node {
        Node::List(items) if items.is_empty() => text.push_str("[]"),
        Node::Object(members) if members.is_empty() => text.push_str("{}"),
        Node::List(items) => {
            for (number, item) in items.iter().enumerate() {
                begin(text, inner, is_member || number > 0);
                text.push_str("- ");
                write(text, item, inner + 2, false);
            }
        }
        Node::Object(members) => {
            for (number, (name, value)) in members.iter().enumerate() {
                begin(text, inner, is_member || number > 0);
                text.push_str(&in_line(name));
                let is_block = matches!(value, Node::List(items) if !items.is_empty());
                text.push_str(if is_block || !value.members().is_empty() { ":" } else { ": " });
                write(text, value, inner, true);
            }
        }
        Node::Null => text.push_str("null"),
        Node::Bool(value) => text.push_str(&value.to_string()),
        Node::Number(number) => text.push_str(&number.to_string()),
        Node::Text(value)
            if value.contains('\n') && value.chars().all(|letter| letter == '\n' || !letter.is_control()) =>
        {
            block(text, value, next);
        }
        Node::Text(value) => text.push_str(&in_line(value)),
    }
}

/// Begins a line, unless the value begins in one that has begun.
fn begin(text: &mut String, column: usize, is_new: bool) {
    if is_new {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.extend(std::iter::repeat_n(' ', column));
    }
}

/// A text of several lines, as it is.
fn block(text: &mut String, value: &str, column: usize) {
    text.push('|');
    if value.starts_with([' ', '\n']) {
        text.push_str(&INDENT.to_string());
    }
    match value.strip_suffix('\n') {
        None => text.push('-'),
        Some(rest) if rest.is_empty() || rest.ends_with('\n') => text.push('+'),
        Some(_) => {}
    }
    for line in value.strip_suffix('\n').unwrap_or(value).split('\n') {
        text.push('\n');
        if !line.is_empty() {
            text.extend(std::iter::repeat_n(' ', column));
            text.push_str(line);
        }
    }
    text.push('\n');
}
