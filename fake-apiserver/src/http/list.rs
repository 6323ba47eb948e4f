//! A plain list: stored bytes between commas.
//!
//! Put together as a whole before it is sent. Much of a long list's cost is fresh memory: glibc's allocator gets a block of
//! that size from the system and gives it back each time.

use crate::api::Listing;
use crate::error::ApiResult;
use crate::registry::Version;
use bytes::Bytes;
use serde_json::json;

const END: &[u8] = b"]}\n";

/// The body of a plain list response.
///
/// # Errors
/// 500, if a stored object is not JSON.
pub(super) fn encode(version: &Version, listing: &Listing) -> ApiResult<Bytes> {
    let stored = listing.items.iter().map(|entry| entry.json());
    if version.conversion.is_none() {
        return Ok(join(version, listing, stored));
    }
    let converted: Vec<_> = stored.map(|json| version.converted(json)).collect::<ApiResult<_>>()?;
    Ok(join(version, listing, converted.iter().flatten().map(Vec::as_slice)))
}

fn join<'j>(version: &Version, listing: &Listing, objects: impl Iterator<Item = &'j [u8]> + Clone) -> Bytes {
    let head = head(version, listing);
    // Upstream leaves kind and apiVersion out of the items of built-in kinds.
    let type_meta = version.head.len();
    let items: usize = objects.clone().map(|object| ",{".len() + object.len() - type_meta).sum();
    let mut list = Vec::with_capacity(head.len() + items + END.len());
    list.extend_from_slice(head.as_bytes());
    for (index, object) in objects.enumerate() {
        list.extend_from_slice(if index == 0 { b"{" } else { b",{" });
        list.extend_from_slice(&object[type_meta..]);
    }
    list.extend_from_slice(END);
    list.into()
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
