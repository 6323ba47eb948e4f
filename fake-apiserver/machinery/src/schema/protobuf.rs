//! The decoder of protobuf bodies into trees.
//!
//! A body is the four bytes of a magic number and a `runtime.Unknown`, whose `raw` is the object's own message. Field
//! numbers are those of the types' generated.proto; unknown fields are skipped, as by gogo's decoders
//! (Kubernetes v1.37), whose error texts are kept.

use super::decoded::{DecodeError, MAX_DEPTH, too_deep};
use super::lexer::push_utf8;
use super::token::Token;
use super::types::{Content, Member, Shape, Struct, TypeId, TypeRef, Union};
use super::wire::{Read, Reader, WireType};
use super::{bytes, float, forms, time};
use quantity::Quantity;
use tree::{Map, Value};

/// `protoEncodingPrefix`.
pub(super) const MAGIC: &[u8] = b"k8s\0";

/// The content of a `runtime.Unknown`.
#[derive(Debug, Clone, PartialEq)]
pub struct Envelope<'a> {
    /// The object's `apiVersion`, or "".
    pub api_version: String,
    /// The object's `kind`, or "".
    pub kind: String,
    /// The object's message.
    pub raw: &'a [u8],
}

/// Opens a protobuf body.
///
/// # Errors
/// If it does not start with the magic number, or is not a `runtime.Unknown`.
pub fn decode_protobuf(body: &[u8]) -> Result<Envelope<'_>, DecodeError> {
    let error = |message: &str| DecodeError(message.to_owned());
    if body.is_empty() {
        return Err(error("empty data"));
    }
    let Some(unknown) = body.strip_prefix(MAGIC) else {
        let message = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]";
        return Err(error(message));
    };
    if unknown.is_empty() {
        return Err(error("empty body"));
    }
    envelope(unknown).map_err(DecodeError)
}

/// Decodes the message of an object into the canonical tree of its type, without `apiVersion` and `kind`, which only
/// the envelope has.
///
/// # Errors
/// If the bytes are not a message of that type, or a value in it has no JSON form.
pub fn decode_protobuf_message(raw: &[u8], ty: TypeRef) -> Result<Value, DecodeError> {
    let mut object = Map::new();
    if let Some(content) = ty.as_struct() {
        message(Place { ty, name: "", depth: 1 }, content, raw, &mut object).map_err(DecodeError)?;
    }
    Ok(Value::Object(object))
}

/// Opens the message of a `metav1.WatchEvent`: its type, and the body of its object.
///
/// # Errors
/// If the bytes are not such a message.
pub fn decode_protobuf_event(message: &[u8]) -> Result<(String, &[u8]), DecodeError> {
    event(message).map_err(DecodeError)
}

fn event(message: &[u8]) -> Read<(String, &[u8])> {
    let (mut name, mut object) = (String::new(), &[][..]);
    let mut reader = Reader::new(message);
    while let Some(tag) = reader.tag("WatchEvent")? {
        match tag.number {
            1 => name = string(reader.bytes()?),
            2 => object = only_bytes("RawExtension", "Raw", reader.bytes()?)?.unwrap_or_default(),
            _ => reader.skip(tag.wire_type)?,
        }
    }
    Ok((name, object))
}

fn envelope(unknown: &[u8]) -> Read<Envelope<'_>> {
    let mut envelope = Envelope { api_version: String::new(), kind: String::new(), raw: &[] };
    let mut reader = Reader::new(unknown);
    while let Some(tag) = reader.tag("Unknown")? {
        let go_name = match tag.number {
            1 => "TypeMeta",
            2 => "Raw",
            3 => "ContentEncoding",
            4 => "ContentType",
            _ => {
                reader.skip(tag.wire_type)?;
                continue;
            }
        };
        tag.wire_type.expect(WireType::BYTES, go_name)?;
        let value = reader.bytes()?;
        match tag.number {
            1 => type_meta(value, &mut envelope)?,
            2 => envelope.raw = value,
            _ => {}
        }
    }
    Ok(envelope)
}

fn type_meta<'a>(message: &'a [u8], envelope: &mut Envelope<'a>) -> Read<()> {
    let mut reader = Reader::new(message);
    while let Some(tag) = reader.tag("TypeMeta")? {
        let (target, go_name) = match tag.number {
            1 => (&mut envelope.api_version, "APIVersion"),
            2 => (&mut envelope.kind, "Kind"),
            _ => {
                reader.skip(tag.wire_type)?;
                continue;
            }
        };
        tag.wire_type.expect(WireType::BYTES, go_name)?;
        *target = string(reader.bytes()?);
    }
    Ok(())
}

/// The type that is being decoded, and its position.
#[derive(Clone, Copy)]
struct Place<'t> {
    ty: TypeRef<'t>,
    /// The field's name in Go, for errors.
    name: &'t str,
    /// The number of objects and arrays around it, itself included if it is one.
    depth: usize,
}

impl<'t> Place<'t> {
    /// A field of the struct that is here.
    fn field(self, ty: TypeId, name: &'t str) -> Place<'t> {
        Place { ty: self.ty.at(ty), name, ..self }
    }

    /// An item of the list, or a value of the map, that is here.
    fn element(self, ty: TypeId) -> Place<'t> {
        self.field(ty, self.name)
    }

    /// The inside of the object or array that is here.
    fn nested(self) -> Read<Place<'t>> {
        if self.depth == MAX_DEPTH {
            return Err(too_deep());
        }
        Ok(Place { depth: self.depth + 1, ..self })
    }
}

/// Decodes a struct's message over what `object` holds.
fn message<'t>(place: Place<'t>, content: &'t Struct, raw: &[u8], object: &mut Map) -> Read<()> {
    let mut reader = Reader::new(raw);
    while let Some(tag) = reader.tag(place.ty.bare_name())? {
        match content.member(tag.number) {
            None => reader.skip(tag.wire_type)?,
            Some(Member { go_name, content: Content::Embedded(embedded), .. }) => {
                tag.wire_type.expect(WireType::BYTES, go_name)?;
                let place = place.field(*embedded, go_name);
                if let Some(content) = place.ty.as_struct() {
                    message(place, content, reader.bytes()?, object)?;
                }
            }
            Some(Member { go_name, content: Content::Field(index), .. }) => {
                let field = &content.fields[*index];
                let place = place.field(field.ty, go_name);
                let mut value = object.remove(&*field.name).unwrap_or_default();
                decode_field(Place { ty: place.ty.target(), ..place }, tag.wire_type, &mut reader, &mut value)?;
                if !place.ty.is_zero(&value) {
                    object.insert(field.name.clone(), value);
                }
            }
        }
    }
    Ok(())
}

/// Decodes one occurrence of a field: a single value, or one more item of a list or map.
fn decode_field(place: Place<'_>, wire_type: WireType, reader: &mut Reader, slot: &mut Value) -> Read<()> {
    match place.ty.shape() {
        Shape::List { element, wrapped: false } => {
            return push_items(place.nested()?.element(*element), wire_type, reader, slot);
        }
        Shape::Map(element) => {
            wire_type.expect(WireType::BYTES, place.name)?;
            let (key, value) = entry(place.nested()?.element(*element), reader.bytes()?)?;
            match slot {
                Value::Object(entries) => drop(entries.insert(key.into(), value)),
                _ => *slot = Value::Object(Map::from_iter([(key, value)])),
            }
        }
        _ => *slot = single(place, wire_type, reader, slot.take())?,
    }
    Ok(())
}

/// Appends an item to a list or, of numbers that come packed, all.
fn push_items(place: Place<'_>, wire_type: WireType, reader: &mut Reader, slot: &mut Value) -> Read<()> {
    let mut items = match slot.take() {
        Value::Array(items) => items,
        _ => Vec::new(),
    };
    if is_varint(place.ty) && wire_type == WireType::BYTES {
        let mut packed = Reader::new(reader.bytes()?);
        while !packed.is_empty() {
            items.push(single(place, WireType::VARINT, &mut packed, Value::Null)?);
        }
    } else {
        items.push(single(place, wire_type, reader, Value::Null)?);
    }
    *slot = Value::Array(items);
    Ok(())
}

/// Decodes the entry of a map: key in field 1, value in field 2. Upstream does not look at their wire types.
fn entry(place: Place<'_>, raw: &[u8]) -> Read<(String, Value)> {
    let mut reader = Reader::new(raw);
    let (mut key, mut value) = (String::new(), Value::Null);
    while let Some(tag) = reader.tag(place.name)? {
        match tag.number {
            1 => key = string(reader.bytes()?),
            2 => value = single(place, WireType::BYTES, &mut reader, Value::Null)?,
            _ => reader.skip(tag.wire_type)?,
        }
    }
    Ok((key, if value.is_null() { place.ty.zero() } else { value }))
}

fn is_varint(ty: TypeRef<'_>) -> bool {
    matches!(ty.shape(), Shape::Bool | Shape::Int32 | Shape::Int64)
}

/// Decodes one value; a struct, union or wrapped list over `earlier`.
fn single(place: Place<'_>, wire_type: WireType, reader: &mut Reader, earlier: Value) -> Read<Value> {
    let Place { ty, name, depth } = place;
    if is_varint(ty) {
        wire_type.expect(WireType::VARINT, name)?;
        let number = signed(reader.varint()?);
        return Ok(match ty.shape() {
            Shape::Bool => Value::Bool(number != 0),
            Shape::Int32 => Value::from(number as i32),
            _ => Value::from(number),
        });
    }
    if let Shape::Float64 = ty.shape() {
        wire_type.expect(WireType::FIXED64, name)?;
        let float = f64::from_bits(reader.fixed64()?);
        return float::number(float).map(Value::Number).ok_or_else(|| format!("json: unsupported value: {float}"));
    }
    wire_type.expect(WireType::BYTES, name)?;
    let raw = reader.bytes()?;
    match ty.shape() {
        Shape::String => Ok(Value::String(string(raw).into())),
        Shape::Bytes => Ok(Value::String(bytes::encode(raw).into())),
        Shape::Time => timestamp(time::Layout::Seconds, raw),
        Shape::MicroTime => timestamp(time::Layout::Micros, raw),
        Shape::Quantity => match only_bytes("Quantity", "String_", raw)? {
            Some(text) => Ok(Quantity::parse(&string(text))?.exact_text().as_ref().into()),
            None => Ok(ty.zero()),
        },
        Shape::IntOrString => int_or_string(raw),
        Shape::Any => match only_bytes(ty.bare_name(), "Raw", raw)? {
            Some(json) if !json.is_empty() => match forms::embedded(ty, json, depth) {
                Ok(value) => Ok(value),
                // Upstream keeps the bytes, and ignores the field managers when it cannot read them.
                Err(_) if ty.bare_name() == "FieldsV1" => Ok(Value::String(string(json).into())),
                Err(error) => Err(error.to_string()),
            },
            _ => Ok(Value::Null),
        },
        Shape::Struct(content) => {
            let mut object = match earlier {
                Value::Object(object) => object,
                _ => Map::new(),
            };
            message(place.nested()?, content, raw, &mut object)?;
            Ok(Value::Object(object))
        }
        Shape::Union(union) => union_message(place, union, raw, earlier),
        Shape::List { element, .. } => {
            let items_place = Place { name: "Items", ..place.nested()?.element(*element) };
            let mut items = earlier;
            let mut reader = Reader::new(raw);
            while let Some(tag) = reader.tag(ty.bare_name())? {
                match tag.number {
                    1 => push_items(items_place, tag.wire_type, &mut reader, &mut items)?,
                    _ => reader.skip(tag.wire_type)?,
                }
            }
            Ok(items)
        }
        Shape::Pointer(_) | Shape::Map(_) | Shape::Bool | Shape::Int32 | Shape::Int64 | Shape::Float64 => {
            Err(format!("{} has no form as a protobuf value", ty.go_name()))
        }
    }
}

/// Decodes a union: the last variant counts that is not zero.
fn union_message<'t>(place: Place<'t>, union: &'t Union, raw: &[u8], earlier: Value) -> Read<Value> {
    let mut values = vec![Value::Null; union.variants.len()];
    if let Some(variant) = place.ty.variant(union, Token::of(&earlier)) {
        let index = union.variants.iter().position(|other| other.number == variant.number);
        values[index.unwrap_or_default()] = earlier;
    }
    let mut reader = Reader::new(raw);
    while let Some(tag) = reader.tag(place.ty.bare_name())? {
        match union.variants.iter().position(|variant| variant.number == tag.number) {
            None => reader.skip(tag.wire_type)?,
            Some(index) => {
                let variant = &union.variants[index];
                let place = place.field(variant.ty, &variant.go_name);
                let place = Place { ty: place.ty.target(), ..place };
                decode_field(place, tag.wire_type, &mut reader, &mut values[index])?;
            }
        }
    }
    let given = values.into_iter().rev().find(|value| !value.is_null());
    Ok(given.unwrap_or_else(|| place.ty.zero()))
}

fn timestamp(layout: time::Layout, raw: &[u8]) -> Read<Value> {
    if raw.is_empty() {
        return Ok(Value::Null);
    }
    let (mut seconds, mut nanos) = (0, 0);
    let mut reader = Reader::new(raw);
    while let Some(tag) = reader.tag("Timestamp")? {
        let (target, go_name) = match tag.number {
            1 => (&mut seconds, "Seconds"),
            2 => (&mut nanos, "Nanos"),
            _ => {
                reader.skip(tag.wire_type)?;
                continue;
            }
        };
        tag.wire_type.expect(WireType::VARINT, go_name)?;
        *target = signed(reader.varint()?);
    }
    let time = layout.format_unix(seconds, i64::from(nanos as i32))?;
    Ok(time.map_or(Value::Null, Value::from))
}

/// `intstr.IntOrString`: the kind, the number, the string.
fn int_or_string(raw: &[u8]) -> Read<Value> {
    let (mut kind, mut number, mut text) = (0, 0, String::new());
    let mut reader = Reader::new(raw);
    while let Some(tag) = reader.tag("IntOrString")? {
        match tag.number {
            1 => {
                tag.wire_type.expect(WireType::VARINT, "Type")?;
                kind = signed(reader.varint()?);
            }
            2 => {
                tag.wire_type.expect(WireType::VARINT, "IntVal")?;
                number = signed(reader.varint()?) as i32;
            }
            3 => {
                tag.wire_type.expect(WireType::BYTES, "StrVal")?;
                text = string(reader.bytes()?);
            }
            _ => reader.skip(tag.wire_type)?,
        }
    }
    match kind {
        0 => Ok(Value::from(number)),
        1 => Ok(Value::String(text.into())),
        _ => Err("impossible IntOrString.Type".to_owned()),
    }
}

/// The content of a message whose only field is field 1.
fn only_bytes<'a>(name: &str, go_name: &str, raw: &'a [u8]) -> Read<Option<&'a [u8]>> {
    let mut content = None;
    let mut reader = Reader::new(raw);
    while let Some(tag) = reader.tag(name)? {
        if tag.number == 1 {
            tag.wire_type.expect(WireType::BYTES, go_name)?;
            content = Some(reader.bytes()?);
        } else {
            reader.skip(tag.wire_type)?;
        }
    }
    Ok(content)
}

fn signed(varint: u64) -> i64 {
    i64::from_ne_bytes(varint.to_ne_bytes())
}

/// Go's strings need not be UTF-8, JSON's must.
fn string(raw: &[u8]) -> String {
    let mut text = String::with_capacity(raw.len());
    push_utf8(&mut text, raw);
    text
}
