//! Connections that faults strike before there is a request: they break, or their handshake fails.

use super::lifetime::HEAD;
use super::socket::Socket;
use super::tls::Identity;
use crate::fault::Strike;
use control::fault::{Action, Do, TlsDo};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

/// The address in a certificate of another server: one of those for documentation.
const ELSEWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
/// A record of TLS: the fatal alert `handshake_failure`.
const HANDSHAKE_FAILURE: [u8; 7] = [21, 3, 3, 0, 2, 2, 40];
/// The most bytes of a record of TLS.
const RECORD: usize = 16 * 1024 + 5;

/// The connection, if it goes on, and the acceptor that spoils its handshake, if that is how it is struck.
pub(super) async fn struck(
    strike: Strike,
    mut stream: Socket,
    resets: &AtomicBool,
    stop: &CancellationToken,
) -> Option<(Socket, Option<TlsAcceptor>)> {
    for action in &strike.actions {
        match action {
            Action::Connection(connection) => {
                match connection.act {
                    Do::Close => {}
                    Do::Reset => resets.store(true, Ordering::Relaxed),
                    Do::Hang => tokio::select! {
                        () = strike.removed.cancelled() => {}
                        () = stop.cancelled() => {}
                    },
                }
                return None;
            }
            Action::Tls(tls) => match tls.act {
                TlsDo::Close => return None,
                TlsDo::Alert => {
                    tokio::select! {
                        () = alert(&mut stream) => {}
                        () = stop.cancelled() => {}
                    }
                    return None;
                }
                TlsDo::WrongCertificate => match Identity::generate(ELSEWHERE, &[], None) {
                    Ok((identity, _)) => return Some((stream, Some(TlsAcceptor::from(identity.server_config())))),
                    Err(error) => {
                        tracing::warn!(%error, "no wrong certificate could be made");
                        return None;
                    }
                },
            },
            _ => {}
        }
    }
    Some((stream, None))
}

/// Reads what a client says first, and answers with an alert. What is unread when a connection is closed would reset it, and the alert be lost.
async fn alert(stream: &mut Socket) {
    let answered = async {
        let mut hello = vec![0; RECORD];
        // However much of it comes.
        let _ = stream.read(&mut hello).await?;
        stream.write_all(&HANDSHAKE_FAILURE).await?;
        stream.shutdown().await
    };
    if let Ok(Err(error)) = tokio::time::timeout(HEAD, answered).await {
        tracing::debug!(%error, "unable to send an alert");
    }
}
