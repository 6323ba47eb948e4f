//! Execution of attacks that are data.

use super::answers::tally;
use super::data::{Attack, Over};
use super::exchange::{Waiting, http1, http2};
use super::frames::{self, Script};
use super::ground::Ground;
use super::pieces::Act;
use super::requests::{self, Made};
use anyhow::{Context as _, Result, ensure};
use futures::future::join_all;

/// The acts of each connection of an attack.
enum Doing {
    Http1(Vec<Act>),
    Http2(Vec<u8>, usize),
}

/// Carries out `attack`; returns the observed answers in short.
///
/// # Errors
/// If the attack cannot be made, or a request that prepares it is refused.
pub async fn carry_out(attack: &Attack, ground: &Ground) -> Result<String> {
    for Made { line, body, .. } in requests::made(&attack.before, &ground.names("admin"))? {
        let (method, path) = line.split_once(' ').context("a request has a method and a target")?;
        let body = body.map_or(Ok(serde_json::Value::Null), |body| serde_json::from_slice(&body))?;
        ground.prepared(method, path, &body).await.context("before the attack")?;
    }
    let names = ground.names(&attack.user);
    let doing = if attack.over == Over::Http2 && attack.send.is_none() {
        let token = &names["token"];
        let usual =
            if attack.user.is_empty() { None } else { Some(("authorization".to_owned(), format!("Bearer {token}"))) };
        let usual = usual.into_iter().collect();
        let Script { bytes, streams } = match attack.frames.is_empty() {
            true => frames::requests(requests::made(&attack.requests, &names)?, usual, &names)?,
            false => frames::script(&attack.frames, usual, &names)?,
        };
        Doing::Http2(bytes, streams)
    } else {
        ensure!(attack.frames.is_empty(), "frames are HTTP/2's");
        Doing::Http1(match &attack.send {
            Some(text) => text.acts(&names)?,
            None => vec![Act::Send(requests::http1(&requests::made(&attack.requests, &names)?, &names))],
        })
    };
    let Attack { until, answers, .. } = *attack;
    let waiting = Waiting { until, answers, patience: ground.patience(attack.patience()), vigil: &ground.vigil };
    let connection = || async {
        let stream = match ground.connector.connect(attack.over, attack.certificate).await {
            Ok(stream) => stream,
            Err(error) => return short(&error),
        };
        match &doing {
            Doing::Http1(acts) => http1(stream, acts.clone(), waiting).await,
            Doing::Http2(bytes, streams) => {
                http2(stream, Script { bytes: bytes.clone(), streams: *streams }, waiting).await
            }
        }
    };
    if attack.connections == 1 {
        return Ok(connection().await);
    }
    Ok(tally(join_all((0..attack.connections).map(|_| connection())).await.into_iter().map(|told| format!("({told})"))))
}

/// The text for a failed connection.
fn short(error: &anyhow::Error) -> String {
    if error.to_string() == "TLS handshake" { "no handshake".to_owned() } else { "no connection".to_owned() }
}
