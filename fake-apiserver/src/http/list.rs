//! A plain list: what stored objects say beside what the list says for all of them, between commas.
//!
//! The bytes of neighbours are put together once and sent to all who list them, until one of them changes.

use crate::api::{Items, Listing};
use crate::deadline::Deadline;
use crate::error::ApiResult;
use crate::registry::Version;
use crate::store::{Entry, FormId};
use bytes::Bytes;
use serde_json::json;
use std::sync::Arc;

/// Items of a list, each after a comma.
const ITEMS: FormId = FormId(0);
const END: &[u8] = b"]}\n";
/// How much of small items is put into one chunk.
const CHUNK_BYTES: usize = 64 * 1024;
/// What is as long as that is sent as it is stored.
const LARGE_BYTES: usize = 16 * 1024;

/// The body of a plain list response, in chunks.
///
/// # Errors
/// 500, if a stored object is not JSON; 504, if the time is up.
pub(super) fn encode(version: &Version, listing: &Listing, deadline: &Deadline) -> ApiResult<Vec<Bytes>> {
    let mut chunks = vec![Bytes::from(head(version, listing))];
    match &listing.items {
        items if version.conversion.is_some() => {
            for entry in items.iter() {
                deadline.check()?;
                chunks.push(converted(version, entry)?);
            }
        }
        Items::Neighbours(runs) => {
            for run in runs {
                deadline.check()?;
                chunks.extend_from_slice(&run.rendered(ITEMS, items));
            }
        }
        Items::Selected(entries) => chunks.extend(items(entries)),
    }
    // The first item needs no comma.
    if let Some(first) = chunks.get_mut(1) {
        *first = first.slice(1..);
    }
    chunks.push(Bytes::from_static(END));
    Ok(chunks)
}

/// An item of a list in a version that is not the stored one, after a comma.
fn converted(version: &Version, entry: &Entry) -> ApiResult<Bytes> {
    let object = version.converted(entry.json())?.unwrap_or_else(|| entry.json().to_vec());
    Ok([b",{", &object[version.head.len()..]].concat().into())
}

fn items(entries: &[Arc<Entry>]) -> Vec<Bytes> {
    let mut chunks = Vec::new();
    let mut chunk = Vec::with_capacity(entries.iter().map(small_bytes).sum::<usize>().min(CHUNK_BYTES));
    for entry in entries {
        if !chunk.is_empty() && chunk.len() + small_bytes(entry) > CHUNK_BYTES {
            chunks.push(std::mem::take(&mut chunk).into());
        }
        chunk.extend_from_slice(b",{");
        let body = entry.body();
        if body.len() < LARGE_BYTES {
            chunk.extend_from_slice(&body);
        } else {
            chunks.extend([std::mem::take(&mut chunk).into(), body]);
        }
    }
    if !chunk.is_empty() {
        chunks.push(chunk.into());
    }
    chunks
}

/// What an item adds to a chunk of small items.
fn small_bytes(entry: &Arc<Entry>) -> usize {
    let body = entry.body_len();
    ",{".len() + if body < LARGE_BYTES { body } else { 0 }
}

fn head(version: &Version, listing: &Listing) -> String {
    let mut metadata = format!("{{\"resourceVersion\":\"{}\"", listing.revision);
    if let Some(token) = &listing.continue_token {
        metadata.push_str(&format!(",\"continue\":{}", json!(token)));
    }
    if let Some(remaining) = listing.remaining {
        metadata.push_str(&format!(",\"remainingItemCount\":{remaining}"));
    }
    let Version { kind, api_version, .. } = version;
    format!("{{\"kind\":\"{kind}List\",\"apiVersion\":\"{api_version}\",\"metadata\":{metadata}}},\"items\":[")
}
