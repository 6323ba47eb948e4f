//! The issuer of tokens that the webhook of a scenario is, too: below any path it describes itself, and has the key that every target signs its
//! own tokens with.

use anyhow::Result;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http_body_util::Full;
use serde_json::json;

/// The end of the path of its description.
const WELL_KNOWN: &str = "/.well-known/openid-configuration";
/// The beginning of a path at which the issuer is described that is at the rest of it.
const ELSEWHERE: &str = "/of";
/// The end of the path of its keys.
const KEYS: &str = "/keys";
/// The public half of `fixtures/keys/service-account.key`.
const KEY: &str = r#"{"keys":[{"alg":"RS256","e":"AQAB","kid":"XugGHTz7Sc5j4H94MQVrXOVnt93D8hQm5Mmw_B1aW4s","kty":"RSA","n":"yy5VKLGTVrgvzaM4FC-6omaPSDuijYkpV8SiZr-kW6ydHxrijH3LVQzjddcfotq2k2--_CmKHy86ZQHljTuCAtnfKC7iPzagP_CIExbcNmT-4_93DWhshoeNEiNvvcLmInV-M2F09Xq6He-Sh81sMkwgKXdW6BLgW3wv1X8_4qMs-yg3yAIrDOGkrLNKRTuh4txjqW2ZQcIxhRks492v10rMGF1oX7MSPsshwig7U18fueKsdXGHJoiNdq4r7Ox1infzdrPOucI226b-RdKuIj8-jtLYdUrUyoEvyJY8knpUginwwiIoA8uL4E6-bvyOfbAhPiVAeOD9G9v34MwsrQ","use":"sig"}]}"#;

/// The answer to a GET at that path of the host.
///
/// # Errors
/// None, as long as there is such a status.
pub(super) fn answer(host: &str, path: &str) -> Result<http::Response<Full<Bytes>>> {
    let (status, body) = if let Some(prefix) = path.strip_suffix(WELL_KNOWN) {
        let issuer = format!("https://{host}{}", prefix.strip_prefix(ELSEWHERE).unwrap_or(prefix));
        (200, json!({"issuer": issuer, "jwks_uri": format!("{issuer}{KEYS}")}).to_string())
    } else if path.ends_with(KEYS) {
        (200, KEY.to_owned())
    } else {
        (404, "there is nothing".to_owned())
    };
    let response = http::Response::builder().status(status).header(CONTENT_TYPE, "application/json");
    Ok(response.body(Full::new(body.into()))?)
}
