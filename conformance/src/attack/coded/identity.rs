//! Attacks with forged tokens.

use crate::attack::catalogue::Coded;
use crate::attack::ground::Ground;
use crate::credentials::ISSUER;
use anyhow::{Context as _, Result};
use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use controller::keys::SigningKey;
use serde_json::{Value, json};

/// A function that makes forged tokens from the claims of a real one and the key.
type Forge = fn(&Forger) -> Result<Vec<String>>;

/// The attacks.
pub(super) const ATTACKS: &[Coded] = &[
    Coded::new("a-good-token", "A token that is as it should be: the measure of those that follow.", |ground| {
        Box::pin(present(ground, |forger| Ok(vec![forger.signed(&forger.claims)?])))
    }),
    Coded::new("unsigned-tokens", "Tokens that say that they need no signature.", |ground| {
        Box::pin(present(ground, unsigned))
    }),
    Coded::new("symmetric-signatures", "Tokens signed with what everybody may know of the key.", |ground| {
        Box::pin(present(ground, symmetric))
    }),
    Coded::new("keys-in-tokens", "Tokens that bring their key, or say where it is.", |ground| {
        Box::pin(present(ground, with_keys))
    }),
    Coded::new("bent-signatures", "Good tokens with a bit more, a bit less, and another's claims.", |ground| {
        Box::pin(present(ground, bent))
    }),
    Coded::new("other-times", "Tokens that are over, or have not begun, or last longer than time.", |ground| {
        Box::pin(present(ground, |forger| {
            let times = [
                ("exp", json!(1)),
                ("exp", json!(-1)),
                ("exp", json!(1e30)),
                ("exp", json!("tomorrow")),
                ("nbf", json!(4_000_000_000_u64)),
                ("nbf", json!(1e300)),
                ("iat", json!([])),
            ];
            forger.changed(&times)
        }))
    }),
    Coded::new("other-claims", "Tokens of another issuer, for another audience, of another subject.", |ground| {
        Box::pin(present(ground, |forger| {
            let claims = [
                ("iss", json!("https://example.com")),
                ("iss", json!(null)),
                ("aud", json!(["someone-else"])),
                ("aud", json!([])),
                ("aud", json!({"a": 1})),
                ("sub", json!("system:serviceaccount:kube-system:admin")),
                ("sub", json!("system:admin")),
                ("kubernetes.io", json!({"namespace": "kube-system", "serviceaccount": {"name": "admin", "uid": "x"}})),
                ("kubernetes.io", json!("x")),
                ("kubernetes.io", Value::Null),
            ];
            forger.changed(&claims)
        }))
    }),
    Coded::new("large-claims", "Tokens of claims that are long, deep, or many.", |ground| {
        Box::pin(present(ground, |forger| {
            let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
            let many: Vec<String> = (0..50_000).map(|number| format!("audience-{number}")).collect();
            forger.changed(&[("x", "x".repeat(500_000).into()), ("x", deep), ("aud", json!(many))])
        }))
    }),
    Coded::new(
        "payloads-that-are-none",
        "Tokens whose payload is no object, or no JSON, or a very deep one.",
        |ground| {
            Box::pin(present(ground, |forger| {
                let deep = "[".repeat(300_000);
                let payloads = ["", "null", "[]", "\"a\"", "{", "{}", "\u{0}", &deep];
                Ok(payloads.into_iter().map(|payload| forger.unsigned(&json!({"alg": "RS256"}), payload)).collect())
            }))
        },
    ),
];

/// The facts that a forger knows.
struct Forger {
    key: SigningKey,
    key_pem: String,
    jwks: String,
    claims: Value,
}

impl Forger {
    async fn new(ground: &Ground) -> Result<Forger> {
        let path = ground.path("serviceaccounts");
        let name = "forged";
        let (code, _) = ground.ask("GET", &format!("{path}/{name}"), &Value::Null).await?;
        if code == 404 {
            ground.must("POST", &path, &json!({"metadata": {"name": name}})).await?;
        }
        let account = ground.must("GET", &format!("{path}/{name}"), &Value::Null).await?;
        let namespace = ground.namespace();
        let key_pem = ground.cluster().signing_key_pem()?;
        let now = (ground.cluster().clock())().as_second();
        let claims = json!({
            "iss": ISSUER, "aud": [ISSUER], "sub": format!("system:serviceaccount:{namespace}:{name}"),
            "iat": now - 60, "nbf": now - 60, "exp": now + 3600, "jti": "forged",
            "kubernetes.io": {"namespace": namespace, "serviceaccount": {"name": name, "uid": account["metadata"]["uid"]}},
        });
        let admin = ground.names("admin")["token"].clone();
        let (accept, path) = ("application/jwk-set+json", "/openid/v1/jwks");
        let jwks = ground.endpoint().ask_for(Some(&admin), accept, "GET", path, &Value::Null).await?.to_string();
        Ok(Forger { key: SigningKey::from_pem(key_pem.as_bytes())?, key_pem, jwks, claims })
    }

    fn signed(&self, claims: &Value) -> Result<String> {
        Ok(self.key.sign_jwt(claims)?)
    }

    /// Valid tokens, each with one claim changed.
    fn changed(&self, changes: &[(&str, Value)]) -> Result<Vec<String>> {
        let token = |(claim, value): &(&str, Value)| {
            let mut claims = self.claims.clone();
            claims[claim] = value.clone();
            self.signed(&claims)
        };
        changes.iter().map(token).collect()
    }

    /// A token with an empty signature.
    fn unsigned(&self, header: &Value, payload: &str) -> String {
        format!("{}.{}.", encoded(header.to_string()), encoded(payload))
    }
}

fn encoded(text: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(text)
}

fn unsigned(forger: &Forger) -> Result<Vec<String>> {
    let claims = forger.claims.to_string();
    let names = ["none", "None", "NONE", "nOnE", "", "RS256", "HS256"];
    let tokens = names.iter().map(|name| forger.unsigned(&json!({"alg": name, "typ": "JWT"}), &claims));
    let without_algorithm = forger.unsigned(&json!({}), &claims);
    Ok(tokens.chain([without_algorithm]).collect())
}

fn symmetric(forger: &Forger) -> Result<Vec<String>> {
    let jwks: Value = serde_json::from_str(&forger.jwks)?;
    let key = jwks["keys"][0].to_string();
    let modulus = URL_SAFE_NO_PAD.decode(jwks["keys"][0]["n"].as_str().context("an RSA key")?)?;
    let mut tokens = Vec::new();
    for (name, algorithm) in [("HS256", hmac::HMAC_SHA256), ("HS384", hmac::HMAC_SHA384), ("HS512", hmac::HMAC_SHA512)]
    {
        for secret in [forger.jwks.as_bytes(), key.as_bytes(), &modulus, forger.key_pem.as_bytes(), b""] {
            let head = encoded(json!({"alg": name, "kid": jwks["keys"][0]["kid"]}).to_string());
            let message = format!("{head}.{}", encoded(forger.claims.to_string()));
            let tag = hmac::sign(&hmac::Key::new(algorithm, secret), message.as_bytes());
            tokens.push(format!("{message}.{}", encoded(tag)));
        }
    }
    Ok(tokens)
}

fn with_keys(forger: &Forger) -> Result<Vec<String>> {
    let good = forger.signed(&forger.claims)?;
    let (_, rest) = good.split_once('.').context("a token has parts")?;
    let jwks: Value = serde_json::from_str(&forger.jwks)?;
    let headers = [
        json!({"alg": "RS256", "kid": "../../../../dev/null"}),
        json!({"alg": "RS256", "kid": "' OR 1=1 --"}),
        json!({"alg": "RS256", "kid": "x".repeat(100_000)}),
        json!({"alg": "RS256", "jwk": jwks["keys"][0]}),
        json!({"alg": "RS256", "jku": "http://127.0.0.1:1/jwks"}),
        json!({"alg": "RS256", "x5u": "http://127.0.0.1:1/certificate", "x5c": ["AAAA"]}),
        json!({"alg": "RS256", "crit": ["b64"], "b64": false}),
        json!({"alg": "ES256"}),
        json!({"alg": ["RS256", "none"]}),
    ];
    // The signature is that of another header.
    Ok(headers.iter().map(|header| format!("{}.{rest}", encoded(header.to_string()))).collect())
}

fn bent(forger: &Forger) -> Result<Vec<String>> {
    let good = forger.signed(&forger.claims)?;
    let parts: Vec<&str> = good.split('.').collect();
    let [head, payload, signature] = parts[..] else { anyhow::bail!("a token has three parts") };
    let mut other = forger.claims.clone();
    other["sub"] = "system:serviceaccount:kube-system:admin".into();
    let mut bits = URL_SAFE_NO_PAD.decode(signature)?;
    bits[0] ^= 1;
    Ok(vec![
        format!("{head}.{payload}.{}", encoded(&bits)),
        format!("{head}.{}.{signature}", encoded(other.to_string())),
        format!("{good}AA"),
        format!("{good}="),
        format!("{good}.{signature}"),
        format!("{head}.{payload}"),
        format!("{head}.{payload}."),
        format!(".{payload}.{signature}"),
        format!("{head}..{signature}"),
        "..".to_owned(),
        ".".repeat(100_000),
    ])
}

/// The status codes of requests with the tokens.
async fn present(ground: &Ground, forge: Forge) -> Result<String> {
    let tokens = forge(&Forger::new(ground).await?)?;
    let mut codes = Vec::new();
    for token in tokens {
        let headers = [("authorization", format!("Bearer {token}"))];
        let (code, _) = ground.ask_with(&headers, "GET", &ground.path("configmaps/victim"), &Value::Null).await?;
        codes.push(code.to_string());
    }
    Ok(codes.join(" "))
}
