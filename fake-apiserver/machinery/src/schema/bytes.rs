//! `[]byte` in JSON: base64, read as leniently as Go's `encoding/base64` reads it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;

/// Bytes as base64.
pub(super) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The bytes of base64 in its normal form; empty for other text.
pub(super) fn decode(text: &str) -> Vec<u8> {
    STANDARD.decode(text).unwrap_or_default()
}

/// Base64 in its normal form: no line breaks, no stray bits. The error is the text of Go's.
pub(super) fn normalize(text: Cow<'_, str>) -> Result<String, String> {
    match STANDARD.decode(text.as_bytes()) {
        Ok(_) => Ok(text.into_owned()),
        Err(_) => match decode_leniently(text.as_bytes()) {
            Ok(bytes) => Ok(encode(&bytes)),
            Err(at) => Err(format!("illegal base64 data at input byte {at}")),
        },
    }
}

/// `Encoding.Decode` of Go 1.26, which skips line breaks and ignores the unused bits of the last digit. The error is the
/// offset in Go's error.
fn decode_leniently(text: &[u8]) -> Result<Vec<u8>, usize> {
    let mut decoded = Vec::with_capacity(text.len() / 4 * 3);
    let mut at = 0;
    loop {
        let mut quantum: u32 = 0;
        let mut digits = 0;
        while digits < 4 {
            let Some(byte) = text.get(at) else {
                return if digits == 0 { Ok(decoded) } else { Err(at - digits) };
            };
            at += 1;
            match byte {
                b'\n' | b'\r' => {}
                b'=' => {
                    padding(text, at, digits)?;
                    let bytes = (quantum << (6 * (4 - digits))).to_be_bytes();
                    decoded.extend_from_slice(&bytes[1..digits]);
                    return Ok(decoded);
                }
                _ => {
                    quantum = quantum << 6 | digit(*byte).ok_or(at - 1)?;
                    digits += 1;
                }
            }
        }
        decoded.extend_from_slice(&quantum.to_be_bytes()[1..]);
    }
}

/// Checks the text after the first `=`, which stands behind `digits` digits of its quantum and before `at`.
fn padding(text: &[u8], mut at: usize, digits: usize) -> Result<(), usize> {
    let skip_breaks = |mut at: usize| {
        while matches!(text.get(at), Some(b'\n' | b'\r')) {
            at += 1;
        }
        at
    };
    if digits < 2 {
        return Err(at - 1);
    }
    if digits == 2 {
        at = skip_breaks(at);
        match text.get(at) {
            Some(b'=') => at += 1,
            Some(_) => return Err(at - 1),
            None => return Err(at),
        }
    }
    at = skip_breaks(at);
    if at < text.len() { Err(at) } else { Ok(()) }
}

fn digit(byte: u8) -> Option<u32> {
    let value = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(value.into())
}
