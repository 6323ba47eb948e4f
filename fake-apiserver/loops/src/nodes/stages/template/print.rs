//! Values as templates print them (`fmt.Fprint` of Go).

use super::Data;
use tree::Value;

/// A value as an action prints it.
pub(super) fn value(data: &Data) -> String {
    match data {
        Data::Nothing | Data::Json(Value::Null) => "<no value>".to_owned(),
        data => plain(data),
    }
}

/// A value as `%v` prints it.
pub(super) fn plain(data: &Data) -> String {
    match data {
        Data::Nothing => "<nil>".to_owned(),
        Data::Int(number) => number.to_string(),
        Data::Json(value) => json(value),
    }
}

fn json(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.to_string(),
        Value::Array(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(" ")),
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(one, _)| *one);
            let fields: Vec<_> = fields.into_iter().map(|(name, value)| format!("{name}:{}", json(value))).collect();
            format!("map[{}]", fields.join(" "))
        }
        Value::Raw(_) => json(&value.parsed()),
    }
}

/// Values one behind the other (`fmt.Sprint`): with a blank between two of which none is a text.
pub(super) fn sprint(all: &[Data]) -> String {
    // Numbers of objects are texts, but `reflect.String` is what counts, which they are, too.
    let is_text = |data: &Data| matches!(data, Data::Json(Value::String(_) | Value::Number(_)));
    let mut text = String::new();
    for (index, data) in all.iter().enumerate() {
        if index > 0 && !is_text(data) && !is_text(&all[index - 1]) {
            text.push(' ');
        }
        text.push_str(&plain(data));
    }
    text
}

/// `fmt.Sprintf`, with the verbs `%s`, `%v`, `%d` and `%q` of texts.
pub(super) fn sprintf(format: &str, arguments: &[Data]) -> Result<String, String> {
    let (mut text, mut rest, mut next) = (String::new(), format, arguments.iter());
    while let Some((before, behind)) = rest.split_once('%') {
        text.push_str(before);
        let Some(verb) = behind.chars().next() else { return Err("the format ends with %".to_owned()) };
        rest = &behind[verb.len_utf8()..];
        if verb == '%' {
            text.push('%');
            continue;
        }
        let Some(argument) = next.next() else { return Err(format!("%{verb} has no argument")) };
        match (verb, argument) {
            ('v', argument) => text.push_str(&plain(argument)),
            ('s', Data::Json(Value::String(_) | Value::Number(_))) => text.push_str(&plain(argument)),
            ('d', Data::Int(number)) => text.push_str(&number.to_string()),
            ('q', Data::Json(Value::String(quoted))) => text.push_str(&serde_json::json!(quoted.as_str()).to_string()),
            _ => return Err(format!("%{verb} of {} is not supported in a template", plain(argument))),
        }
    }
    if next.next().is_some() {
        return Err("the format has fewer verbs than there are arguments".to_owned());
    }
    text.push_str(rest);
    Ok(text)
}
