//! Compressed responses, as Go's transport reads them.

use bytes::Bytes;
use flate2::bufread::MultiGzDecoder;
use std::io::{self, ErrorKind, Read};

/// The content of a compressed body, which may be of several members.
///
/// # Errors
/// Go's text, if the body is not gzip, ends early, or is longer than `limit` bytes.
pub(super) fn decompressed(body: &[u8], limit: usize) -> Result<Bytes, String> {
    let mut content = Vec::new();
    if !body.is_empty() {
        let limit = u64::try_from(limit).unwrap_or(u64::MAX);
        let mut decoder = MultiGzDecoder::new(body).take(limit.saturating_add(1));
        let length = decoder.read_to_end(&mut content).map_err(|error| in_go_s_words(&error))?;
        if length as u64 > limit {
            return Err("length limit exceeded".to_owned());
        }
    }
    Ok(content.into())
}

fn in_go_s_words(error: &io::Error) -> String {
    let text = error.to_string();
    match error.kind() {
        ErrorKind::UnexpectedEof => "unexpected EOF".to_owned(),
        _ if text.contains("header") => "gzip: invalid header".to_owned(),
        _ if text.contains("checksum") => "gzip: invalid checksum".to_owned(),
        // Go says where.
        _ => "flate: corrupt input".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).expect("a vector takes all");
        encoder.finish().expect("a vector takes all")
    }

    #[test]
    fn members_follow_each_other_and_lengths_are_limited() {
        let one = gzip(b"{}");
        assert_eq!(decompressed(&[one.clone(), one.clone()].concat(), 4), Ok(Bytes::from("{}{}")));
        assert_eq!(decompressed(b"", 4), Ok(Bytes::new()));
        let bomb = gzip(&vec![0; 1 << 20]);
        for (body, limit, error) in [
            (&one[..], 1, "length limit exceeded"),
            (&bomb, 1 << 19, "length limit exceeded"),
            (&one[..one.len() - 1], 9, "unexpected EOF"),
            (b"{\"not\": \"compressed\"}", 9, "gzip: invalid header"),
        ] {
            assert_eq!(decompressed(body, limit), Err(error.to_owned()));
        }
        let mut wrong = one;
        let checksum = wrong.len() - 8;
        wrong[checksum] ^= 1;
        assert_eq!(decompressed(&wrong, 9), Err("gzip: invalid checksum".to_owned()));
    }
}
