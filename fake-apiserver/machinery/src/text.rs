//! Texts that have to fit.

/// The beginning of a text: as many characters as fit into so many bytes.
pub fn beginning(text: &str, longest: usize) -> &str {
    let mut ends = (0..=longest.min(text.len())).rev();
    &text[..ends.find(|end| text.is_char_boundary(*end)).unwrap_or_default()]
}
