//! One connection of an attack: bytes are sent, answers are read and described in short.

use super::answers::{Reader, described, error_name, tally};
use super::connect::Stream;
use super::data::Until;
use super::frames::{END_STREAM, Script, frame, kind, status};
use super::pieces::Act;
use crate::vigil::Vigil;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// The conditions and limits of waiting for answers.
#[derive(Clone, Copy)]
pub struct Waiting<'a> {
    /// The condition that ends the wait.
    pub until: Until,
    /// The number of answers to wait for.
    pub answers: Option<usize>,
    /// The time without a byte after which nothing more is waited for.
    pub patience: Duration,
    /// The vigil, whose rounds an attacker waits for that reads nothing.
    pub vigil: &'a Vigil,
}

/// The most times of patience for one exchange, whatever comes: a busy machine is slow, but answers end.
const MOST_PATIENCE: u32 = 30;
/// The number of rounds of the vigil during which an attacker reads nothing.
const UNREAD_ROUNDS: u64 = 20;
/// The payload of the last ping.
const LAST_PING: &[u8] = b"the last";

/// Carries out `acts`, and reads answers of HTTP/1.1.
pub async fn http1(stream: Box<dyn Stream>, acts: Vec<Act>, waiting: Waiting<'_>) -> String {
    let (mut read, mut write) = tokio::io::split(stream);
    let sending = async {
        for act in acts {
            let done = match act {
                Act::Send(bytes) => write.write_all(&bytes).await,
                Act::Pause(time) => {
                    tokio::time::sleep(time).await;
                    Ok(())
                }
                Act::CloseWrite => write.shutdown().await,
            };
            // The server has closed the connection; its answers are still read.
            if done.is_err() {
                break;
            }
        }
        let _ = write.flush().await;
    };
    tokio::pin!(sending);
    if let Some(told) = only_sent(sending.as_mut(), waiting).await {
        return told.to_owned();
    }
    let mut reader = Reader::default();
    let mut sent = false;
    let reading = async {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            tokio::select! {
                () = &mut sending, if !sent => sent = true,
                length = timeout(waiting.patience, read.read(&mut buffer)) => match length {
                    Ok(Ok(length)) if length > 0 => reader.take(&buffer[..length]),
                    Ok(_) => return Some("closed"),
                    Err(_) => return Some("open"),
                },
            }
            if waiting.answers.is_some_and(|answers| reader.finished() >= answers) {
                return None;
            }
        }
    };
    let end = timeout(waiting.patience * MOST_PATIENCE, reading).await.unwrap_or(Some("open"));
    told(reader.end().into_iter().chain(end.map(str::to_owned)))
}

/// Sends without reading answers, if the attack does so. Returns the description of the outcome.
async fn only_sent(sending: impl Future<Output = ()>, waiting: Waiting<'_>) -> Option<&'static str> {
    match waiting.until {
        Until::Unread => {
            tokio::select! {
                () = sending => waiting.vigil.rounds(UNREAD_ROUNDS).await,
                // The server may not read either, so sending may never end.
                () = waiting.vigil.rounds(UNREAD_ROUNDS) => {}
            }
            Some("unread")
        }
        Until::Sent => {
            sending.await;
            Some("sent")
        }
        Until::Answered | Until::Ping => None,
    }
}

/// An HTTP/2 answer as received so far.
#[derive(Default)]
struct Answer {
    code: Option<u16>,
    body: Vec<u8>,
    end: Option<String>,
}

/// The most bytes of a body that are kept.
const MAX_BODY: usize = 64 * 1024;

/// Sends the frames, and reads answers; settings and pings are acknowledged.
pub async fn http2(stream: Box<dyn Stream>, script: Script, waiting: Waiting<'_>) -> String {
    let (mut read, mut write) = tokio::io::split(stream);
    let (replies, mut to_send) = mpsc::unbounded_channel::<Vec<u8>>();
    let sending = async {
        if write.write_all(&script.bytes).await.is_err() {
            return;
        }
        let _ = write.write_all(&frame(kind::PING, 0, 0, LAST_PING)).await;
        let _ = write.flush().await;
        if waiting.until == Until::Sent {
            return;
        }
        while let Some(bytes) = to_send.recv().await {
            if write.write_all(&bytes).await.is_err() || write.flush().await.is_err() {
                return;
            }
        }
    };
    tokio::pin!(sending);
    if let Some(told) = only_sent(sending.as_mut(), waiting).await {
        return told.to_owned();
    }
    let wanted = waiting.answers.unwrap_or(script.streams);
    let mut answers = BTreeMap::<u32, Answer>::new();
    let mut ends = Vec::new();
    let mut sent = false;
    let reading = async {
        let mut finished = 0;
        loop {
            let mut head = [0; 9];
            let mut filled = 0;
            while filled < head.len() {
                tokio::select! {
                    () = &mut sending, if !sent => sent = true,
                    length = timeout(waiting.patience, read.read(&mut head[filled..])) => match length {
                        Ok(Ok(length)) if length > 0 => filled += length,
                        Ok(_) => return Some("closed"),
                        Err(_) => return Some("open"),
                    },
                }
            }
            let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
            let stream = u32::from_be_bytes([head[5] & 0x7f, head[6], head[7], head[8]]);
            let mut payload = vec![0; length];
            match timeout(waiting.patience, read.read_exact(&mut payload)).await {
                Ok(Ok(_)) => {}
                Ok(Err(_)) => return Some("closed"),
                Err(_) => return Some("open"),
            }
            let (kind, flags) = (head[3], head[4]);
            match kind {
                kind::HEADERS | kind::DATA | kind::RST_STREAM => {
                    let answer = answers.entry(stream).or_default();
                    if answer.take(kind, flags, &payload) {
                        finished += 1;
                    }
                    if waiting.until == Until::Answered && finished >= wanted {
                        return None;
                    }
                }
                kind::SETTINGS if flags == 0 => drop(replies.send(frame(kind::SETTINGS, 1, 0, &[]))),
                kind::PING if flags == 0 => drop(replies.send(frame(kind::PING, 1, 0, &payload))),
                kind::PING if waiting.until == Until::Ping && payload == LAST_PING => return None,
                kind::GOAWAY => {
                    let code = payload.get(4..8).and_then(|code| code.try_into().ok()).map_or(0, u32::from_be_bytes);
                    ends.push(format!("goaway {}", error_name(code)));
                }
                _ => {}
            }
        }
    };
    let end = timeout(waiting.patience * MOST_PATIENCE, reading).await.unwrap_or(Some("open"));
    let all = tally(answers.into_values().filter_map(Answer::told));
    let words = [all].into_iter().filter(|all| !all.is_empty()).chain(ends).chain(end.map(str::to_owned));
    told(words)
}

/// The words in one line; `nothing` without any.
fn told(words: impl Iterator<Item = String>) -> String {
    let told = words.collect::<Vec<_>>().join(" ");
    if told.is_empty() { "nothing".to_owned() } else { told }
}

impl Answer {
    /// Takes a frame; true if it is the last one.
    fn take(&mut self, kind: u8, flags: u8, payload: &[u8]) -> bool {
        if self.end.is_some() {
            return false;
        }
        match kind {
            kind::HEADERS if self.code.is_none_or(|code| code < 200) => self.code = status(payload),
            kind::DATA => {
                let room = MAX_BODY.saturating_sub(self.body.len()).min(payload.len());
                self.body.extend_from_slice(&payload[..room]);
            }
            kind::RST_STREAM => {
                let code = payload.try_into().map_or(0, u32::from_be_bytes);
                self.end = Some(format!("reset {}", error_name(code)));
                return true;
            }
            _ => {}
        }
        let last = flags & END_STREAM != 0;
        if last {
            self.end = Some(String::new());
        }
        last
    }

    /// The answer in short; `None` if nothing came.
    fn told(self) -> Option<String> {
        let end = self.end.unwrap_or_else(|| "...".to_owned());
        let answer = self.code.map(|code| described(code, &self.body));
        match (answer, end.as_str()) {
            (Some(answer), "") => Some(answer),
            (Some(answer), end) => Some(format!("{answer} {end}")),
            (None, end) => Some(end.to_owned()),
        }
    }
}
