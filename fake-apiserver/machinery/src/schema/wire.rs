//! The protobuf wire format: reading, with the error texts of gogo's generated decoders, and writing.

/// A reader of a message's fields.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

/// The wire type of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WireType(u8);

impl WireType {
    pub(super) const VARINT: WireType = WireType(0);
    pub(super) const FIXED64: WireType = WireType(1);
    pub(super) const BYTES: WireType = WireType(2);
    const START_GROUP: WireType = WireType(3);
    const END_GROUP: WireType = WireType(4);
    const FIXED32: WireType = WireType(5);

    /// Checks that the field named `go_name` has the wire type `expected`.
    pub(super) fn expect(self, expected: WireType, go_name: &str) -> Read<()> {
        if self == expected { Ok(()) } else { Err(format!("proto: wrong wireType = {} for field {go_name}", self.0)) }
    }
}

/// The head of a field.
pub(super) struct Tag {
    pub(super) number: u32,
    pub(super) wire_type: WireType,
}

/// A value that was read, or the error's text.
pub(super) type Read<T> = Result<T, String>;

impl<'a> Reader<'a> {
    pub(super) fn new(message: &'a [u8]) -> Self {
        Reader { rest: message }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next field's head; `None` at the end. `message` is the name of the message, for errors.
    pub(super) fn tag(&mut self, message: &str) -> Read<Option<Tag>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let wire = self.varint()?;
        let wire_type = WireType(wire as u8 & 7);
        // Upstream truncates it, too.
        let number = (wire >> 3) as i32;
        if wire_type == WireType::END_GROUP {
            return Err(format!("proto: {message}: wiretype end group for non-group"));
        }
        match u32::try_from(number) {
            Ok(number @ 1..) => Ok(Some(Tag { number, wire_type })),
            _ => Err(format!("proto: {message}: illegal tag {number} (wire type {wire})")),
        }
    }

    pub(super) fn varint(&mut self) -> Read<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.rest.split_first().ok_or_else(unexpected_end)?;
            self.rest = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if *byte < 0x80 {
                return Ok(value);
            }
        }
        Err("proto: integer overflow".to_owned())
    }

    pub(super) fn fixed64(&mut self) -> Read<u64> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or_else(unexpected_end)?;
        self.rest = rest;
        Ok(u64::from_le_bytes(*bytes))
    }

    /// Reads a length, and as many bytes.
    pub(super) fn bytes(&mut self) -> Read<&'a [u8]> {
        let length = i64::from_ne_bytes(self.varint()?.to_ne_bytes());
        let length = usize::try_from(length).map_err(|_| "proto: negative length found during unmarshaling")?;
        self.take(length)
    }

    /// Skips the value behind a tag.
    pub(super) fn skip(&mut self, wire_type: WireType) -> Read<()> {
        let mut depth = 0_usize;
        let mut wire_type = wire_type;
        loop {
            match wire_type {
                WireType::VARINT => self.varint().map(drop)?,
                WireType::FIXED64 => self.take(8).map(drop)?,
                WireType::BYTES => self.bytes().map(drop)?,
                WireType::START_GROUP => depth += 1,
                WireType::END_GROUP => depth = depth.checked_sub(1).ok_or("proto: unexpected end of group")?,
                WireType::FIXED32 => self.take(4).map(drop)?,
                WireType(other) => return Err(format!("proto: illegal wireType {other}")),
            }
            if depth == 0 {
                return Ok(());
            }
            wire_type = WireType(self.varint()? as u8 & 7);
        }
    }

    fn take(&mut self, length: usize) -> Read<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(unexpected_end)?;
        self.rest = rest;
        Ok(taken)
    }
}

/// A writer of a message's fields.
#[derive(Debug, Default)]
pub(super) struct Writer {
    pub(super) written: Vec<u8>,
}

impl Writer {
    pub(super) fn varint(&mut self, number: u32, value: u64) {
        self.tag(number, WireType::VARINT);
        self.push(value);
    }

    pub(super) fn fixed64(&mut self, number: u32, value: u64) {
        self.tag(number, WireType::FIXED64);
        self.written.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn bytes(&mut self, number: u32, value: &[u8]) {
        self.head(number, value.len());
        self.written.extend_from_slice(value);
    }

    /// Writes the head of a field of `length` bytes.
    pub(super) fn head(&mut self, number: u32, length: usize) {
        self.tag(number, WireType::BYTES);
        self.push(length as u64);
    }

    /// Writes a field that is a message, written by `write`.
    pub(super) fn message(&mut self, number: u32, write: impl FnOnce(&mut Self)) {
        self.tag(number, WireType::BYTES);
        let start = self.written.len();
        write(self);
        // The length, which is known only now, moves from behind the message to its front.
        let end = self.written.len();
        self.push((end - start) as u64);
        let bytes_of_length = self.written.len() - end;
        self.written[start..].rotate_right(bytes_of_length);
    }

    fn tag(&mut self, number: u32, wire_type: WireType) {
        self.push(u64::from(number) << 3 | u64::from(wire_type.0));
    }

    fn push(&mut self, mut varint: u64) {
        while varint >= 0x80 {
            self.written.push(varint as u8 | 0x80);
            varint >>= 7;
        }
        self.written.push(varint as u8);
    }
}

fn unexpected_end() -> String {
    "unexpected EOF".to_owned()
}
