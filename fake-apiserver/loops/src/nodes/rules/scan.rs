//! The words of rules, each with its place.

/// A part of rules, with the place at which it begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
}

impl<'t> Piece<'t> {
    /// The part without blanks around it.
    pub(super) fn trimmed(self) -> Piece<'t> {
        let text = self.text.trim_start();
        Piece { text: text.trim_end(), at: self.at + self.text.len() - text.len() }
    }

    /// The parts between separators, which are none within single quotes.
    pub(super) fn split(self, separator: char) -> impl Iterator<Item = Piece<'t>> {
        let mut rest = Some(self);
        std::iter::from_fn(move || {
            let left = rest?;
            let found = left.outside_quotes().find(|(_, character)| *character == separator);
            let (piece, after) = match found {
                Some((index, _)) => {
                    let (piece, after) = left.cut(index, separator.len_utf8());
                    (piece, Some(after))
                }
                None => (left, None),
            };
            rest = after;
            Some(piece)
        })
    }

    /// The characters outside of single quotes, with their places in the text. A backslash within quotes hides the character behind it.
    pub(super) fn outside_quotes(self) -> impl Iterator<Item = (usize, char)> {
        let (mut quoted, mut hidden) = (false, false);
        self.text.char_indices().filter(move |(_, character)| {
            let was_hidden = hidden;
            hidden = quoted && !hidden && *character == '\\';
            let is_quote = *character == '\'' && !was_hidden;
            let is_outside = !quoted && !is_quote;
            quoted ^= is_quote;
            is_outside
        })
    }

    /// The last colon with a blank behind it, outside of quotes.
    pub(super) fn last_colon(self) -> Option<usize> {
        let colons = self
            .outside_quotes()
            .filter(|(index, character)| *character == ':' && self.text[index + 1..].starts_with(' '));
        colons.last().map(|(index, _)| index)
    }

    /// The words of the part.
    pub(super) fn words(self) -> Vec<Piece<'t>> {
        self.split(' ').map(Piece::trimmed).filter(|word| !word.text.is_empty()).collect()
    }

    /// The parts before and behind a byte.
    pub(super) fn cut(self, index: usize, length: usize) -> (Piece<'t>, Piece<'t>) {
        let behind = index + length;
        (Piece { text: &self.text[..index], ..self }, Piece { text: &self.text[behind..], at: self.at + behind })
    }

    /// The place behind the part.
    pub(super) fn end(self) -> Piece<'t> {
        self.cut(self.text.len(), 0).1
    }
}
