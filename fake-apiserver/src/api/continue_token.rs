//! Continue tokens: revision and next key of a paged list, opaque to clients, in the real server's form.

use crate::error::{ApiError, ApiResult};
use crate::schema;
use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, URL_SAFE_NO_PAD};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// A decoded continue token.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct ContinueToken {
    v: String,
    /// The revision of all pages; negative for the rest at the current revision.
    pub(crate) rv: i64,
    start: String,
}

const VERSION: &str = "meta.k8s.io/v1";
/// The `rv` for the rest at the current revision.
const INCONSISTENT: i64 = -1;

impl ContinueToken {
    /// A token for the objects behind `path` (relative to the listed scope) at `revision`.
    pub(crate) fn after(path: &str, revision: i64) -> Self {
        ContinueToken { v: VERSION.into(), rv: revision, start: format!("/{path}\0") }
    }

    /// The first path that may be on the page.
    pub(crate) fn start(&self) -> &str {
        self.start.strip_prefix('/').unwrap_or(&self.start)
    }

    /// The same place, at the current revision.
    pub(crate) fn inconsistent(&self) -> Self {
        ContinueToken { rv: INCONSISTENT, ..self.clone() }
    }

    pub(crate) fn encode(&self) -> String {
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).expect("a token is plain data"))
    }

    /// Decodes JSON, with the errors of Go's `encoding/json` for values of another type.
    fn read(json: &[u8]) -> Result<Self, String> {
        let of = |value: &RawValue| match value.get().as_bytes()[0] {
            b'"' => "string",
            b'{' => "object",
            b'[' => "array",
            b't' | b'f' => "bool",
            _ => "number",
        };
        let whole: Box<RawValue> = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let fields: Option<BTreeMap<String, Box<RawValue>>> = serde_json::from_str(whole.get()).map_err(|_| {
            format!("json: cannot unmarshal {} into Go value of type storage.continueToken", of(&whole))
        })?;
        let mut token = ContinueToken::default();
        for (key, value) in fields.iter().flatten().filter(|(_, value)| value.get() != "null") {
            let (name, ty, read) = match key.as_str() {
                "v" => ("v", "string", serde_json::from_str(value.get()).map(|text| token.v = text)),
                "rv" => ("rv", "int64", serde_json::from_str(value.get()).map(|number| token.rv = number)),
                "start" => ("start", "string", serde_json::from_str(value.get()).map(|text| token.start = text)),
                _ => continue,
            };
            let found = match of(value) {
                "number" if ty == "int64" => format!("number {}", value.get()),
                other => other.to_owned(),
            };
            read.map_err(|_| {
                format!("json: cannot unmarshal {found} into Go struct field continueToken.{name} of type {ty}")
            })?;
        }
        Ok(token)
    }

    /// # Errors
    /// 400, if it is not a valid token.
    pub(crate) fn decode(text: &str) -> ApiResult<Self> {
        let invalid = |why: String| ApiError::bad_request(format!("invalid continue token: {why}"));
        let not_valid = |why: String| invalid(format!("continue key is not valid: {why}"));
        let json = LENIENT.decode(text).map_err(|_| not_valid(illegal_base64(text)))?;
        schema::parse_json(&json).map_err(|error| not_valid(error.to_string()))?;
        let token = ContinueToken::read(&json).map_err(not_valid)?;
        if token.v != VERSION {
            let why = format!("continue key is not valid: server does not recognize this encoded version {}", token.v);
            return Err(invalid(why));
        }
        if token.rv == 0 {
            return Err(not_valid("incorrect encoded start resourceVersion (version meta.k8s.io/v1)".into()));
        }
        if token.start.is_empty() {
            return Err(not_valid("encoded start key empty (version meta.k8s.io/v1)".into()));
        }
        if !is_clean(token.start.strip_prefix('/').unwrap_or(&token.start)) {
            return Err(not_valid(token.start));
        }
        Ok(token)
    }
}

/// Base64 without padding, decoded as by Go: the unused bits of the last digit are ignored.
const LENIENT: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));

/// `CorruptInputError` of Go's `encoding/base64`: at the first byte that is not a digit, or else at a single last digit.
fn illegal_base64(text: &str) -> String {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let at = text.bytes().position(|byte| !is_digit(byte)).unwrap_or(text.len() - 1);
    format!("illegal base64 data at input byte {at}")
}

/// Whether Go's `path.Clean` leaves `/path` unchanged, so that the path stays in the listed scope.
fn is_clean(path: &str) -> bool {
    path.is_empty() || path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}
