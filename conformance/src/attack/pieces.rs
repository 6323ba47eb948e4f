//! The bytes of attacks, as data: texts, and generators of long ones.
//!
//! ```toml
//! "text with $names"
//! { repeat = "a", times = 1000 }                      # aaa…
//! { each = '"k$n":""', times = 1000, join = "," }     # "k0":"","k1":"",…
//! { open = "[", close = "]", depth = 1000, around = "1" }
//! { base64 = "text" }
//! { hex = "00 ff" }
//! { chunk = ["a text"] }                              # as a chunk of HTTP/1.1
//! { slowly = "GET /", pause-ms = 20 }                 # byte by byte
//! { pause-ms = 20 }
//! { close = "write" }                                 # the client will not send more
//! ```

use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// A text: one piece, or several.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// A text, in which names are replaced.
    Plain(String),
    /// Pieces, one after the other.
    Pieces(Vec<Piece>),
}

/// A part of a text.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Piece {
    /// A text, in which names are replaced.
    Plain(String),
    /// A generated text.
    Generated(Generator),
}

/// A generator of a part of a text.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, untagged)]
pub enum Generator {
    /// A repeated text.
    #[serde(rename_all = "kebab-case")]
    Repeat {
        /// The text.
        repeat: Box<Text>,
        /// The number of repetitions.
        times: usize,
    },
    /// A text for each number from 0 on, in which `$n` is the number.
    Each {
        /// The text.
        each: String,
        /// The number of texts.
        times: usize,
        /// The separator.
        #[serde(default)]
        join: String,
    },
    /// Nested levels.
    Nest {
        /// The text that opens a level.
        open: String,
        /// The text that closes it.
        #[serde(default)]
        close: String,
        /// The number of levels.
        depth: usize,
        /// The innermost text.
        #[serde(default)]
        around: String,
    },
    /// A text in base64.
    Base64 {
        /// The text.
        base64: Box<Text>,
    },
    /// Bytes.
    Hex {
        /// The bytes, of two digits each.
        hex: String,
    },
    /// A chunk of HTTP/1.1.
    Chunk {
        /// The content.
        chunk: Box<Text>,
    },
    /// Bytes that are sent one by one.
    #[serde(rename_all = "kebab-case")]
    Slowly {
        /// The bytes.
        slowly: Box<Text>,
        /// Milliseconds between two.
        pause_ms: u64,
    },
    /// A pause.
    #[serde(rename_all = "kebab-case")]
    Pause {
        /// Milliseconds.
        pause_ms: u64,
    },
    /// The end of sending.
    Close {
        /// `write`.
        close: Side,
    },
}

/// The half of a connection that is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The client's sending half.
    Write,
}

/// An act on a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Sends bytes.
    Send(Vec<u8>),
    /// Pauses.
    Pause(Duration),
    /// Closes the sending half.
    CloseWrite,
}

/// The values of names.
pub type Names = BTreeMap<&'static str, String>;

impl Text {
    /// The acts that send this.
    ///
    /// # Errors
    /// If it has a name without a value, or malformed hexadecimal digits.
    pub fn acts(&self, names: &Names) -> Result<Vec<Act>> {
        let mut acts = vec![Act::Send(Vec::new())];
        self.act(names, &mut acts)?;
        acts.retain(|act| !matches!(act, Act::Send(bytes) if bytes.is_empty()));
        Ok(acts)
    }

    /// The bytes.
    ///
    /// # Errors
    /// The errors of [`acts`](Self::acts), or an error if it has pauses.
    pub fn bytes(&self, names: &Names) -> Result<Vec<u8>> {
        let mut acts = self.acts(names)?;
        match (acts.pop(), acts.is_empty()) {
            (None, _) => Ok(Vec::new()),
            (Some(Act::Send(bytes)), true) => Ok(bytes),
            _ => bail!("this text takes time"),
        }
    }

    /// The bytes as UTF-8.
    ///
    /// # Errors
    /// The errors of [`bytes`](Self::bytes).
    pub fn text(&self, names: &Names) -> Result<String> {
        String::from_utf8(self.bytes(names)?).context("this is no text")
    }

    fn act(&self, names: &Names, acts: &mut Vec<Act>) -> Result<()> {
        match self {
            Text::Plain(text) => append(acts, with_names(text, names)?.as_bytes()),
            Text::Pieces(pieces) => {
                for piece in pieces {
                    match piece {
                        Piece::Plain(text) => append(acts, with_names(text, names)?.as_bytes()),
                        Piece::Generated(generator) => generator.act(names, acts)?,
                    }
                }
            }
        }
        Ok(())
    }
}

impl Generator {
    fn act(&self, names: &Names, acts: &mut Vec<Act>) -> Result<()> {
        match self {
            Generator::Repeat { repeat, times } => append(acts, &repeat.bytes(names)?.repeat(*times)),
            Generator::Each { each, times, join } => {
                let mut names = names.clone();
                for number in 0..*times {
                    if number > 0 {
                        append(acts, join.as_bytes());
                    }
                    names.insert("n", number.to_string());
                    append(acts, with_names(each, &names)?.as_bytes());
                }
            }
            Generator::Nest { open, close, depth, around } => {
                append(acts, open.repeat(*depth).as_bytes());
                append(acts, with_names(around, names)?.as_bytes());
                append(acts, close.repeat(*depth).as_bytes());
            }
            Generator::Base64 { base64 } => append(acts, BASE64.encode(base64.bytes(names)?).as_bytes()),
            Generator::Hex { hex } => append(acts, &from_hex(hex)?),
            Generator::Chunk { chunk } => {
                let bytes = chunk.bytes(names)?;
                append(acts, format!("{:x}\r\n", bytes.len()).as_bytes());
                append(acts, &bytes);
                append(acts, b"\r\n");
            }
            Generator::Slowly { slowly, pause_ms } => {
                for byte in slowly.bytes(names)? {
                    acts.extend([Act::Send(vec![byte]), Act::Pause(Duration::from_millis(*pause_ms))]);
                }
            }
            Generator::Pause { pause_ms } => acts.push(Act::Pause(Duration::from_millis(*pause_ms))),
            Generator::Close { close: Side::Write } => acts.push(Act::CloseWrite),
        }
        Ok(())
    }
}

fn append(acts: &mut Vec<Act>, bytes: &[u8]) {
    match acts.last_mut() {
        Some(Act::Send(last)) => last.extend_from_slice(bytes),
        _ => acts.push(Act::Send(bytes.to_vec())),
    }
}

fn from_hex(text: &str) -> Result<Vec<u8>> {
    let digits: Vec<char> = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    let byte = |pair: &[char]| {
        u8::from_str_radix(&pair.iter().collect::<String>(), 16).with_context(|| format!("{pair:?} is no byte"))
    };
    digits.chunks(2).map(byte).collect()
}

/// `text` with the values of its names: `$name`, or `${name}` before a letter; `$$` is a dollar sign.
fn with_names(text: &str, names: &Names) -> Result<String> {
    let mut parts = text.split('$');
    let mut result = parts.next().unwrap_or_default().to_owned();
    while let Some(part) = parts.next() {
        if part.is_empty() {
            result.push('$');
            result.push_str(parts.next().unwrap_or_default());
            continue;
        }
        let braced = part.strip_prefix('{').and_then(|part| part.split_once('}'));
        let end = part.find(|letter: char| !letter.is_ascii_lowercase()).unwrap_or(part.len());
        let (name, rest) = braced.unwrap_or_else(|| part.split_at(end));
        result.push_str(names.get(name).with_context(|| format!("there is no ${name}"))?);
        result.push_str(rest);
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acts(toml: &str) -> Result<Vec<Act>> {
        #[derive(Deserialize)]
        struct Holder {
            text: Text,
        }
        let holder: Holder = toml::from_str(&format!("text = {toml}"))?;
        holder.text.acts(&Names::from([("name", "value".to_owned())]))
    }

    #[test]
    fn generators_make_what_they_say() {
        for (toml, expected) in [
            (r#""a ${name}x $name-$$b""#, "a valuex value-$b"),
            (r#"[{ repeat = "ab", times = 3 }, "c"]"#, "abababc"),
            (r#"[{ repeat = [{ hex = "41" }, "$name"], times = 2 }]"#, "AvalueAvalue"),
            (r#"[{ each = "$n:$name", times = 3, join = "," }]"#, "0:value,1:value,2:value"),
            (r#"[{ open = "[", close = "]", depth = 3, around = "1" }]"#, "[[[1]]]"),
            (r#"[{ open = "{", depth = 2 }]"#, "{{"),
            (r#"[{ base64 = "a" }, { hex = "41 42" }]"#, "YQ==AB"),
            (r#"[{ chunk = [{ repeat = "a", times = 17 }] }]"#, "11\r\naaaaaaaaaaaaaaaaa\r\n"),
        ] {
            assert_eq!(acts(toml).unwrap(), [Act::Send(expected.into())], "{toml}");
        }
        assert!(acts(r#""$nothing""#).is_err() && acts(r#"[{ hex = "4x" }]"#).is_err());
    }

    #[test]
    fn some_texts_take_time() {
        let send = |text: &str| Act::Send(text.into());
        let pause = || Act::Pause(Duration::from_millis(5));
        let text = r#"["a", "b", { slowly = "cd", pause-ms = 5 }, "e", { close = "write" }]"#;
        let expected = [send("ab"), send("c"), pause(), send("d"), pause(), send("e"), Act::CloseWrite];
        assert_eq!(acts(text).unwrap(), expected);
    }
}
