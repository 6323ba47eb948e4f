//! The address of a webhook, by its `clientConfig`.

use super::url::Url;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use std::net::IpAddr;
use tree::Value;

/// The characters that Go's `URL.EscapedPath` escapes.
const PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'#')
    .add(b'[')
    .add(b']')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The address of a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// The URL, without a query.
    pub(super) url: Url,
    /// The namespace and the name of the service, if it is one.
    pub(super) service: Option<(String, String)>,
}

impl Target {
    /// Reads a `clientConfig` that was validated (`hookClientConfig`).
    pub(super) fn of(config: &Value) -> Result<Target, String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if let Some(service) = config.get("service") {
            let (name, namespace) = (text(&service["name"]), text(&service["namespace"]));
            let port = service["port"].as_u64().and_then(|port| u16::try_from(port).ok()).unwrap_or(443);
            let host = format!("{name}.{namespace}.svc");
            let url = Url {
                is_secure: true,
                authority: format!("{host}:{port}"),
                host,
                port,
                path: path(&text(&service["path"])),
            };
            return Ok(Target { url, service: Some((namespace, name)) });
        }
        let url = text(&config["url"]);
        if !url.starts_with("https://") {
            return Err("webhook configuration must have either service or URL".into());
        }
        let url = Url::parse(&url)?;
        Ok(Target { url: Url { path: path(&url.path), ..url }, service: None })
    }

    /// The host and port by which credentials for it are found.
    pub(super) fn address(&self) -> String {
        let has_port =
            self.url.authority.rsplit_once(':').is_some_and(|(_, port)| !port.is_empty() && !port.contains(']'));
        match &*self.url.authority {
            authority if has_port => authority.into(),
            authority if authority.contains(':') => format!("[{authority}]:443"),
            authority => format!("{authority}:443"),
        }
    }

    /// Whether it is on this machine, so that HTTP/2 is spoken. With others it is not, for the sake of load balancers (`isLocalHost`).
    pub(super) fn is_local(&self) -> bool {
        let is_loopback = |address: IpAddr| address.is_loopback();
        self.service.is_none()
            && (self.url.host.eq_ignore_ascii_case("localhost") || self.url.host.parse().is_ok_and(is_loopback))
    }
}

/// A path as it is called: without empty steps and steps that lead up.
fn path(written: &str) -> String {
    let plain = percent_decode_str(written).decode_utf8_lossy();
    let mut steps: Vec<&str> = Vec::new();
    for step in plain.split('/') {
        match step {
            "" | "." => {}
            ".." => drop(steps.pop()),
            step => steps.push(step),
        }
    }
    let path = steps.join("/");
    format!("/{}", utf8_percent_encode(&path, PATH))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::json;

    #[test]
    fn urls_and_services() {
        let table = [
            (json!({"url": "https://one.example.com/a"}), "one.example.com", 443, "https://one.example.com/a", false),
            (json!({"url": "https://127.0.0.1:84"}), "127.0.0.1", 84, "https://127.0.0.1:84/", true),
            (json!({"url": "https://[::1]:84/a//b/../%20"}), "::1", 84, "https://[::1]:84/a/%20", true),
            (json!({"url": "https://[::1]"}), "::1", 443, "https://[::1]/", true),
            (json!({"url": "https://LocalHost/"}), "LocalHost", 443, "https://LocalHost/", true),
            (
                json!({"service": {"name": "n", "namespace": "s", "port": 8443, "path": "/p"}}),
                "n.s.svc",
                8443,
                "https://n.s.svc:8443/p",
                false,
            ),
        ];
        for (config, host, port, url, local) in table {
            let target = Target::of(&config).unwrap();
            let found = (&*target.url.host, target.url.port, &*target.url.to_string(), target.is_local());
            assert_eq!(found, (host, port, url, local));
        }
        assert!(Target::of(&json!({})).is_err());
    }
}
