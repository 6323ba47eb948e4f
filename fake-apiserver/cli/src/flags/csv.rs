//! Lines of CSV, as Go's `encoding/csv` (1.26) reads and writes them.

/// The fields of a line; none, if it is empty.
///
/// # Errors
/// Go's message.
pub(super) fn fields(text: &str) -> Result<Vec<String>, String> {
    let wrong = |column: usize, why: &str| Err(format!("parse error on line 1, column {column}: {why}"));
    let line = text.split('\n').next().unwrap_or_default();
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let (mut fields, mut rest) = (Vec::new(), line);
    loop {
        let column = |rest: &str| line.len().saturating_sub(rest.len()).saturating_add(1);
        let Some(mut quoted) = rest.strip_prefix('"') else {
            let (field, after) = rest.split_once(',').map_or((rest, None), |(field, after)| (field, Some(after)));
            if let Some(at) = field.find('"') {
                return wrong(column(&rest[at..]), "bare \" in non-quoted-field");
            }
            fields.push(field.to_owned());
            match after {
                Some(after) => rest = after,
                None => return Ok(fields),
            }
            continue;
        };
        let mut field = String::new();
        loop {
            let Some((part, after)) = quoted.split_once('"') else {
                return wrong(line.len().saturating_add(1), "extraneous or missing \" in quoted-field");
            };
            field.push_str(part);
            if let Some(more) = after.strip_prefix('"') {
                field.push('"');
                quoted = more;
            } else if let Some(more) = after.strip_prefix(',') {
                rest = more;
                break;
            } else if after.is_empty() {
                fields.push(field);
                return Ok(fields);
            } else {
                return wrong(column(after).saturating_sub(1), "extraneous or missing \" in quoted-field");
            }
        }
        fields.push(field);
    }
}

/// The line of some fields (`Writer`).
pub(super) fn line(fields: &[String]) -> String {
    let needs_quotes = |field: &str| {
        field == "\\." || field.contains([',', '"', '\r', '\n']) || field.starts_with(char::is_whitespace)
    };
    let field = |field: &String| match needs_quotes(field) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.clone(),
    };
    fields.iter().map(field).collect::<Vec<_>>().join(",")
}
