//! JSON bodies into trees: strict decoding as sigs.k8s.io/json (Kubernetes v1.37) does it into Go structs.
//!
//! One pass, guided by the type. As in Go, decoding goes on after a value of the wrong type, and ends at a value that a
//! type's own text form refuses; a syntax error anywhere outranks both. A field that occurs twice is decoded into the value of
//! its first occurrence.

use super::decoded::{DecodeError, Decoded, MAX_DEPTH, MAX_FINDINGS, too_deep};
use super::lexer::{Lexer, SyntaxError};
use super::token::Token;
use super::types::{Field, Shape, Struct, TypeRef};
use super::{bytes, float, time};
use go_text::quote;
use quantity::Quantity;
use std::borrow::Cow;
use tree::{Map, Text, Value, counting};

/// Decodes a body into the canonical tree of its type.
///
/// # Errors
/// If the body is not JSON, or a value has the wrong type or form.
pub fn decode_json(bytes: &[u8], ty: TypeRef) -> Result<Decoded, DecodeError> {
    decode_json_while(bytes, ty, &|| true)
}

/// The same while `goes_on` says so.
///
/// # Errors
/// As [`decode_json`], or if it does not.
pub fn decode_json_while(bytes: &[u8], ty: TypeRef, goes_on: &dyn Fn() -> bool) -> Result<Decoded, DecodeError> {
    let mut object = Value::Null;
    let findings = Decoder::run(bytes, 0, |decoder| {
        decoder.lexer = Lexer::new(bytes).asking(goes_on);
        decoder.value(ty, &mut object)
    })?;
    if object.is_null() {
        object = ty.zero();
    }
    Ok(Decoded { object, findings })
}

/// Decodes a body as [`decode_json`] does, but keeps what is nested too deeply in values without a type as text: pruning may
/// remove it. [`check_depth`](super::check_depth) has to follow. It goes on while `goes_on` says so.
///
/// # Errors
/// If the body is not JSON, or a value has the wrong type or form, or it does not go on.
pub fn decode_unpruned(bytes: &[u8], ty: TypeRef, goes_on: &dyn Fn() -> bool) -> Result<Decoded, DecodeError> {
    let mut object = Value::Null;
    let findings = Decoder::run(bytes, 0, |decoder| {
        decoder.lexer = Lexer::new(bytes).asking(goes_on);
        decoder.keeps_deep = true;
        decoder.value(ty, &mut object)
    })?;
    Ok(Decoded { object, findings })
}

/// The most that is written of findings, repeated ones included: long keys must not be written for each field below them.
const MAX_REPORTED_BYTES: usize = 1 << 20;

/// An error that ends decoding at once.
pub(super) enum Failure {
    Syntax(SyntaxError),
    /// A value that the text form of its type refuses.
    Value(String),
}

impl From<SyntaxError> for Failure {
    fn from(error: SyntaxError) -> Self {
        Failure::Syntax(error)
    }
}

pub(super) type Step<T = ()> = Result<T, Failure>;

/// A part of the path to the current value.
pub(super) enum Segment<'a> {
    Field(&'a Field),
    Key(Cow<'a, str>),
    Index(usize),
}

/// A decoder at some place of its input.
pub(super) struct Decoder<'a> {
    pub(super) lexer: Lexer<'a>,
    pub(super) path: Vec<Segment<'a>>,
    /// The number of objects and arrays around the input.
    outer: usize,
    /// Whether values that are nested too deeply are kept as text.
    pub(super) keeps_deep: bool,
    /// The fields that the objects of the outermost list may have; other fields are findings.
    pub(super) known: Option<&'static [&'static str]>,
    /// The length of the path to the outermost value around the current place that Go decodes separately, if there is one.
    pub(super) apart: Option<usize>,
    findings: Vec<String>,
    /// The bytes of all findings, repeated ones included.
    reported_bytes: usize,
    /// The first value of a wrong type.
    pub(super) error: Option<String>,
}

/// The fields of a struct that have occurred, by index.
#[derive(Default)]
struct Ticks {
    first: u64,
    /// For those beyond the first 64.
    rest: Vec<u64>,
}

impl<'a> Decoder<'a> {
    /// Decodes one value, within `outer` objects and arrays, with `decode` and returns the findings.
    pub(super) fn run(
        bytes: &'a [u8],
        outer: usize,
        decode: impl FnOnce(&mut Self) -> Step,
    ) -> Result<Vec<String>, DecodeError> {
        counting::count(counting::Work::Parse, 1);
        let mut decoder = Decoder {
            lexer: Lexer::new(bytes),
            path: Vec::new(),
            outer,
            keeps_deep: false,
            known: None,
            apart: None,
            findings: Vec::new(),
            reported_bytes: 0,
            error: None,
        };
        let outcome = decode(&mut decoder).and_then(|()| Ok(decoder.lexer.end()?));
        let error = match outcome {
            Ok(()) => decoder.error,
            Err(Failure::Syntax(SyntaxError(message))) => Some(message),
            Err(Failure::Value(message)) => {
                Some(Lexer::check(bytes).err().map_or(message, |SyntaxError(syntax)| syntax))
            }
        };
        match error {
            None => Ok(decoder.findings),
            Some(message) => Err(DecodeError(message)),
        }
    }

    /// Decodes the next value over what `slot` holds, null standing for zero.
    pub(super) fn value(&mut self, ty: TypeRef<'a>, slot: &mut Value) -> Step {
        let token = self.lexer.peek()?;
        if token == Token::Null && !matches!(ty.shape(), Shape::IntOrString) {
            if !matches!(
                ty.shape(),
                Shape::Bool | Shape::Int32 | Shape::Int64 | Shape::Float64 | Shape::String | Shape::Struct(_)
            ) {
                *slot = Value::Null;
            }
            return Ok(self.lexer.null()?);
        }
        let target = ty.target();
        match (target.shape(), token) {
            (Shape::Bool, Token::Bool) => *slot = Value::Bool(self.lexer.bool()?),
            (Shape::Int32 | Shape::Int64, Token::Number) => self.integer(target, slot)?,
            (Shape::Float64, Token::Number) => self.float(slot)?,
            (Shape::String, Token::String) => *slot = Value::String(Text::new(self.lexer.string()?)),
            (Shape::Bytes, Token::String | Token::Array) => self.bytes(token, slot)?,
            (Shape::Time | Shape::MicroTime, _) => self.time(target, token, slot)?,
            (Shape::Quantity, _) => *slot = self.quantity()?.into(),
            (Shape::IntOrString, _) => self.int_or_string(token, slot)?,
            (Shape::Any, _) => *slot = self.raw_json(target)?,
            (Shape::List { element, .. }, Token::Array) => self.list(target.at(*element), slot)?,
            (Shape::Map(element), Token::Object) => self.map(target.at(*element), slot)?,
            (Shape::Struct(content), Token::Object) => self.object(target, content, slot)?,
            (Shape::Union(union), _) => self.union(target, union, token, slot)?,
            _ => {
                self.save_error(self.mismatch(token.name(), &target.go_name()));
                self.lexer.skip_value()?;
            }
        }
        Ok(())
    }

    fn integer(&mut self, ty: TypeRef<'a>, slot: &mut Value) -> Step {
        let literal = self.lexer.number()?;
        let value: Option<i64> = match ty.shape() {
            Shape::Int64 => literal.parse().ok(),
            _ => literal.parse::<i32>().ok().map(i64::from),
        };
        match value {
            Some(value) => *slot = Value::from(value),
            None => self.save_error(self.mismatch(&format!("number {literal}"), &ty.go_name())),
        }
        Ok(())
    }

    fn float(&mut self, slot: &mut Value) -> Step {
        let literal = self.lexer.number()?;
        match literal.parse().ok().and_then(float::number) {
            Some(number) => *slot = Value::Number(number),
            None => self.save_error(self.mismatch(&format!("number {literal}"), "float64")),
        }
        Ok(())
    }

    /// `[]byte`: base64 or, as in Go's decoder, an array of numbers.
    fn bytes(&mut self, token: Token, slot: &mut Value) -> Step {
        if token == Token::String {
            match bytes::normalize(self.lexer.string()?) {
                Ok(text) => *slot = Value::String(text.into()),
                Err(message) => self.save_error(message),
            }
            return Ok(());
        }
        let mut content: Vec<u8> = Vec::new();
        let mut first = true;
        self.lexer.begin_array()?;
        while self.lexer.next_element(first)? {
            first = false;
            let token = self.lexer.peek()?;
            let raw = String::from_utf8_lossy(self.lexer.raw_value()?);
            match (token, raw.parse()) {
                (Token::Null, _) => content.push(0),
                (Token::Number, Ok(byte)) => content.push(byte),
                (Token::Number, Err(_)) => self.save_error(self.mismatch(&format!("number {raw}"), "uint8")),
                _ => self.save_error(self.mismatch(token.name(), "uint8")),
            }
        }
        *slot = Value::String(bytes::encode(&content).into());
        Ok(())
    }

    fn time(&mut self, ty: TypeRef<'a>, token: Token, slot: &mut Value) -> Step {
        if token != Token::String {
            return Err(Failure::Value(self.mismatch(token.name(), "string")));
        }
        let layout = if matches!(ty.shape(), Shape::Time) { time::Layout::Seconds } else { time::Layout::Micros };
        let time = layout.parse(&self.lexer.string()?).map_err(Failure::Value)?;
        *slot = time.map_or(Value::Null, Value::from);
        Ok(())
    }

    /// `resource.Quantity`, which reads the raw text: numbers are accepted, escapes are not. Only the encoder prints it as upstream does.
    fn quantity(&mut self) -> Step<Text> {
        let raw = String::from_utf8_lossy(self.lexer.raw_value()?);
        let text = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(&raw);
        let quantity = Quantity::parse(text.trim()).map_err(|message| Failure::Value(message.to_owned()))?;
        Ok(quantity.exact_text().as_ref().into())
    }

    fn int_or_string(&mut self, token: Token, slot: &mut Value) -> Step {
        match token {
            Token::String => *slot = Value::String(Text::new(self.lexer.string()?)),
            Token::Null => {
                self.lexer.null()?;
                *slot = Value::from(0);
            }
            Token::Number => {
                let literal = self.lexer.number()?;
                let Ok(value) = literal.parse::<i32>() else {
                    return Err(Failure::Value(self.mismatch(&format!("number {literal}"), "int32")));
                };
                *slot = Value::from(value);
            }
            _ => return Err(Failure::Value(self.mismatch(token.name(), "int32"))),
        }
        Ok(())
    }

    fn list(&mut self, element: TypeRef<'a>, slot: &mut Value) -> Step {
        let mut items = match slot.take() {
            Value::Array(items) => items,
            _ => Vec::new(),
        };
        let mut count = 0;
        self.begin_array()?;
        while self.lexer.next_element(count == 0)? {
            if count == items.len() {
                items.push(Value::Null);
            }
            self.path.push(Segment::Index(count));
            self.value(element, &mut items[count])?;
            self.path.pop();
            if items[count].is_null() {
                items[count] = element.zero();
            }
            count += 1;
        }
        items.truncate(count);
        *slot = Value::Array(items);
        Ok(())
    }

    fn map(&mut self, element: TypeRef<'a>, slot: &mut Value) -> Step {
        let mut entries = Map::new();
        let mut first = true;
        self.begin_object()?;
        while let Some(key) = self.lexer.next_key(first)? {
            first = false;
            if entries.contains_key(key.as_ref()) {
                self.save_finding("duplicate", &key);
            }
            let name = Text::new(&key);
            let mut value = Value::Null;
            self.path.push(Segment::Key(key));
            self.value(element, &mut value)?;
            self.path.pop();
            entries.insert(name, if value.is_null() { element.zero() } else { value });
        }
        match slot {
            Value::Object(earlier) => earlier.extend(entries),
            _ => *slot = Value::Object(entries),
        }
        Ok(())
    }

    fn object(&mut self, ty: TypeRef<'a>, content: &'a Struct, slot: &mut Value) -> Step {
        let mut object = match slot.take() {
            Value::Object(object) => object,
            _ => Map::new(),
        };
        let was_there = !object.is_empty();
        let mut seen = Ticks::default();
        let mut first = true;
        self.begin_object()?;
        while let Some(key) = self.lexer.next_key(first)? {
            first = false;
            let Some((index, field)) = content.field(&key) else {
                if content.open {
                    self.other_field(key, &mut object)?;
                    continue;
                }
                self.save_finding("unknown", &key);
                self.lexer.skip_value()?;
                continue;
            };
            let repeated = seen.tick(index);
            if repeated {
                self.save_finding("duplicate", &key);
            }
            let ty = ty.at(field.ty);
            let earlier = if was_there || repeated { object.remove(&*field.name) } else { None };
            let mut value = earlier.unwrap_or_default();
            self.path.push(Segment::Field(field));
            self.value(ty, &mut value)?;
            self.path.pop();
            if !ty.is_zero(&value) || ((value.is_object() || value.is_array()) && field.facets().nil_differs) {
                object.insert(field.name.clone(), value);
            }
        }
        *slot = Value::Object(object);
        Ok(())
    }

    /// Reads `{`, unless that nests too deeply.
    pub(super) fn begin_object(&mut self) -> Step {
        self.lexer.begin_object()?;
        self.check_depth()
    }

    /// Reads `[`, unless that nests too deeply.
    pub(super) fn begin_array(&mut self) -> Step {
        self.lexer.begin_array()?;
        self.check_depth()
    }

    fn check_depth(&self) -> Step {
        if self.depth() > MAX_DEPTH { Err(Failure::Value(too_deep())) } else { Ok(()) }
    }

    /// The number of objects and arrays around the current place.
    pub(super) fn depth(&self) -> usize {
        self.outer + self.lexer.depth()
    }

    /// The text of a type error at the current place. Go names the innermost struct that it does not decode separately.
    pub(super) fn mismatch(&self, value: &str, go_type: &str) -> String {
        let mut owner = "";
        let mut fields: Vec<&str> = Vec::new();
        for (index, segment) in self.path.iter().enumerate() {
            if let Segment::Field(field) = segment {
                if self.apart.is_none_or(|apart| index < apart) {
                    owner = &field.owner;
                }
                fields.push(&field.context);
            }
        }
        if fields.is_empty() {
            return format!("json: cannot unmarshal {value} into Go value of type {go_type}");
        }
        let path = fields.join(".");
        format!("json: cannot unmarshal {value} into Go struct field {owner}.{path} of type {go_type}")
    }

    pub(super) fn save_error(&mut self, message: String) {
        self.error.get_or_insert(message);
    }

    /// Adds a finding of strict decoding, except in values that Go decodes separately, which it does not do strictly.
    pub(super) fn save_finding(&mut self, what: &str, key: &str) {
        if self.apart.is_some() || self.findings.len() == MAX_FINDINGS || self.reported_bytes > MAX_REPORTED_BYTES {
            return;
        }
        let mut path = String::new();
        for segment in &self.path {
            match segment {
                Segment::Index(index) => {
                    path.push_str(&format!("[{index}]"));
                    continue;
                }
                Segment::Field(field) => push_key(&mut path, &field.name),
                Segment::Key(key) => push_key(&mut path, key),
            }
        }
        push_key(&mut path, key);
        let finding = format!("{what} field {}", quote(&path));
        self.reported_bytes += finding.len();
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }
}

impl Ticks {
    /// Ticks a field off; true if it was ticked off already.
    fn tick(&mut self, index: usize) -> bool {
        let word = match index / 64 {
            0 => &mut self.first,
            beyond => {
                if self.rest.len() < beyond {
                    self.rest.resize(beyond, 0);
                }
                &mut self.rest[beyond - 1]
            }
        };
        let bit = 1 << (index % 64);
        let before = *word & bit != 0;
        *word |= bit;
        before
    }
}

fn push_key(path: &mut String, key: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(key);
}
