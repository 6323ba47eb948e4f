//! YAML: bodies, as sigs.k8s.io/yaml v1.6.0 and go.yaml.in/yaml/v2 v2.4.4 read them: the first document, in which plain
//! scalars mean what they do in YAML 1.1. JSON is YAML, too.
//!
//! ```text
//!   text ── nodes.rs ──▶ nodes, in the order of the text ── decode.rs ──▶ a tree of JSON
//!            aliases refer                                   aliases repeat
//! ```
//! Most bodies are JSON that any reader of YAML takes for the same: they are read as JSON (`plain.rs`).
//!
//! Refusals of text that is not YAML have Go's words (`words.rs`), but not in all cases. The parser is one of YAML 1.2: it refuses some
//! texts that Go's takes, such as a quoted string whose next line is not indented (`vectors.rs` has them). Replies are printed (`print/`).

mod decode;
mod document;
mod nodes;
mod plain;
mod print;
mod scalar;
#[cfg(test)]
mod vectors;
mod words;

pub use document::Document;
pub use document::warnings;
pub use print::in_line;
pub use print::print;

/// Reads the first document.
///
/// # Errors
/// If it is not YAML, or cannot be JSON.
pub fn parse(text: &[u8]) -> Result<Document, String> {
    if let Some(value) = plain::parse(text) {
        debug_assert_eq!(parse_yaml(text), Ok(Document { value: value.clone(), repeated: Vec::new() }));
        return Ok(Document { value, repeated: Vec::new() });
    }
    parse_yaml(text)
}

fn parse_yaml(text: &[u8]) -> Result<Document, String> {
    let yaml = |why: String| format!("yaml: {why}");
    let text = str::from_utf8(text).map_err(|why| yaml(not_utf8(text, why.valid_up_to())))?;
    if !text.chars().all(is_allowed) {
        return Err(yaml("control characters are not allowed".to_owned()));
    }
    if let Some(why) = words::tab_before_all(text) {
        return Err(yaml(why));
    }
    let nodes = nodes::read(text).map_err(yaml)?;
    decode::decode(&nodes)
}

/// The problem of bytes that are not UTF-8 (`yaml_parser_update_buffer` of readerc.go).
fn not_utf8(text: &[u8], at: usize) -> String {
    let length = match text[at] {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        _ => return "invalid leading UTF-8 octet".to_owned(),
    };
    let Some(rest) = text.get(at + 1..at + length) else { return "incomplete UTF-8 octet sequence".to_owned() };
    let trails = rest.iter().all(|octet| octet & 0xC0 == 0x80);
    let problem = match trails {
        false => "invalid trailing UTF-8 octet",
        true if matches!(text[at..at + 2], [0xC0 | 0xC1, _] | [0xE0, ..0xA0] | [0xF0, ..0x90]) => {
            "invalid length of a UTF-8 sequence"
        }
        true => "invalid Unicode character",
    };
    problem.to_owned()
}

/// Whether a character may stand in YAML.
fn is_allowed(letter: char) -> bool {
    matches!(letter, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}
