//! JSON without a type: patches, raw JSON in objects, and bodies whose type is not known yet.

use super::decode::{Decoder, Segment, Step};
use super::lexer::Lexer;
use super::token::Token;
use super::{DecodeError, Decoded, MAX_DEPTH};
use std::borrow::Cow;
use tree::{Map, Number, Text, Value};

/// Decodes JSON without a type, such as a patch, as Go decodes into an empty interface.
///
/// # Errors
/// If the bytes are not JSON, hold a number beyond a float's range, or nest deeper than 120.
pub fn parse_json(bytes: &[u8]) -> Result<Decoded, DecodeError> {
    parse_within(bytes, 0)
}

/// Decodes JSON without a type, whose objects in the outermost list may have these fields: duplicate and other fields are findings, in the order of
/// the text.
///
/// # Errors
/// As [`parse_json`].
pub fn parse_list_of(fields: &'static [&'static str], bytes: &[u8]) -> Result<Decoded, DecodeError> {
    let mut object = Value::Null;
    let findings = Decoder::run(bytes, 0, |decoder| {
        decoder.known = Some(fields);
        object = decoder.any()?;
        Ok(())
    })?;
    Ok(Decoded { object, findings })
}

/// Gives the numbers of JSON that Go encoded the types that Go decodes them to: an integer beyond an int64 is a float, and `-0`,
/// which is how a float is written, an integer.
pub fn settle_numbers(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_u64() && !number.is_i64() => {
            if let Some(float) = number.as_f64().and_then(Number::from_f64) {
                *number = float;
            }
        }
        Value::Number(number) if number.as_f64() == Some(0.0) => *number = 0.into(),
        Value::Array(items) => items.iter_mut().for_each(settle_numbers),
        Value::Object(fields) => fields.values_mut().for_each(settle_numbers),
        _ => {}
    }
}

/// The number of items of a JSON array, or `None` if the bytes are none. Nothing is kept of them.
pub fn count_items(bytes: &[u8]) -> Option<usize> {
    let mut lexer = Lexer::new(bytes);
    if lexer.peek().ok()? != Token::Array {
        return None;
    }
    lexer.begin_array().ok()?;
    let mut count = 0;
    while lexer.next_element(count == 0).ok()? {
        lexer.skip_value().ok()?;
        count += 1;
    }
    lexer.end().ok()?;
    Some(count)
}

/// [`parse_json`] of a value within `depth` objects and arrays.
pub(super) fn parse_within(bytes: &[u8], depth: usize) -> Result<Decoded, DecodeError> {
    let mut object = Value::Null;
    let findings = Decoder::run(bytes, depth, |decoder| {
        object = decoder.any()?;
        Ok(())
    })?;
    Ok(Decoded { object, findings })
}

/// Reads `apiVersion` ([canonical](canonical_version)) and `kind` of a body, in this order, with "" for what is absent: what the server does before it
/// decides on a type. Follows `SimpleMetaFactory.Interpret` of apimachinery, which ignores the case of the keys.
///
/// # Errors
/// If the body is not JSON, not an object, the two are not strings, or `apiVersion` has more than one slash.
pub fn interpret(bytes: &[u8]) -> Result<(String, String), DecodeError> {
    const TARGET: &str =
        r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;
    let mut found = [String::new(), String::new()];
    let read = Decoder::run(bytes, 0, |decoder| {
        let token = decoder.lexer.peek()?;
        if token != Token::Object {
            if token != Token::Null {
                decoder.save_error(format!("json: cannot unmarshal {} into Go value of type {TARGET}", token.name()));
            }
            return Ok(decoder.lexer.skip_value()?);
        }
        decoder.lexer.begin_object()?;
        let mut first = true;
        while let Some(key) = decoder.lexer.next_key(first)? {
            first = false;
            let name = ["apiVersion", "kind"].into_iter().position(|name| key.eq_ignore_ascii_case(name));
            match (name, decoder.lexer.peek()?) {
                (Some(index), Token::String) => found[index] = decoder.lexer.string()?.into_owned(),
                (Some(index), token) if token != Token::Null => {
                    let name = ["apiVersion", "kind"][index];
                    let message =
                        format!("json: cannot unmarshal {} into Go struct field .{name} of type string", token.name());
                    decoder.save_error(message);
                    decoder.lexer.skip_value()?;
                }
                _ => decoder.lexer.skip_value()?,
            }
        }
        Ok(())
    });
    if let Err(error) = read {
        return Err(DecodeError(format!("couldn't get version/kind; json parse error: {error}")));
    }
    let [api_version, kind] = found;
    if api_version.matches('/').count() > 1 {
        return Err(DecodeError(format!("unexpected GroupVersion string: {api_version}")));
    }
    Ok((canonical_version(&api_version).to_owned(), kind))
}

/// The version that Go reads in an `apiVersion`: a slash that no group precedes is none of it.
pub fn canonical_version(api_version: &str) -> &str {
    api_version.strip_prefix('/').unwrap_or(api_version)
}

impl<'a> Decoder<'a> {
    /// A value without a type.
    fn any(&mut self) -> Step<Value> {
        Ok(match self.lexer.peek()? {
            Token::Null => {
                self.lexer.null()?;
                Value::Null
            }
            Token::Bool => Value::Bool(self.lexer.bool()?),
            Token::Number => Value::Number(self.any_number()?),
            Token::String => Value::String(Text::new(self.lexer.string()?)),
            Token::Array | Token::Object if self.keeps_deep && self.depth() == MAX_DEPTH => {
                Value::Raw(String::from_utf8_lossy(self.lexer.raw_value()?).into())
            }
            Token::Array => {
                let mut items = Vec::new();
                self.begin_array()?;
                while self.lexer.next_element(items.is_empty())? {
                    self.path.push(Segment::Index(items.len()));
                    items.push(self.any()?);
                    self.path.pop();
                }
                Value::Array(items)
            }
            Token::Object => {
                let mut object = Map::new();
                self.begin_object()?;
                while let Some(key) = self.lexer.next_key(object.is_empty())? {
                    self.other_field(key, &mut object)?;
                }
                Value::Object(object)
            }
        })
    }

    /// The value of an untyped field of `object`.
    pub(super) fn other_field(&mut self, key: Cow<'a, str>, object: &mut Map) -> Step {
        if self.is_unknown(&key) {
            self.save_finding("unknown", &key);
        } else if object.contains_key(key.as_ref()) {
            self.save_finding("duplicate", &key);
        }
        let name = Text::new(&key);
        self.path.push(Segment::Key(key));
        let value = self.any()?;
        self.path.pop();
        object.insert(name, value);
        Ok(())
    }

    fn is_unknown(&self, key: &str) -> bool {
        self.known.is_some_and(|known| matches!(self.path[..], [Segment::Index(_)]) && !known.contains(&key))
    }

    /// `convertNumber`: an int64 if it looks like one and fits.
    fn any_number(&mut self) -> Step<Number> {
        let literal = self.lexer.number()?;
        if let Ok(integer) = literal.parse::<i64>() {
            return Ok(integer.into());
        }
        let float = literal.parse().ok().and_then(Number::from_f64);
        Ok(float.unwrap_or_else(|| {
            self.save_error(self.mismatch(&format!("number {literal}"), "float64"));
            0.into()
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn numbers_are_what_go_would_decode() {
        let mut value: Value =
            serde_json::from_str(r#"{"a": [9300000000000000000, -0, 5, 1.5, 9223372036854775807]}"#).unwrap();
        settle_numbers(&mut value);
        assert_eq!(value, json!({"a": [9.3e18, 0, 5, 1.5, i64::MAX]}));
    }
}
