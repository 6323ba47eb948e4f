//! The encoder of trees into protobuf messages: the bytes of gogo's generated marshallers (Kubernetes v1.37) for the same object.
//!
//! Fields come in the order of their numbers, the entries of a map in that of their keys. Scalars and structs are written also if they
//! are zero; pointers, lists, maps and bytes only if there is something.

use super::token::Token;
use super::types::{Content, Member, Shape, Struct, TypeRef, Union};
use super::wire::Writer;
use super::{bytes, protobuf::MAGIC, time};
use tree::counting::{Work, count};
use tree::{Map, Value};

/// The fields of `runtime.Unknown` that follow its `raw`: `contentEncoding` and `contentType`, both empty.
const REST: [u8; 4] = [0x1a, 0, 0x22, 0];

/// The message of a canonical tree of a type. Unknown fields are left out, and so are `apiVersion` and `kind` of the object,
/// which only the envelope has.
pub fn encode_protobuf_message(object: &Value, ty: TypeRef) -> Vec<u8> {
    count(Work::Encode, 1);
    let mut writer = Writer::default();
    if let Some(content) = ty.as_struct() {
        message(&mut writer, ty, content, object.as_object());
    }
    writer.written
}

/// The number of `items` in the message of a type, and what each of them is; none if the type is not one of lists.
pub fn protobuf_items(list: TypeRef<'_>) -> Option<(u32, TypeRef<'_>)> {
    let content = list.as_struct()?;
    let (index, items) = content.field("items")?;
    let is_items = |member: &&Member| matches!(member.content, Content::Field(at) if at == index);
    Some((content.members.iter().find(is_items)?.number, list.of(items).element()?))
}

/// A message as one of the values of a field.
pub fn protobuf_field(number: u32, message: &[u8]) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.bytes(number, message);
    writer.written
}

/// The body that has the message of an object of that `apiVersion` and kind.
pub fn encode_protobuf(api_version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    let (head, end) = protobuf_ends(api_version, kind, message.len());
    [&head, message, &end].concat()
}

/// The prefix and the suffix of such a body with a message of `length` bytes.
pub fn protobuf_ends(api_version: &str, kind: &str, length: usize) -> (Vec<u8>, [u8; 4]) {
    let mut writer = Writer { written: MAGIC.to_vec() };
    writer.message(1, |type_meta| {
        type_meta.bytes(1, api_version.as_bytes());
        type_meta.bytes(2, kind.as_bytes());
    });
    writer.head(2, length);
    (writer.written, REST)
}

/// The message of a `metav1.WatchEvent` from its type and the body of its object.
pub fn encode_protobuf_event(name: &str, object: &[u8]) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.bytes(1, name.as_bytes());
    writer.message(2, |raw_extension| raw_extension.bytes(1, object));
    writer.written
}

/// Writes the fields of a struct, whose values, also those of the structs that it embeds, stand in one object.
fn message(writer: &mut Writer, ty: TypeRef<'_>, content: &Struct, object: Option<&Map>) {
    for Member { number, content: place, .. } in &content.members {
        match place {
            Content::Embedded(embedded) => {
                let ty = ty.at(*embedded);
                if let Some(content) = ty.as_struct() {
                    writer.message(*number, |writer| message(writer, ty, content, object));
                }
            }
            Content::Field(index) => {
                let declared = &content.fields[*index];
                field(writer, *number, ty.at(declared.ty), object.and_then(|object| object.get(&*declared.name)));
            }
        }
    }
}

/// Writes a field, as often as it has values.
fn field(writer: &mut Writer, number: u32, ty: TypeRef<'_>, value: Option<&Value>) {
    let value = value.filter(|value| !value.is_null());
    match (ty.shape(), value) {
        (Shape::Pointer(_) | Shape::List { .. } | Shape::Map(_) | Shape::Bytes, None) => {}
        (Shape::Pointer(target), value) => field(writer, number, ty.at(*target), value),
        (Shape::List { element, wrapped: false }, Some(items)) => {
            for item in items.as_array().into_iter().flatten() {
                single(writer, number, ty.at(*element), Some(item));
            }
        }
        (Shape::Map(element), Some(entries)) => {
            for (key, value) in entries.as_object().into_iter().flatten() {
                writer.message(number, |entry| {
                    entry.bytes(1, key.as_bytes());
                    single(entry, 2, ty.at(*element), Some(value));
                });
            }
        }
        _ => single(writer, number, ty, value),
    }
}

/// Writes one value; an absent one as zero.
fn single(writer: &mut Writer, number: u32, ty: TypeRef<'_>, value: Option<&Value>) {
    let value = value.filter(|value| !value.is_null());
    let text = value.and_then(Value::as_str);
    match ty.shape() {
        Shape::Bool => writer.varint(number, value.and_then(Value::as_bool).unwrap_or_default().into()),
        Shape::Int32 | Shape::Int64 => writer.varint(number, unsigned(value)),
        Shape::Float64 => {
            writer.fixed64(number, value.and_then(Value::as_f64).unwrap_or_default().to_bits());
        }
        Shape::String => writer.bytes(number, text.unwrap_or_default().as_bytes()),
        Shape::Bytes => writer.bytes(number, &bytes::decode(text.unwrap_or_default())),
        Shape::Quantity => {
            writer.message(number, |quantity| quantity.bytes(1, text.unwrap_or("0").as_bytes()));
        }
        Shape::Time => timestamp(writer, number, time::Layout::Seconds, text),
        Shape::MicroTime => timestamp(writer, number, time::Layout::Micros, text),
        Shape::IntOrString => writer.message(number, |either| {
            either.varint(1, text.is_some().into());
            either.varint(2, unsigned(value));
            either.bytes(3, text.unwrap_or_default().as_bytes());
        }),
        Shape::Any => writer.message(number, |any| match value {
            Some(Value::Raw(text)) => any.bytes(1, text.as_bytes()),
            Some(json) => any.bytes(1, json.to_string().as_bytes()),
            None => {}
        }),
        Shape::Struct(content) => {
            writer.message(number, |writer| message(writer, ty, content, value.and_then(Value::as_object)));
        }
        Shape::Union(union) => writer.message(number, |writer| variants(writer, ty, union, value)),
        Shape::List { element, .. } => writer.message(number, |list| {
            for item in value.and_then(Value::as_array).into_iter().flatten() {
                single(list, 1, ty.at(*element), Some(item));
            }
        }),
        Shape::Pointer(target) => single(writer, number, ty.at(*target), value),
        Shape::Map(_) => field(writer, number, ty, value),
    }
}

/// Writes the fields of a union. The flag beside a schema is true: a schema allows.
fn variants(writer: &mut Writer, ty: TypeRef<'_>, union: &Union, value: Option<&Value>) {
    let chosen = value.and_then(|value| ty.variant(union, Token::of(value)));
    for variant in &union.variants {
        let is_chosen = chosen.is_some_and(|chosen| chosen.number == variant.number);
        match ty.at(variant.ty).shape() {
            Shape::Bool if !is_chosen => writer.varint(variant.number, value.is_some().into()),
            _ => field(writer, variant.number, ty.at(variant.ty), value.filter(|_| is_chosen)),
        }
    }
}

/// Writes a time; an absent one, Go's zero time, is an empty message.
fn timestamp(writer: &mut Writer, number: u32, layout: time::Layout, text: Option<&str>) {
    let time = text.and_then(|text| layout.unix(text).ok());
    writer.message(number, |timestamp| {
        if let Some((seconds, nanos)) = time {
            timestamp.varint(1, seconds as u64);
            timestamp.varint(2, nanos as u64);
        }
    });
}

/// A number as a varint: negative ones as two's complement of 64 bits.
fn unsigned(value: Option<&Value>) -> u64 {
    value.and_then(Value::as_i64).unwrap_or_default() as u64
}
