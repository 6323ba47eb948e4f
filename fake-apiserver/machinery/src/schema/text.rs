//! Texts: the part that needs no escapes.

/// Bytes that are not copied as they are: control characters, and some others.
pub(super) struct Specials([bool; 256]);

impl Specials {
    /// Control characters and `others`.
    pub(super) const fn and(others: &[u8]) -> Specials {
        let mut specials = [false; 256];
        let mut index = 0;
        while index < 0x20 {
            specials[index] = true;
            index += 1;
        }
        index = 0;
        while index < others.len() {
            specials[others[index] as usize] = true;
            index += 1;
        }
        Specials(specials)
    }

    /// The number of bytes before the first special one.
    pub(super) fn plain_len(&self, bytes: &[u8]) -> usize {
        let is_special = |byte: &u8| self.0[usize::from(*byte)];
        // Eight at once, without a branch for each.
        let is_plain = |block: &&[u8]| !block.iter().fold(false, |found, byte| found | is_special(byte));
        let len = 8 * bytes.chunks_exact(8).take_while(is_plain).count();
        len + bytes[len..].iter().take_while(|byte| !is_special(byte)).count()
    }
}
