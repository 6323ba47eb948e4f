//! The static token file: `token,user,uid,"group1,group2"` on each line.
//!
//! Ports `token/tokenfile/tokenfile.go` of `k8s.io/apiserver` (v0.37.1) and as much of Go's `encoding/csv` as it
//! needs, so that the same files are read and the same are refused, in the same words.

use super::User;
use std::collections::{BTreeMap, HashMap};

/// The error of an invalid file.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenFileError {
    /// The text is not CSV.
    #[error("{}parse error on line {line}, column {column}: {problem}", record_start(*start, *line))]
    Syntax {
        /// The line where the record starts, from 1.
        start: usize,
        /// The line of the error, from 1.
        line: usize,
        /// The byte of that line, from 1.
        column: usize,
        /// The error in the words of `encoding/csv`.
        problem: &'static str,
    },
    /// A record is too short.
    #[error("token file '{path}' must have at least 3 columns (token, user name, user uid), found {found}")]
    Columns {
        /// The path of the file.
        path: String,
        /// The number of its fields.
        found: usize,
    },
}

fn record_start(start: usize, line: usize) -> String {
    if start == line { String::new() } else { format!("record on line {start}; ") }
}

/// The users in a token file, by their tokens. Records without a token are skipped; of two with the same one, the
/// later counts. `path` is for messages.
///
/// # Errors
/// If the text is not CSV, or a record has fewer than three fields.
pub fn parse(path: &str, text: &str) -> Result<HashMap<String, User>, TokenFileError> {
    let mut users = HashMap::new();
    let mut reader = Reader { rest: text, line: 0, ended: true };
    let mut number = 0;
    while let Some(record) = reader.record()? {
        let [token, name, uid, more @ ..] = record.as_slice() else {
            return Err(TokenFileError::Columns { path: path.into(), found: record.len() });
        };
        number += 1;
        if token.is_empty() {
            tracing::warn!("empty token has been found in token file '{path}', record number '{number}'");
            continue;
        }
        let groups = more.first().map(|groups| groups.split(',').map(str::to_string).collect()).unwrap_or_default();
        let user = User { name: name.clone(), uid: uid.clone(), groups, extra: BTreeMap::new() };
        if users.insert(token.clone(), user).is_some() {
            tracing::warn!("duplicate token has been found in token file '{path}', record number '{number}'");
        }
    }
    Ok(users)
}

const BARE_QUOTE: &str = "bare \" in non-quoted-field";
const QUOTE: &str = "extraneous or missing \" in quoted-field";

/// `csv.Reader` in its strict mode.
struct Reader<'a> {
    rest: &'a str,
    /// The number of lines read so far.
    line: usize,
    /// Whether the last of them ended with a line feed.
    ended: bool,
}

impl<'a> Reader<'a> {
    /// The fields of the next record; empty lines are skipped.
    fn record(&mut self) -> Result<Option<Vec<String>>, TokenFileError> {
        loop {
            match self.next_line() {
                None => return Ok(None),
                Some("") => {}
                Some(line) => return self.fields(line).map(Some),
            }
        }
    }

    /// The next line without its end.
    fn next_line(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        self.ended = self.rest.contains('\n');
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        self.line += 1;
        Some(line.strip_suffix('\r').unwrap_or(line))
    }

    fn fields(&mut self, first: &'a str) -> Result<Vec<String>, TokenFileError> {
        let start = self.line;
        let error = |line, column, problem| Err(TokenFileError::Syntax { start, line, column, problem });
        let mut fields = Vec::new();
        // The current line, and the offset of the next field in it.
        let (mut line, mut at) = (first, 0);
        loop {
            if !line[at..].starts_with('"') {
                let field = line[at..].split(',').next().unwrap_or_default();
                if let Some(quote) = field.find('"') {
                    return error(self.line, at + quote + 1, BARE_QUOTE);
                }
                fields.push(field.to_string());
                at += field.len() + 1;
                if at > line.len() {
                    return Ok(fields);
                }
                continue;
            }
            at += 1;
            let mut field = String::new();
            loop {
                let Some(quote) = line[at..].find('"') else {
                    // A quoted field may contain line feeds.
                    field.push_str(&line[at..]);
                    field.push('\n');
                    let column = line.len() + 1 + usize::from(self.ended);
                    match self.next_line() {
                        Some(next) => (line, at) = (next, 0),
                        None => return error(self.line, column, QUOTE),
                    }
                    continue;
                };
                field.push_str(&line[at..at + quote]);
                at += quote + 1;
                match line.as_bytes().get(at) {
                    Some(b'"') => {
                        field.push('"');
                        at += 1;
                    }
                    Some(b',') => {
                        at += 1;
                        break;
                    }
                    None => {
                        fields.push(field);
                        return Ok(fields);
                    }
                    Some(_) => return error(self.line, at, QUOTE),
                }
            }
            fields.push(field);
        }
    }
}
