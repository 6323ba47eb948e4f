//! Values of JSON in Go's messages, as an interface holds them.

use crate::schema::print_float;
use tree::Value;

/// The name of the type: `%T` of fmt.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) | Value::Raw(_) => "map[string]interface {}",
    }
}

/// The value as `%v` of fmt prints it: `map[a:1 b:[x y]]`.
pub fn print(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value, false);
    text
}

/// The value as `%s` of fmt prints it, which is for texts: `map[a:%!s(int64=1) b:[x y]]`.
pub(super) fn print_as_text(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value, true);
    text
}

fn write(text: &mut String, value: &Value, as_text: bool) {
    match value {
        Value::Null if as_text => text.push_str("%!s(<nil>)"),
        Value::Bool(_) | Value::Number(_) if as_text => {
            text.push_str(&format!("%!s({}={})", type_name(value), print(value)));
        }
        Value::Null => text.push_str("<nil>"),
        Value::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => text.push_str(&integer.to_string()),
            None => text.push_str(&print_float(number.as_f64().unwrap_or_default())),
        },
        Value::String(value) => text.push_str(value),
        Value::Array(items) => {
            text.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    text.push(' ');
                }
                write(text, item, as_text);
            }
            text.push(']');
        }
        Value::Raw(_) => write(text, &value.parsed(), as_text),
        Value::Object(fields) => {
            text.push_str("map[");
            for (place, (name, value)) in fields.iter().enumerate() {
                if place > 0 {
                    text.push(' ');
                }
                text.push_str(name);
                text.push(':');
                write(text, value, as_text);
            }
            text.push(']');
        }
    }
}
