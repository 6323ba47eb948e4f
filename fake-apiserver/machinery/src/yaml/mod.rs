//! YAML: bodies, as sigs.k8s.io/yaml v1.6.0 and go.yaml.in/yaml/v2 v2.4.4 read them: the first document, in which plain
//! scalars mean what they do in YAML 1.1. JSON is YAML, too.
//!
//! ```text
//!   bytes ── source.rs ──▶ text ── scan/ ──▶ tokens ── events.rs ──▶ events ── nodes.rs ──▶ nodes, in the order of the text
//!                                                                                            │ aliases refer
//!                                                            a tree of JSON ◀── decode.rs ───┘ aliases repeat
//! ```
//! Most bodies are JSON that any reader of YAML takes for the same: they are read as JSON (`plain.rs`).
//!
//! Replies are printed (`print/`).

mod cursor;
mod decode;
mod deep;
mod document;
mod events;
mod nodes;
mod places;
mod plain;
mod print;
mod scalar;
mod scan;
mod source;
#[cfg(test)]
mod vectors;

pub use document::Document;
pub use document::warnings;
pub use places::lines;
pub use print::in_line;
pub use print::print;

use crate::deadline::Deadline;
use crate::schema;

/// Reads the first document.
///
/// # Errors
/// If it is not YAML, cannot be JSON, or is nested more than 120 deep; or if the deadline has passed.
pub fn parse(text: &[u8], deadline: &Deadline) -> Result<Document, String> {
    let document = parse_unpruned(text, deadline)?;
    schema::check_depth(&document.value).map_err(|why| format!("yaml: {why}"))?;
    Ok(document)
}

/// Reads the first document, but keeps what is nested too deeply as text in JSON: pruning may remove it.
///
/// # Errors
/// If it is not YAML, or cannot be JSON; or if the deadline has passed.
pub fn parse_unpruned(text: &[u8], deadline: &Deadline) -> Result<Document, String> {
    if let Some(value) = plain::parse(text) {
        debug_assert_eq!(
            parse_yaml(text, &Deadline::default()),
            Ok(Document { value: value.clone(), repeated: Vec::new() })
        );
        return Ok(Document { value, repeated: Vec::new() });
    }
    parse_yaml(text, deadline)
}

fn parse_yaml(text: &[u8], deadline: &Deadline) -> Result<Document, String> {
    let nodes = nodes::read(&source::read(text), deadline).map_err(|why| format!("yaml: {why}"))?;
    decode::decode(&nodes, deadline)
}
