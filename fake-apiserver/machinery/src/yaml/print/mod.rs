//! YAML of JSON, as `JSONToYAML` of sigs.k8s.io/yaml v1.6.0 prints it: the emitter and encoder of go.yaml.in/yaml/v2 v2.4.4 (emitterc.go,
//! encode.go), for what they are given there: trees of JSON, in block style.
//!
//! ```text
//!   JSON ── reread.rs ──▶ what Go's YAML reads it as ── order.rs ──▶ keys in order ── style.rs, writer.rs ──▶ text
//! ```

mod order;
mod reread;
mod style;
mod writer;

use crate::yaml::scalar;
use order::in_order;
use style::{Style, Text};
use tree::{Map, Number, Value};
use writer::{INDENT, Writer};

/// The longest key that stands on the line of its value, in bytes.
const SIMPLE_KEY_BYTES: usize = 128;
/// Words that are booleans in YAML 1.1 only.
const OLD_BOOLEANS: [&str; 6] = ["y", "n", "yes", "no", "on", "off"];

/// Prints JSON in YAML.
///
/// # Errors
/// If it is not JSON, or cannot be represented in YAML: some control characters, keys of more than 1,024 characters.
pub fn print(json: &[u8]) -> Result<String, String> {
    let text = str::from_utf8(json).map_err(|why| format!("yaml: {why}"))?;
    let mut tree: Value = serde_json::from_str(text).map_err(|why| format!("yaml: {why}"))?;
    reread::reread(text, &mut tree).map_err(|why| format!("yaml: {why}"))?;
    let mut printer = Printer { writer: Writer::with_capacity(json.len()), indent: None };
    printer.node(&tree, Context::Root);
    Ok(printer.writer.finish())
}

/// Prints a string on one line, as go.yaml.in/yaml/v3 does: longer lines are not folded, and old words for booleans are strings.
pub fn in_line(text: &str) -> String {
    let is_text = scalar::is_text(text) || OLD_BOOLEANS.contains(&&*text.to_ascii_lowercase());
    let mut writer = Writer::with_capacity(text.len());
    match Text::of(text).style(true, is_text) {
        Style::Plain => writer.flow(text, false, None),
        Style::SingleQuoted => writer.flow(text, true, None),
        Style::DoubleQuoted | Style::Literal => writer.double_quoted(text, None),
    }
    writer.finish().trim_end_matches('\n').to_owned()
}

/// The position of a node, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Context {
    Root,
    Item,
    /// A value of an object, or a key after `?`.
    Field,
    /// A key on the line of its value.
    SimpleKey,
}

struct Printer {
    writer: Writer,
    /// The indentation of the open list or object; `None` before the first.
    indent: Option<usize>,
}

impl Printer {
    fn node(&mut self, value: &Value, context: Context) {
        match value {
            Value::Array(items) if items.is_empty() => self.writer.empty("[", "]"),
            Value::Array(items) => self.list(items, context),
            Value::Object(fields) if fields.is_empty() => self.writer.empty("{", "}"),
            Value::Object(fields) => self.object(fields),
            Value::Null => self.plain("null"),
            Value::Bool(on) => self.plain(if *on { "true" } else { "false" }),
            Value::Number(number) => self.plain(&printed(number)),
            Value::String(text) => self.text(&Text::of(text), context),
            Value::Raw(_) => self.node(&value.parsed(), context),
        }
    }

    fn list(&mut self, items: &[Value], context: Context) {
        let outer = self.indent;
        // A list in a field is indented no more than its key.
        if context != Context::Field || self.writer.begins_line() {
            self.indent = Some(outer.map_or(0, |indent| indent + INDENT));
        }
        for item in items {
            self.new_line();
            self.writer.indicator("-", true, false, true);
            self.node(item, Context::Item);
        }
        self.indent = outer;
    }

    fn object(&mut self, fields: &Map) {
        let outer = self.indent;
        self.indent = Some(outer.map_or(0, |indent| indent + INDENT));
        for (key, value) in in_order(fields) {
            let key = Text::of(key);
            self.new_line();
            if key.text.len() <= SIMPLE_KEY_BYTES && !key.has_breaks {
                self.text(&key, Context::SimpleKey);
                self.writer.indicator(":", false, false, false);
            } else {
                self.writer.indicator("?", true, false, true);
                self.text(&key, Context::Field);
                self.new_line();
                self.writer.indicator(":", true, false, true);
            }
            self.node(value, Context::Field);
        }
        self.indent = outer;
    }

    fn new_line(&mut self) {
        self.writer.indent(self.indent.unwrap_or_default());
    }

    fn plain(&mut self, text: &str) {
        self.writer.flow(text, false, None);
    }

    fn text(&mut self, text: &Text<'_>, context: Context) {
        let is_key = context == Context::SimpleKey;
        // Lines of a scalar are indented more than its key or item.
        let indent = self.indent.unwrap_or_default() + INDENT;
        let folds = (!is_key).then_some(indent);
        match text.style(is_key, scalar::is_text(text.text)) {
            Style::Plain => self.writer.flow(text.text, false, folds),
            Style::SingleQuoted => self.writer.flow(text.text, true, folds),
            Style::DoubleQuoted => self.writer.double_quoted(text.text, folds),
            Style::Literal => self.writer.literal(text.text, indent),
        }
    }
}

/// A number: `strconv.FormatFloat` with the format `g`, unless it is an integer.
fn printed(number: &Number) -> String {
    if !number.is_f64() {
        return number.to_string();
    }
    let float = number.as_f64().unwrap_or_default();
    let scientific = format!("{float:e}");
    let (digits, exponent) = scientific.split_once('e').expect("the format has an exponent");
    match exponent.parse::<i32>().expect("the exponent is a small number") {
        -4..=5 => float.to_string(),
        exponent @ ..0 => format!("{digits}e-{:02}", -exponent),
        exponent => format!("{digits}e+{exponent:02}"),
    }
}
