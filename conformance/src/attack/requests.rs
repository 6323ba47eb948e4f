//! The requests of attacks, and their bytes in HTTP/1.1.

use super::data::Request;
use super::pieces::Names;
use anyhow::Result;

/// A request with its texts generated.
pub struct Made {
    /// The method and the target.
    pub line: String,
    /// The headers, without authentication and the length of the body.
    pub headers: Vec<(Vec<u8>, Vec<u8>)>,
    /// The body.
    pub body: Option<Vec<u8>>,
}

/// The requests, each repeated as often as it is sent.
///
/// # Errors
/// If a text has a name without a value.
pub fn made(requests: &[Request], names: &Names) -> Result<Vec<Made>> {
    let mut made = Vec::new();
    for request in requests {
        for number in 0..request.times {
            let mut names = names.clone();
            names.insert("n", number.to_string());
            let mut headers = Vec::new();
            if request.body.is_some() {
                headers.push((b"content-type".to_vec(), request.content_type.clone().into_bytes()));
            }
            for (name, value) in &request.headers {
                headers.push((name.bytes(&names)?, value.bytes(&names)?));
            }
            let body = request.body.as_ref().map(|body| body.bytes(&names)).transpose()?;
            made.push(Made { line: request.line.text(&names)?, headers, body });
        }
    }
    Ok(made)
}

/// The bytes of the requests, one after the other; the last one ends the connection.
pub fn http1(requests: &[Made], names: &Names) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, Made { line, headers, body }) in requests.iter().enumerate() {
        bytes.extend_from_slice(format!("{line} HTTP/1.1\r\nHost: {}\r\n{}", names["host"], names["auth"]).as_bytes());
        for (name, value) in headers {
            bytes.extend_from_slice(&[name.as_slice(), b": ", value, b"\r\n"].concat());
        }
        if let Some(body) = body {
            bytes.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
        }
        if index + 1 == requests.len() {
            bytes.extend_from_slice(b"Connection: close\r\n");
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(body.as_deref().unwrap_or_default());
    }
    bytes
}
