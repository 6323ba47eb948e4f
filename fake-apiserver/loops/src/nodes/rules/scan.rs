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

    /// The parts between separators.
    pub(super) fn split(self, separator: char) -> impl Iterator<Item = Piece<'t>> {
        let mut at = self.at;
        self.text.split(separator).map(move |text| {
            let piece = Piece { text, at };
            at += text.len() + separator.len_utf8();
            piece
        })
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
