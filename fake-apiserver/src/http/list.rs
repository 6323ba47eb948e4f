//! A list as it goes out: stored bytes between commas, in pieces, never as a whole in memory.

use crate::api::Listing;
use crate::registry::Kind;
use crate::store::Entry;
use bytes::{Bytes, BytesMut};
use serde_json::json;
use std::sync::Arc;

/// How much is put together before it is sent.
const PIECE: usize = 128 * 1024;
const END: &[u8] = b"]}\n";

/// The body of a plain list response.
pub(crate) struct ListBody {
    head: Option<Bytes>,
    items: std::vec::IntoIter<Arc<Entry>>,
    /// How much of each item is its kind and apiVersion, which upstream leaves out of lists of built-in kinds.
    type_meta: usize,
    first: bool,
    len: usize,
}

impl ListBody {
    pub(crate) fn new(kind: &Kind, listing: Listing) -> Self {
        let head = Bytes::from(head(kind, &listing));
        let type_meta = type_meta(kind).len();
        let items: usize = listing.items.iter().map(|entry| 1 + entry.json().len() - type_meta).sum();
        let commas = listing.items.len().saturating_sub(1);
        let len = head.len() + items + commas + END.len();
        ListBody { head: Some(head), items: listing.items.into_iter(), type_meta, first: true, len }
    }

    /// Bytes that are still to come.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

impl Iterator for ListBody {
    type Item = Bytes;

    /// The next piece.
    fn next(&mut self) -> Option<Bytes> {
        if self.len == 0 {
            return None;
        }
        let mut piece = BytesMut::with_capacity(self.len.min(PIECE + PIECE / 8));
        if let Some(head) = self.head.take() {
            piece.extend_from_slice(&head);
        }
        while piece.len() < PIECE {
            let Some(entry) = self.items.next() else {
                piece.extend_from_slice(END);
                break;
            };
            piece.extend_from_slice(if std::mem::take(&mut self.first) { b"{" } else { b",{" });
            piece.extend_from_slice(&entry.json()[self.type_meta..]);
        }
        self.len -= piece.len();
        Some(piece.freeze())
    }
}

/// What the JSON of every stored object of that kind begins with.
fn type_meta(kind: &Kind) -> String {
    format!("{{\"kind\":\"{}\",\"apiVersion\":\"{}\",", kind.kind, kind.api_version())
}

fn head(kind: &Kind, listing: &Listing) -> String {
    let mut metadata = format!("{{\"resourceVersion\":\"{}\"", listing.revision);
    if let Some(token) = &listing.continue_token {
        metadata.push_str(&format!(",\"continue\":{}", json!(token)));
    }
    if let Some(remaining) = listing.remaining {
        metadata.push_str(&format!(",\"remainingItemCount\":{remaining}"));
    }
    let (kind, api_version) = (kind.kind, kind.api_version());
    format!("{{\"kind\":\"{kind}List\",\"apiVersion\":\"{api_version}\",\"metadata\":{metadata}}},\"items\":[")
}
