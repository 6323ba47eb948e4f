//! The JSON of nodes that are nested too deeply for a tree: text, which is made without recursion.

use super::nodes::{Kind, Nodes};
use super::scalar::{self, Scalar};
use crate::json::encode;
use tree::Value;

/// A list or object that is being written.
struct Open {
    is_object: bool,
    /// The index of the node behind it.
    end: usize,
    /// How many keys, values or items were written.
    written: usize,
}

/// The JSON of a node and its children; `None` if there are aliases among them, or keys or values that JSON does not have.
pub(super) fn json(nodes: &Nodes, at: usize) -> Option<String> {
    let (mut text, mut open) = (Vec::new(), Vec::<Open>::new());
    let end = nodes.behind(at);
    for index in at..end {
        close(&mut open, index, &mut text);
        let is_key = open.last_mut().is_some_and(|open| {
            let is_key = open.is_object && open.written.is_multiple_of(2);
            if open.written > 0 {
                text.push(if open.is_object && !is_key { b':' } else { b',' });
            }
            open.written += 1;
            is_key
        });
        match &nodes.0[index].kind {
            Kind::Scalar { text: merge, plain: true, .. } if is_key && merge == "<<" => return None,
            Kind::Scalar { text: word, plain, tag } => {
                let Ok(Scalar::Value(value)) = scalar::value(word, *plain, tag.as_deref()) else { return None };
                let value = if is_key { name(value)? } else { value };
                text.extend(encode(&value));
            }
            Kind::List(end) if !is_key => {
                text.push(b'[');
                open.push(Open { is_object: false, end: *end, written: 0 });
            }
            Kind::Object(end) if !is_key => {
                text.push(b'{');
                open.push(Open { is_object: true, end: *end, written: 0 });
            }
            _ => return None,
        }
    }
    close(&mut open, end, &mut text);
    String::from_utf8(text).ok()
}

/// Ends the lists and objects that end before a node.
fn close(open: &mut Vec<Open>, at: usize, text: &mut Vec<u8>) {
    while let Some(ended) = open.pop_if(|open| open.end == at) {
        text.push(if ended.is_object { b'}' } else { b']' });
    }
}

fn name(key: Value) -> Option<Value> {
    match key {
        Value::String(_) => Some(key),
        Value::Bool(on) => Some(on.to_string().into()),
        Value::Number(number) => Some(scalar::printed(&number).into()),
        _ => None,
    }
}
