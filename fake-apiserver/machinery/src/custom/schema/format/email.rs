//! Email addresses: `mail.ParseAddress` of Go 1.26 (`net/mail/message.go`), without its result.

use std::net::IpAddr;

/// Whether Go parses the text as one address, perhaps with a name.
pub(super) fn email(text: &str) -> bool {
    let mut parser = Parser { rest: text };
    parser.address(true) == Some(1) && parser.skip_comments().is_some() && parser.rest.is_empty()
}

struct Parser<'t> {
    rest: &'t str,
}

impl Parser<'_> {
    fn consume(&mut self, char: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(char)?;
        Some(())
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    /// `skipCFWS`: space and comments.
    fn skip_comments(&mut self) -> Option<()> {
        self.skip_space();
        while self.consume('(').is_some() {
            self.comment()?;
            self.skip_space();
        }
        Some(())
    }

    /// Parses the rest of a comment, which may have nested comments. Returns its text.
    fn comment(&mut self) -> Option<String> {
        let mut depth = 1;
        let mut text = String::new();
        while let Some(mut char) = self.rest.chars().next() {
            if char == '\\' && self.rest.len() > 1 {
                self.consume(char)?;
                char = self.rest.chars().next()?;
            } else if char == '(' {
                depth += 1;
            } else if char == ')' {
                depth -= 1;
            }
            self.consume(char)?;
            if depth == 0 {
                return Some(text);
            }
            text.push(char);
        }
        None
    }

    /// `parseAddress`: the number of addresses, several if it is a group.
    fn address(&mut self, groups: bool) -> Option<usize> {
        self.skip_space();
        if self.rest.is_empty() {
            return None;
        }
        let before = self.rest;
        if self.spec().is_some() {
            self.skip_space();
            if self.consume('(').is_some() {
                let comment = self.comment()?;
                let known = |word: &str| encoded_word(word) != Word::UnknownCharset;
                return comment.split([' ', '\t']).all(known).then_some(1);
            }
            return Some(1);
        }
        self.rest = before;
        if !self.rest.starts_with('<') {
            self.phrase()?;
        }
        self.skip_space();
        if groups && self.consume(':').is_some() {
            return self.group();
        }
        self.consume('<')?;
        self.spec()?;
        self.consume('>')?;
        Some(1)
    }

    /// `consumeGroupList`.
    fn group(&mut self) -> Option<usize> {
        self.skip_space();
        let mut count = 0;
        if self.consume(';').is_none() {
            loop {
                self.skip_space();
                count += self.address(false)?;
                self.skip_comments()?;
                if self.consume(';').is_some() {
                    break;
                }
                self.consume(',')?;
            }
        }
        self.skip_comments()?;
        Some(count)
    }

    /// `consumeAddrSpec`.
    fn spec(&mut self) -> Option<()> {
        self.skip_space();
        if self.rest.starts_with('"') {
            self.quoted().filter(|quoted| *quoted > 0)?;
        } else {
            self.atom(false)?;
        }
        self.consume('@')?;
        self.skip_space();
        if self.consume('[').is_none() {
            return self.atom(false).map(drop);
        }
        let end = self.rest.find(']')?;
        let literal = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        literal.parse::<IpAddr>().ok().map(drop)
    }

    /// `consumePhrase`: words, of which one is enough.
    fn phrase(&mut self) -> Option<()> {
        let mut words = 0;
        loop {
            if words > 0 {
                self.skip_comments()?;
            }
            self.skip_space();
            if self.rest.is_empty() {
                break;
            }
            let word = if self.rest.starts_with('"') {
                self.quoted().map(drop)
            } else {
                self.atom(true).filter(|atom| encoded_word(atom) != Word::UnknownCharset).map(drop)
            };
            if word.is_none() {
                return (words > 0).then_some(());
            }
            words += 1;
        }
        Some(())
    }

    /// `consumeQuotedString`: the number of characters in it.
    fn quoted(&mut self) -> Option<usize> {
        let mut escaped = false;
        let mut count = 0;
        for (at, char) in self.rest.char_indices().skip(1) {
            match char {
                '"' if !escaped => {
                    self.rest = &self.rest[at + 1..];
                    return Some(count);
                }
                '\\' if !escaped => {
                    escaped = true;
                    continue;
                }
                ' ' | '\t' => {}
                _ if is_visible(char) => {}
                _ => return None,
            }
            escaped = false;
            count += 1;
        }
        None
    }

    /// `consumeAtom`: with dots; if it is not `permissive`, these must be between other characters.
    fn atom(&mut self, permissive: bool) -> Option<String> {
        let is_atext = |char: char| is_visible(char) && !r#"()<>[]:;@\,""#.contains(char);
        let end = self.rest.find(|char| !is_atext(char)).unwrap_or(self.rest.len());
        let (atom, rest) = self.rest.split_at(end);
        let dots = || atom.starts_with('.') || atom.contains("..") || atom.ends_with('.');
        if atom.is_empty() {
            return None;
        }
        self.rest = rest;
        (permissive || !dots()).then(|| atom.to_owned())
    }
}

fn is_visible(char: char) -> bool {
    matches!(char, '!'..='~') || !char.is_ascii()
}

#[derive(PartialEq)]
enum Word {
    Plain,
    UnknownCharset,
}

/// The kind of a word: one that is encoded (RFC 2047) in a charset that Go does not know is an error.
fn encoded_word(word: &str) -> Word {
    let Some(inner) = word.strip_prefix("=?").and_then(|rest| rest.strip_suffix("?=")) else { return Word::Plain };
    let parts: Vec<&str> = inner.splitn(3, '?').collect();
    let [charset, encoding, text] = parts.as_slice() else { return Word::Plain };
    let decodes = match *encoding {
        "q" | "Q" => is_q_encoded(text),
        "b" | "B" => is_base64(text),
        _ => false,
    };
    let known = ["utf-8", "iso-8859-1", "us-ascii"].iter().any(|known| known.eq_ignore_ascii_case(charset));
    if charset.is_empty() || !decodes || known { Word::Plain } else { Word::UnknownCharset }
}

fn is_q_encoded(text: &str) -> bool {
    let mut bytes = text.bytes();
    let hex = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_hexdigit());
    while let Some(byte) = bytes.next() {
        let fits = match byte {
            b'=' => hex(bytes.next()) && hex(bytes.next()),
            b'\n' | b'\r' | b'\t' | b' '..=b'~' => true,
            _ => false,
        };
        if !fits {
            return false;
        }
    }
    true
}

fn is_base64(text: &str) -> bool {
    text.is_empty() || super::code::base64(text)
}
