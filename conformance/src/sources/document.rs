//! A YAML document of a source.

use serde_json::Value;

/// A YAML document of a source.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The path in the source, with slashes.
    pub file: String,
    /// The document as JSON.
    pub document: Value,
}

impl Document {
    /// The text at a JSON pointer; empty if there is none.
    pub(crate) fn text(&self, pointer: &str) -> &str {
        self.document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    /// The items of a list; another document as it is.
    pub(crate) fn unfolded(self) -> Vec<Document> {
        match (self.text("/apiVersion"), self.text("/kind"), self.document.get("items")) {
            ("v1", "List", Some(Value::Array(items))) => {
                let item = |item: &Value| Document { file: self.file.clone(), document: item.clone() };
                items.iter().map(item).collect()
            }
            _ => vec![self],
        }
    }
}
