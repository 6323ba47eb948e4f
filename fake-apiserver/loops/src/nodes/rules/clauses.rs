//! The clauses behind what becomes of pods: how long they take to go, what they use, and what they say.
//!
//! ```text
//! clause = "gone after " ( time | "grace" ) | "cpu " quantity | "memory " quantity
//!        | "log " text | "exec " text " prints " text [ " exits " code ] | "port " number " at " address
//! text   = "'" { character | "\n" | "\t" | "\\" | "\'" } "'"
//! ```

use super::glob::Glob;
use super::parse::{Parsed, error, number, time};
use super::scan::Piece;
use super::{Exec, Fate, Gone};
use quantity::Quantity;
use std::net::SocketAddr;

const CLAUSE: &str = "gone after, cpu, memory, log, exec or port";
const TEXT: &str = "a text in single quotes";
const PORT: &str = "a port from 1 to 65535";
const ADDRESS: &str = "an address such as 127.0.0.1:8080";
const AMOUNT: &str = "a quantity such as 200m or 64Mi";

/// Reads a clause into what becomes of a pod.
pub(super) fn clause(piece: Piece<'_>, fate: &mut Fate) -> Parsed<()> {
    let words = piece.words();
    let word = |index: usize| words.get(index).copied().unwrap_or(piece.end());
    let used = match word(0).text {
        "gone" => {
            fate.gone = gone(piece, &words)?;
            3
        }
        resource @ ("cpu" | "memory") => {
            fate.usage.push((resource.to_owned(), amount(word(1))?));
            2
        }
        "log" => {
            fate.log = Some(text(word(1))?);
            2
        }
        "exec" => {
            let (exec, used) = exec(&words, piece)?;
            fate.execs.push(exec);
            used
        }
        "port" => {
            fate.ports.push(port(word(1), word(2), word(3))?);
            4
        }
        _ => return error(piece, CLAUSE),
    };
    match words.get(used) {
        Some(word) => error(*word, "a comma, a semicolon or the end"),
        None => Ok(()),
    }
}

fn gone(piece: Piece<'_>, words: &[Piece<'_>]) -> Parsed<Gone> {
    match words {
        [gone, after, end, ..] if (gone.text, after.text) == ("gone", "after") => match end.text {
            "grace" => Ok(Gone::AfterGrace),
            _ => time(*end).map(Gone::After),
        },
        _ => error(piece, "gone after and a time, or gone after grace"),
    }
}

/// An amount, in thousandths.
fn amount(piece: Piece<'_>) -> Parsed<i64> {
    match Quantity::parse(piece.text) {
        Ok(quantity) if quantity.sign().is_ge() => Ok(quantity.milli_value()),
        _ => error(piece, AMOUNT),
    }
}

fn exec(words: &[Piece<'_>], piece: Piece<'_>) -> Parsed<(Exec, usize)> {
    let word = |index: usize| words.get(index).copied().unwrap_or(piece.end());
    let command = Glob::new(text(word(1))?);
    if word(2).text != "prints" {
        return error(word(2), "prints and a text in single quotes");
    }
    let prints = text(word(3))?;
    if word(4).text != "exits" {
        return Ok((Exec { command, prints, code: 0 }, 4));
    }
    let code = number(word(5), 255, "an exit code from 0 to 255")?;
    Ok((Exec { command, prints, code: i64::try_from(code).unwrap_or_default() }, 6))
}

/// A port, and where it leads.
fn port(number: Piece<'_>, at: Piece<'_>, address: Piece<'_>) -> Parsed<(u16, SocketAddr)> {
    let port = match self::number(number, u16::MAX.into(), PORT)?.try_into() {
        Ok(port @ 1..) => port,
        _ => return error(number, PORT),
    };
    match (at.text, address.text.parse()) {
        ("at", Ok(address)) => Ok((port, address)),
        ("at", Err(_)) => error(address, ADDRESS),
        _ => error(at, "at and an address"),
    }
}

/// A text in quotes.
fn text(piece: Piece<'_>) -> Parsed<String> {
    let inner = piece.text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    let Some(inner) = inner.filter(|_| piece.text.len() > 1) else { return error(piece, TEXT) };
    let mut text = String::new();
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match (character, character == '\\') {
            (_, false) => text.push(character),
            (_, true) => match characters.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(other @ ('\\' | '\'')) => text.push(other),
                _ => return error(piece, "\\n, \\t, \\\\ or \\' behind a backslash"),
            },
        }
    }
    Ok(text)
}
