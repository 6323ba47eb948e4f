//! The values of string and bytes literals.
//!
//! Port of `parser/unescape.go` of cel-go v0.29.2.

/// The bytes of a literal that the lexer found: without quotes, with its escape sequences resolved.
///
/// # Errors
/// If an escape sequence is invalid, with cel-go's message.
pub(crate) fn unescape(literal: &str, is_bytes: bool) -> Result<Vec<u8>, String> {
    const BAD: &str = "unable to unescape string";
    const OCTAL: &str = "unable to unescape octal sequence in string";
    let text = literal.replace("\r\n", "\n").replace('\r', "\n");
    let raw = text.starts_with(['r', 'R']);
    let text = if raw { &text[1..] } else { &text[..] };
    let triple = text.len() >= 6 && (text.starts_with("'''") || text.starts_with("\"\"\""));
    let quotes = if triple { 3 } else { 1 };
    let body = text.get(quotes..text.len() - quotes).ok_or(BAD)?;
    if raw || !body.contains('\\') {
        return Ok(body.as_bytes().to_vec());
    }
    let mut out = Vec::with_capacity(body.len());
    let push = |out: &mut Vec<u8>, code: u32| match (is_bytes, char::from_u32(code)) {
        (true, _) => {
            out.push(code as u8);
            Ok(())
        }
        (false, Some(c)) => {
            out.extend(c.encode_utf8(&mut [0; 4]).as_bytes());
            Ok(())
        }
        (false, None) => Err("invalid unicode code point".to_owned()),
    };
    let mut chars = body.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.extend(c.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        let kind = chars.next().ok_or("unable to unescape string, found '\\' as last character")?;
        let simple = match kind {
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 11,
            '\\' | '\'' | '"' | '`' | '?' => kind as u8,
            'x' | 'X' | 'u' | 'U' => {
                let digits = match kind {
                    'u' => 4,
                    'U' => 8,
                    _ => 2,
                };
                if is_bytes && digits > 2 {
                    return Err(BAD.to_owned());
                }
                let hex: String = chars.by_ref().take(digits).collect();
                let code = u32::from_str_radix(&hex, 16).ok().filter(|_| hex.len() == digits).ok_or(BAD)?;
                push(&mut out, code)?;
                continue;
            }
            '0'..='3' => {
                let octal: String = std::iter::once(kind).chain(chars.by_ref().take(2)).collect();
                let code = u32::from_str_radix(&octal, 8).ok().filter(|_| octal.len() == 3).ok_or(OCTAL)?;
                push(&mut out, code)?;
                continue;
            }
            _ => return Err(BAD.to_owned()),
        };
        out.push(simple);
    }
    Ok(out)
}
