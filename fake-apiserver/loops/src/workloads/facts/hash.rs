//! Hashes (`hash/fnv` of Go 1.26), and those of templates.

use super::names;
use tree::Value;

/// The hash of a template of pods (`ComputeHash` of `pkg/controller/controller_utils.go`, v1.37.1): of a dump of the Go value.
pub(crate) fn template(template: &Value, collisions: Option<i64>) -> String {
    let pod_template = machinery::schema::lookup("v1", "PodTemplate").expect("a built-in kind");
    let field = pod_template.target().field("template").expect("its template");
    let dump = pod_template.target().of(field).dumped(template);
    // Upstream writes 32 bits into the first half of 8 bytes.
    let collisions = collisions.map(|count| (count & 0xffff_ffff).to_le_bytes()).into_iter().flatten();
    names::safe(&fnv32a(dump.into_bytes().into_iter().chain(collisions)).to_string())
}

/// FNV-1a, 32 bits.
pub(crate) fn fnv32a(bytes: impl IntoIterator<Item = u8>) -> u32 {
    bytes.into_iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// FNV-1a, 64 bits.
pub(crate) fn fnv64(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// FNV-1, 32 bits.
pub(crate) fn fnv32(bytes: impl IntoIterator<Item = u8>) -> u32 {
    bytes.into_iter().fold(0x811c_9dc5, |hash: u32, byte| hash.wrapping_mul(0x0100_0193) ^ u32::from(byte))
}
