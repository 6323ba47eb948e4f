//! A webhook that allows everything, over one connection. What its end of that costs is counted with what the server's end does.

use anyhow::Context;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rcgen::CertifiedKey;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, Stream};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// The most bytes of a review, its head included.
const MOST: usize = 1 << 16;
/// The length of a uid.
const UID: usize = 36;

/// Starts a webhook, and returns the configuration that has it called for each config map. It ends with its connection.
///
/// # Errors
/// If no port is free.
pub(crate) fn start() -> anyhow::Result<String> {
    let CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
    let key = PrivateKeyDer::Pkcs8(signing_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    // An error ends the connection, and the request that waits for its answer is refused.
    thread::spawn(move || listener.accept().map_err(Into::into).and_then(|(stream, _)| serve(stream, config)));
    Ok(include_str!("objects/webhook.json")
        .replace("PORT", &port.to_string())
        .replace("BUNDLE", &BASE64.encode(cert.pem())))
}

/// Allows what is reviewed, until the connection ends.
fn serve(mut tcp: TcpStream, config: ServerConfig) -> anyhow::Result<()> {
    tcp.set_nodelay(true)?;
    let mut tls = ServerConnection::new(Arc::new(config))?;
    let mut stream = Stream::new(&mut tls, &mut tcp);
    let (mut review, mut answer) = (vec![0; MOST], answer());
    loop {
        let mut filled = 0;
        // A review is one object, whose end is the end of the request.
        while !review[..filled].ends_with(b"}}") && !review[..filled].ends_with(b"}}\n") {
            filled += match stream.read(&mut review[filled..])? {
                0 => return Ok(()),
                read => read,
            };
        }
        let uid = after(&review[..filled], br#""uid":""#).context("a review has a uid")?;
        let place = after(&answer, br#""uid":""#).context("an answer has a uid")?;
        answer[place..place + UID].copy_from_slice(&review[uid..uid + UID]);
        stream.write_all(&answer)?;
    }
}

/// The answer to a review, but for its uid.
fn answer() -> Vec<u8> {
    let body = format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{{"uid":"{:UID$}","allowed":true}}}}"#,
        ""
    );
    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into()
}

/// The end of the first place of a text in another one.
fn after(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part).map(|place| place + part.len())
}
