//! `Warning` headers: each text once, and limited in total.
//!
//! Ports the recorder of `k8s.io/apiserver/pkg/endpoints/filters/warning.go` (v0.37.1): when all texts together are too
//! long, each is truncated, and no more are sent once those are too long as well.

use http::header::{HeaderMap, HeaderValue, WARNING};
use std::collections::HashSet;

/// The limit of all texts, in characters (`truncateAtTotalRunes`).
const MAX_TOTAL: usize = 4 * 1024;
/// The limit of a truncated text, in characters (`truncateItemRunes`).
const MAX_ITEM: usize = 256;

/// Adds headers for the texts of a request, except those with control characters or, from its own headers, others than UTF-8.
pub(super) fn add(headers: &mut HeaderMap, texts: &[String], of_request: &HeaderMap) {
    let mut seen = HashSet::new();
    let is_utf8 = |text: &str| {
        let replaces = text.contains(char::REPLACEMENT_CHARACTER);
        !replaces || of_request.values().all(|value| str::from_utf8(value.as_bytes()).is_ok())
    };
    let sendable = |text: &&str| !text.is_empty() && !text.contains(char::is_control) && is_utf8(text);
    let texts = texts.iter().map(String::as_str).filter(sendable).filter(|text| seen.insert(*text));
    let texts: Vec<&str> = texts.collect();
    let mut total = 0;
    let overflow = texts.iter().position(|text| {
        total += text.chars().count();
        total > MAX_TOTAL
    });
    let mut written = 0;
    for (index, mut text) in texts.into_iter().enumerate() {
        if let Some(overflow) = overflow {
            // The texts before are sent once more, truncated, whatever their total.
            if index > overflow && written >= MAX_TOTAL {
                return;
            }
            text = text.char_indices().nth(MAX_ITEM).map_or(text, |(end, _)| &text[..end]);
        }
        written += text.chars().count();
        let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::from_bytes(format!("299 - \"{quoted}\"").as_bytes()) {
            headers.append(WARNING, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number and lengths of the headers that the real server (v1.37.1) sent for pods with repeated variables.
    #[test]
    fn long_warnings_are_cut() {
        let hidden = |index: usize, name: &str| {
            let at = format!("spec.containers[0].env[{index}]");
            format!("{at}: hides previous definition of \"{name}\", which may be dropped when using apply")
        };
        let texts = |count: usize, padding: usize| -> Vec<String> {
            (0..count).map(|index| hidden(2 * index + 1, &format!("n{index}{}", "x".repeat(padding)))).collect()
        };
        for (texts, count, bytes) in [
            (texts(200, 0), 41, 4536),
            (texts(30, 500), 16, 4240),
            (texts(500, 60), 26, 4431),
            (["a", "", "a", "b\nc", "d"].map(String::from).to_vec(), 2, 18),
        ] {
            let mut headers = HeaderMap::new();
            add(&mut headers, &texts, &HeaderMap::new());
            let lengths: Vec<usize> = headers.get_all(WARNING).iter().map(HeaderValue::len).collect();
            assert_eq!((lengths.len(), lengths.iter().sum()), (count, bytes), "{:?}", texts[0]);
        }
    }
}
