//! The headers that say to a webhook who asks.
//!
//! Follows `transport/{round_trippers,token_source}.go` of `k8s.io/client-go` (v0.37.1), and `restConfigFromKubeconfig` of
//! `pkg/util/webhook/authentication.go` of `k8s.io/apiserver`.

use crate::files;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tree::Value;

/// The time for which the content of a token's file is used: a minute, but for the last ten seconds.
const FRESH: Duration = Duration::from_secs(50);

/// The name of a header, and its value.
pub(super) type Header = (String, HeaderValue);

/// The headers of a user.
#[derive(Default)]
pub(super) struct Headers {
    authorization: Authorization,
    /// The name of the user as whom to act, and so on: header and value.
    impersonation: Vec<(String, String)>,
}

#[derive(Default)]
enum Authorization {
    #[default]
    None,
    Basic(String),
    Token(String),
    /// A token, and the file with a later one.
    TokenFile(String, TokenFile),
}

/// A file with a token.
struct TokenFile {
    path: String,
    /// The token that was read last, and when.
    last: Mutex<Option<(String, Instant)>>,
}

impl Headers {
    /// The headers of a user of a kubeconfig.
    ///
    /// # Errors
    /// If the user has several sorts of credentials, or a token cannot be read.
    pub(super) fn of(user: &Value) -> Result<Headers, String> {
        let text = |name: &str| user[name].as_str().unwrap_or_default();
        let (name, file) = (text("username"), text("tokenFile"));
        let token = match text("token") {
            "" if !file.is_empty() => &files::read_text(file)?,
            token => token,
        };
        if !user["auth-provider"].is_null() {
            return Err("auth provider not supported".into());
        }
        let authorization = match (name, token, file) {
            ("", "", "") => Authorization::None,
            ("", token, "") => Authorization::Token(token.into()),
            ("", token, path) => {
                let file = TokenFile { path: path.into(), last: Mutex::default() };
                let token = if token.is_empty() { file.read()? } else { token.to_owned() };
                Authorization::TokenFile(token, file)
            }
            (name, "", "") => Authorization::Basic(STANDARD.encode(format!("{name}:{}", text("password")))),
            _ => return Err("username/password or bearer token may be set, but not both".into()),
        };
        Ok(Headers { authorization, impersonation: impersonation(user) })
    }

    /// The headers of a call that is made now.
    ///
    /// # Errors
    /// If a value is not that of a header.
    pub(super) fn current(&self) -> Result<Vec<Header>, String> {
        let authorization = match &self.authorization {
            Authorization::None => None,
            Authorization::Basic(credentials) => Some(format!("Basic {credentials}")),
            Authorization::Token(token) => Some(format!("Bearer {token}")),
            Authorization::TokenFile(token, file) => {
                Some(format!("Bearer {}", file.current().as_deref().unwrap_or(token)))
            }
        };
        let authorization = authorization.map(|value| ("Authorization".to_owned(), value));
        let header = |(name, value): (String, String)| match HeaderValue::try_from(value) {
            Ok(value) => Ok((name, value)),
            Err(_) => Err(format!("net/http: invalid header field value for {name:?}")),
        };
        authorization.into_iter().chain(self.impersonation.iter().cloned()).map(header).collect()
    }
}

/// The headers about the user as whom to act.
fn impersonation(user: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let texts = |value: &Value| value.as_array().into_iter().flatten().map(text).collect::<Vec<_>>();
    let mut headers = Vec::new();
    let name = text(&user["as"]);
    if name.is_empty() {
        return headers;
    }
    headers.push(("Impersonate-User".to_owned(), name));
    headers
        .extend(Some(text(&user["as-uid"])).filter(|uid| !uid.is_empty()).map(|uid| ("Impersonate-Uid".into(), uid)));
    headers.extend(texts(&user["as-groups"]).into_iter().map(|group| ("Impersonate-Group".into(), group)));
    for (key, values) in user["as-user-extra"].as_object().into_iter().flatten() {
        let name = format!("Impersonate-Extra-{}", escaped(key.as_str()));
        headers.extend(texts(values).into_iter().map(|value| (name.clone(), value)));
    }
    headers
}

/// A text as part of a header's name (`headerKeyEscape`).
fn escaped(key: &str) -> String {
    key.bytes().fold(String::new(), |mut name, byte| {
        match byte.is_ascii_alphanumeric() || b"!#$&'*+-.^_`|~".contains(&byte) {
            true => name.push(byte.into()),
            false => write!(name, "%{byte:02X}").expect("a text can be appended to"),
        }
        name
    })
}

impl TokenFile {
    fn read(&self) -> Result<String, String> {
        let text =
            files::read_text(&self.path).map_err(|why| format!("failed to read token file {:?}: {why}", self.path))?;
        match text.trim() {
            "" => Err(format!("read empty token from file {:?}", self.path)),
            token => Ok(token.into()),
        }
    }

    /// The token in the file, or the one that was last there.
    fn current(&self) -> Option<String> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = last.as_ref().is_some_and(|(_, read)| read.elapsed() < FRESH);
        if !is_fresh && let Ok(token) = self.read() {
            *last = Some((token, Instant::now()));
        }
        last.as_ref().map(|(token, _)| token.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    fn shown(headers: &Headers) -> String {
        match headers.current() {
            Ok(headers) => {
                headers.iter().map(|(name, value)| format!("{name}: {}\n", value.to_str().unwrap())).collect()
            }
            Err(why) => why,
        }
    }

    fn of(user: &Value) -> String {
        Headers::of(user).map_or_else(|why| why, |headers| shown(&headers))
    }

    #[test]
    fn headers_of_users() {
        for (user, expected) in [
            (json!({}), ""),
            (json!({"token": "a"}), "Authorization: Bearer a\n"),
            (json!({"username": "a", "password": "b"}), "Authorization: Basic YTpi\n"),
            (json!({"password": "b"}), ""),
            (json!({"username": "a", "token": "b"}), "username/password or bearer token may be set, but not both"),
            (json!({"tokenFile": "/none/a"}), "open /none/a: no such file or directory"),
            (json!({"token": "a", "tokenFile": "/none/a"}), "Authorization: Bearer a\n"),
            (json!({"auth-provider": {"name": "a"}}), "auth provider not supported"),
            (json!({"token": "a\n"}), "net/http: invalid header field value for \"Authorization\""),
            (json!({"as-groups": ["a"]}), ""),
            (
                json!({"as": "a", "as-uid": "b", "as-groups": ["c", "d"], "as-user-extra": {"x/Y%": ["e", "f"]}}),
                "Impersonate-User: a\nImpersonate-Uid: b\nImpersonate-Group: c\nImpersonate-Group: d\n\
                 Impersonate-Extra-x%2FY%25: e\nImpersonate-Extra-x%2FY%25: f\n",
            ),
        ] {
            assert_eq!(of(&user), expected, "{user}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_s_file_is_read_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let name = path.display().to_string();
        std::fs::write(&path, " \n").unwrap();
        // What is there at first is taken as it is, and not sent, as it is none.
        let blank = Headers::of(&json!({"tokenFile": &*name})).unwrap();
        assert_eq!(shown(&blank), "net/http: invalid header field value for \"Authorization\"");
        std::fs::write(&path, "").unwrap();
        assert_eq!(of(&json!({"tokenFile": &*name})), format!("read empty token from file {name:?}"));
        std::fs::write(&path, "one\n").unwrap();
        let headers = Headers::of(&json!({"token": "zero", "tokenFile": &*name})).unwrap();
        assert_eq!(shown(&headers), "Authorization: Bearer one\n");
        std::fs::write(&path, "two").unwrap();
        assert_eq!(shown(&headers), "Authorization: Bearer one\n");
        tokio::time::advance(FRESH).await;
        assert_eq!(shown(&headers), "Authorization: Bearer two\n");
        std::fs::remove_file(&path).unwrap();
        tokio::time::advance(FRESH).await;
        assert_eq!(shown(&headers), "Authorization: Bearer two\n");
    }
}
