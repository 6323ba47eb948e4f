//! A client of the server: requests over one connection, as one user.

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, WARNING};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use tokio::net::TcpStream;
use tree::Value;

/// The media type of JSON.
pub(crate) const JSON: &str = "application/json";

/// A user to act as.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct User {
    /// The name: `system:serviceaccount:NAMESPACE:NAME` is a service account.
    pub name: String,
    /// The groups; those of a service account go without saying.
    pub groups: Vec<String>,
}

/// A client of the server.
pub(crate) struct Client {
    connection: SendRequest<Full<Bytes>>,
    headers: HeaderMap,
}

/// The answer to a request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: StatusCode,
    /// The body; `null` if it is not JSON.
    pub(crate) body: Value,
    pub(crate) warnings: Vec<String>,
}

impl Answer {
    /// The message of a refusal.
    pub(crate) fn message(&self) -> String {
        match self.body["message"].as_str() {
            Some(message) => message.to_owned(),
            None => self.code.to_string(),
        }
    }
}

impl Client {
    /// A client with a token. With `user` it acts as that one.
    ///
    /// # Errors
    /// If the server cannot be reached, or the user has a name that no header has.
    pub(crate) async fn connect(address: SocketAddr, token: &str, user: Option<&User>) -> Result<Client> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("unable to reach {address}"))?;
        stream.set_nodelay(true)?;
        let (connection, rest) = http1::handshake(TokioIo::new(stream)).await?;
        // An error of the connection is one of the request that is under way.
        tokio::spawn(rest);
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::try_from(address.to_string())?);
        headers.insert(AUTHORIZATION, HeaderValue::try_from(format!("Bearer {token}"))?);
        if let Some(user) = user {
            let value = |text: &str| {
                HeaderValue::from_bytes(text.as_bytes()).with_context(|| format!("{text:?} is no name of a user"))
            };
            headers.insert(HeaderName::from_static("impersonate-user"), value(&user.name)?);
            for group in &user.groups {
                headers.append(HeaderName::from_static("impersonate-group"), value(group)?);
            }
        }
        Ok(Client { connection, headers })
    }

    /// Gets a path.
    ///
    /// # Errors
    /// If there is no answer.
    pub(crate) async fn get(&mut self, path: &str, accept: &str) -> Result<Answer> {
        self.ask(Method::GET, path, (ACCEPT, accept), Bytes::new()).await
    }

    /// Sends a body to a path.
    ///
    /// # Errors
    /// If there is no answer.
    pub(crate) async fn send(&mut self, method: Method, path: &str, media_type: &str, body: Vec<u8>) -> Result<Answer> {
        self.ask(method, path, (CONTENT_TYPE, media_type), body.into()).await
    }

    async fn ask(
        &mut self,
        method: Method,
        path: &str,
        (header, value): (HeaderName, &str),
        body: Bytes,
    ) -> Result<Answer> {
        let failed = || format!("the server did not answer {method} {path}");
        let mut request = Request::builder().method(&method).uri(path).body(Full::new(body)).with_context(failed)?;
        *request.headers_mut() = self.headers.clone();
        request.headers_mut().insert(header, HeaderValue::try_from(value)?);
        self.connection.ready().await.with_context(failed)?;
        let response = self.connection.send_request(request).await.with_context(failed)?;
        let (head, body) = response.into_parts();
        let body = body.collect().await.with_context(failed)?.to_bytes();
        let warnings = head.headers.get_all(WARNING).iter().filter_map(|value| warning(value.as_bytes())).collect();
        Ok(Answer { code: head.status, body: serde_json::from_slice(&body).unwrap_or_default(), warnings })
    }
}

/// The text of a warning: of `299 - "text"`.
fn warning(header: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(header);
    let quoted = text.strip_prefix("299 - \"")?.strip_suffix('"')?;
    let (mut plain, mut is_escaped) = (String::new(), false);
    for letter in quoted.chars() {
        if letter == '\\' && !is_escaped {
            is_escaped = true;
            continue;
        }
        is_escaped = false;
        plain.push(letter);
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_unquoted() {
        assert_eq!(warning(br#"299 - "a \"b\" \\ c""#).as_deref(), Some(r#"a "b" \ c"#));
        assert_eq!(warning(b"199 x"), None);
    }
}
