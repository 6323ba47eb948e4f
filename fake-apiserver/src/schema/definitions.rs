//! A text of types by what its lines define, unread: the types of a kind can be read without those of all others.

use super::data::DataError;
use std::collections::HashMap;

/// The definitions of a text.
pub(super) struct Definitions<'d> {
    /// In the order of the text.
    pub(super) kinds: Vec<KindLine<'d>>,
    /// By the names that they define: the line that begins a type, and those below it.
    blocks: HashMap<&'d str, &'d str>,
    /// The names, in the order of the text.
    pub(super) names: Vec<&'d str>,
}

/// Which type the bodies of a kind hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct KindLine<'d> {
    pub(super) api_version: &'d str,
    pub(super) kind: &'d str,
    pub(super) type_name: &'d str,
}

impl<'d> Definitions<'d> {
    /// # Errors
    /// If a line defines nothing, or what is defined already.
    pub(super) fn of(mut text: &'d str) -> Result<Self, DataError> {
        let mut definitions = Definitions { kinds: Vec::new(), blocks: HashMap::new(), names: Vec::new() };
        while !text.is_empty() {
            let (block, rest) = text.split_at(block_end(text));
            definitions.add(block)?;
            text = rest;
        }
        Ok(definitions)
    }

    /// The lines that define the type of that name.
    pub(super) fn block(&self, name: &str) -> Option<&'d str> {
        self.blocks.get(name).copied()
    }

    fn add(&mut self, block: &'d str) -> Result<(), DataError> {
        let (first, below) = block.split_once('\n').unwrap_or((block, ""));
        let mut words = first.split(' ');
        match (words.next(), words.next(), words.next(), words.next(), words.next()) {
            (Some(comment), ..) if comment.starts_with('#') && below.is_empty() => {}
            (Some("kind"), Some(api_version), Some(kind), Some(type_name), None) if below.is_empty() => {
                self.kinds.push(KindLine { api_version, kind, type_name });
            }
            (Some("struct" | "union" | "leaf" | "type" | "message"), Some(name), ..) => {
                if self.blocks.insert(name, block).is_some() {
                    return Err(DataError(format!("{name} is defined twice")));
                }
                self.names.push(name);
            }
            _ => return Err(DataError::not_a_line(first)),
        }
        Ok(())
    }
}

/// Where the next line begins that is not below the first.
fn block_end(text: &str) -> usize {
    let mut end = 0;
    loop {
        let Some(line) = text[end..].find('\n') else { return text.len() };
        end += line + 1;
        if !text[end..].starts_with(' ') {
            return end;
        }
    }
}
