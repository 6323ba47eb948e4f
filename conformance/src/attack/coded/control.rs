//! Attacks on the control port: by those whom it does not let in, and with orders that are none.

use crate::attack::catalogue::{Coded, Run};
use crate::attack::ground::Ground;
use crate::attack::verdict::Bounds;
use crate::client::Endpoint;
use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use futures::future::try_join_all;
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The reason why no real server judges them.
const OURS: &str = "a real server has no control port";
const BOUNDS: Bounds = Bounds { memory_mib: 64, peak_mib: 384, descriptors: 8, threads: 16 };
/// The time within which a port that others have filled takes a good request: idle connections are closed after ten seconds.
const FREED: Duration = Duration::from_secs(30);

pub(super) const fn attack(name: &'static str, about: &'static str, expected: &'static str, run: Run) -> Coded {
    Coded::new(name, about, run).slow(BOUNDS).stated(expected, OURS)
}

/// The attacks.
pub(super) const ATTACKS: &[Coded] = &[
    attack(
        "guessed-tokens",
        "Orders with tokens of the cluster, with bits of the right one, and without any.",
        "20x 401",
        |ground| Box::pin(guessed_tokens(ground)),
    ),
    attack("web-pages", "Orders that a web page sends, which knows the token.", "403 403", |ground| {
        Box::pin(web_pages(ground))
    }),
    attack(
        "trickling-connections",
        "400 connections that send their heads byte by byte, and one that behaves.",
        "200 after all",
        |ground| Box::pin(trickling(ground)),
    ),
    attack(
        "bodies-that-are-none",
        "Bodies that are deep, long, cut short, or of other words.",
        "400 400 400 400 413 400",
        |ground| Box::pin(bodies(ground)),
    ),
    attack(
        "rules-without-end",
        "100,000 rules at once, and a thousand one by one, and one more.",
        "409 1000x 201 409 200",
        |ground| Box::pin(rules(ground)),
    ),
    attack(
        "seeds-that-double",
        "Documents whose aliases double, are nested deep, or are many; none leaves anything behind.",
        "422 422 422 same",
        |ground| Box::pin(seeds(ground)),
    ),
    attack(
        "conditions-that-cost",
        "Waits for an object, by expressions that are deep, dear or about nothing, and by patterns that are none.",
        "422 422 200 422 422",
        |ground| Box::pin(conditions(ground)),
    ),
    attack(
        "snapshots-that-lie",
        "Files of snapshots with other formats, offsets and numbers than they have.",
        "422 422 422 422 422",
        |ground| Box::pin(snapshots(ground)),
    ),
    attack(
        "snapshots-of-a-gigabyte",
        "A snapshot whose head says that it is a gigabyte, and a seed; neither is waited for.",
        "413 413",
        |ground| Box::pin(gigabytes(ground)),
    ),
    attack(
        "rules-that-match-nothing",
        "Rules that could strike nothing: other resources, other groups, verbs that do not go with their actions, no time, no chance.",
        "8x 422 none",
        |ground| Box::pin(idle_rules(ground)),
    ),
    attack(
        "tokens-of-other-clusters",
        "A cluster's administrator and its tokens, in another one, in the first one, and where it was.",
        "200 401 401 401",
        |ground| Box::pin(other_tokens(ground)),
    ),
    attack(
        "clusters-without-end",
        "500 clusters, others of their names and of none that is one, an end to all, and holds of those that are gone.",
        "500x 201 409 422 500x 200 404",
        |ground| Box::pin(clusters(ground)),
    ),
];

/// A control port.
pub(super) struct Port {
    endpoint: Endpoint,
    token: String,
}

impl Port {
    pub(super) fn of(ground: &Ground) -> Result<Port> {
        let (url, token) = ground.cluster().control()?;
        Ok(Port { endpoint: Endpoint::new(&url, None)?, token })
    }

    /// The status of the answer to a request with headers, and its body.
    async fn send(&self, headers: &[(&str, &str)], method: &str, path: &str, body: Vec<u8>) -> Result<(u16, Value)> {
        let mut request = http::Request::builder().method(method).uri(format!("/_fake/v1{path}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = self.endpoint.send(request.body(Full::new(Bytes::from(body)))?).await?;
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await?.to_bytes();
        Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
    }

    /// The same with the token.
    pub(super) async fn ask(&self, method: &str, path: &str, body: impl Into<Vec<u8>>) -> Result<(u16, Value)> {
        self.send(&[("authorization", &format!("Bearer {}", self.token))], method, path, body.into()).await
    }

    /// A stream of events that is not read, until it is dropped.
    pub(super) async fn open(&self, path: &str) -> Result<TcpStream> {
        let mut stream = TcpStream::connect(self.endpoint.address()?).await?;
        let token = &self.token;
        let head = format!("GET /_fake/v1{path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n\r\n");
        stream.write_all(head.as_bytes()).await?;
        Ok(stream)
    }
}

async fn guessed_tokens(ground: &Ground) -> Result<String> {
    let port = Port::of(ground)?;
    let own = port.token.clone();
    let guesses = [
        String::new(),
        "Bearer".into(),
        "Bearer ".into(),
        own.clone(),
        format!("bearer {own}"),
        format!("Basic {own}"),
        format!("Bearer {}", &own[..own.len() - 1]),
        format!("Bearer {own} "),
        format!("Bearer {own}0"),
        format!("Bearer {}", ground.cluster().token("admin").unwrap_or_default()),
    ];
    let mut refused = 0;
    for guess in &guesses {
        for (method, path) in [("GET", ""), ("POST", "/reset")] {
            let headers = [("authorization", guess.trim_end())];
            let is_good = guess.trim_end() == format!("Bearer {own}");
            let headers = if is_good { &headers[..0] } else { &headers[..] };
            let (code, answer) = port.send(headers, method, path, Vec::new()).await?;
            ensure!(code == 401, "{guess:?}: {code} {answer}");
            refused += 1;
        }
    }
    Ok(format!("{refused}x 401"))
}

async fn web_pages(ground: &Ground) -> Result<String> {
    let port = Port::of(ground)?;
    let token = format!("Bearer {}", port.token);
    let mut codes = Vec::new();
    for origin in ["http://example.com", "null"] {
        let headers = [("authorization", token.as_str()), ("origin", origin)];
        codes.push(port.send(&headers, "POST", "/reset", Vec::new()).await?.0.to_string());
    }
    Ok(codes.join(" "))
}

async fn trickling(ground: &Ground) -> Result<String> {
    let port = Port::of(ground)?;
    let address = port.endpoint.address()?;
    let open = |_| async move {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(b"GET /_fake/v1 HTT").await?;
        anyhow::Ok(stream)
    };
    let mut streams = try_join_all((0..400).map(open)).await?;
    let (code, _) = timeout(FREED, port.ask("GET", "/clock", "")).await.context("nobody gets in any more")??;
    // Those that were in first were shown out.
    let mut byte = [0; 1];
    let ended = timeout(FREED, streams[0].read(&mut byte)).await.context("it stays for ever")?;
    ensure!(ended.is_err() || ended.is_ok_and(|read| read == 0 || byte == *b"H"), "it was answered");
    Ok(format!("{code} after all"))
}

async fn bodies(ground: &Ground) -> Result<String> {
    let port = Port::of(ground)?;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let long = format!("{{\"name\": {:?}}}", "x".repeat(4 * 1024 * 1024));
    let wide: serde_json::Map<String, Value> = (0..10_000).map(|number| (format!("f{number}"), json!(1))).collect();
    let mut codes = Vec::new();
    for body in
        [deep, "{\"name\": ".into(), "\u{0}".into(), json!({"skip": 1e300}).to_string(), long, json!(wide).to_string()]
    {
        let (code, answer) = port.ask("POST", "/faults", body).await?;
        ensure!(answer["kind"] == "Status", "{answer}");
        codes.push(code.to_string());
    }
    Ok(codes.join(" "))
}

async fn rules(ground: &Ground) -> Result<String> {
    let port = Port::of(ground)?;
    // A rule that strikes nothing, so that the others of this ground are left alone.
    let rule = json!({"match": {"users": ["nobody-at-all"]}, "actions": [{"pass": true}]});
    let many = Value::from(vec![json!({"actions": [{"pass": true}]}); 100_000]);
    let (first, _) = port.ask("PUT", "/faults", many.to_string()).await?;
    let mut added = 0;
    for _ in 0..1000 {
        let (code, answer) = port.ask("POST", "/faults", rule.to_string()).await?;
        ensure!(code == 201, "{code} {answer}");
        added += 1;
    }
    let (last, _) = port.ask("POST", "/faults", rule.to_string()).await?;
    ground.must("GET", &ground.path("configmaps"), &Value::Null).await?;
    let (cleared, _) = port.ask("DELETE", "/faults", "").await?;
    Ok(format!("{first} {added}x 201 {last} {cleared}"))
}

async fn seeds(ground: &Ground) -> Result<String> {
    let port = Port::of(ground)?;
    let namespace = ground.namespace();
    let before = ground.must("GET", &ground.path("configmaps"), &Value::Null).await?;
    let levels = (1..30).fold("a0: &a0 [x, x]\n".to_owned(), |text, level| {
        let below = level - 1;
        text + &format!("a{level}: &a{level} [*a{below}, *a{below}]\n")
    });
    let deep = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata: {}1{}",
        "[".repeat(5000),
        "]".repeat(5000)
    );
    let object =
        |name: &str| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, namespace: {namespace}}}}}");
    let many =
        (0..200).map(|number| object(&format!("n{number}")) + "\n---\n").collect::<String>() + &object("Not_A_Name");
    let mut codes = Vec::new();
    for seed in [format!("apiVersion: v1\nkind: ConfigMap\n{levels}"), deep, many] {
        let (code, answer) = port.ask("POST", "/seed", seed).await?;
        ensure!(answer["kind"] == "Status", "{answer}");
        codes.push(code.to_string());
    }
    let after = ground.must("GET", &ground.path("configmaps"), &Value::Null).await?;
    let is_same = before["items"].as_array().map(Vec::len) == after["items"].as_array().map(Vec::len);
    codes.push(if is_same { "same" } else { "another" }.into());
    Ok(codes.join(" "))
}

async fn conditions(ground: &Ground) -> Result<String> {
    let port = Port::of(ground)?;
    let about = |resource: &str, cel: String| {
        json!({"resource": resource, "name": "default", "cel": cel, "timeoutSeconds": 0}).to_string()
    };
    let deep = format!("{}true{}", "(".repeat(50_000), ")".repeat(50_000));
    let list = format!("[{}]", vec!["1"; 1000].join(","));
    let dear = format!("{list}.all(a, {list}.all(b, {list}.all(c, a == b && b == c && self.metadata.name != 'x')))");
    let mut codes = Vec::new();
    for (path, body) in [
        ("/objects/wait", about("namespaces", deep)),
        ("/objects/wait", about("namespaces", "1 + 1".into())),
        ("/objects/wait", about("namespaces", dear)),
        ("/objects/wait", about("nothings", "true".into())),
        ("/requests/wait", json!({"match": {"labelSelector": "a in (".repeat(1000)}, "timeoutSeconds": 0}).to_string()),
    ] {
        let (code, answer) = port.ask("POST", path, body).await?;
        ensure!(code != 200 || answer["satisfied"] == false, "{answer}");
        codes.push(code.to_string());
    }
    Ok(codes.join(" "))
}

async fn snapshots(ground: &Ground) -> Result<String> {
    let port = Port::of(ground)?;
    let head =
        |records: u64| format!("{{\"fakeApiserverState\":1,\"compacted\":1,\"revision\":9,\"records\":{records}}}\n");
    let record = |slot: u64| {
        let object = json!({"slot": slot, "body": 0, "uid": "", "labels": {}, "fields": []});
        let line = json!({"resource": "configmaps.", "path": "default/a", "revision": 2, "object": object});
        format!("{}{line}\n{{}}\n", head(1))
    };
    let mut codes = Vec::new();
    for file in [
        "x".into(),
        head(1).replace(":1,\"compacted", ":2,\"compacted"),
        head(u64::MAX),
        record(u64::MAX),
        record(1_000_000),
    ] {
        let (code, answer) = port.ask("PUT", "/snapshots/lies", file).await?;
        ensure!(answer["kind"] == "Status", "{answer}");
        codes.push(code.to_string());
    }
    Ok(codes.join(" "))
}

async fn gigabytes(ground: &Ground) -> Result<String> {
    let port = Port::of(ground)?;
    let mut codes = Vec::new();
    for (method, path) in [("PUT", "/snapshots/huge"), ("POST", "/seed")] {
        let mut stream = TcpStream::connect(port.endpoint.address()?).await?;
        let token = &port.token;
        let head = format!(
            "{method} /_fake/v1{path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\n\r\n",
            1 << 30
        );
        stream.write_all(head.as_bytes()).await?;
        let mut begun = [0; 12];
        timeout(FREED, stream.read_exact(&mut begun)).await.context("it waits for the body")??;
        let code = str::from_utf8(&begun)?.rsplit(' ').next().unwrap_or_default().to_owned();
        codes.push(code);
    }
    Ok(codes.join(" "))
}

async fn idle_rules(ground: &Ground) -> Result<String> {
    let port = Port::of(ground)?;
    let pass = json!([{"pass": true}]);
    let mut refused = 0;
    for rule in [
        json!({"match": {"resources": ["secret"]}, "actions": pass}),
        json!({"match": {"apiGroups": ["nowhere.example.com"]}, "actions": pass}),
        json!({"match": {"apiGroups": ["apps"], "resources": ["pods"]}, "actions": pass}),
        json!({"match": {"verbs": ["list"]}, "actions": [{"watch": {"do": "end"}}]}),
        json!({"match": {"verbs": ["get"]}, "actions": [{"connection": {"do": "reset", "when": "afterCommit"}}]}),
        json!({"match": {"clusterScoped": true, "namespaces": ["default"]}, "actions": pass}),
        json!({"probability": 0, "actions": pass}),
        json!({"ttlSeconds": 0, "actions": pass}),
    ] {
        let (code, answer) = port.ask("POST", "/faults", rule.to_string()).await?;
        ensure!(code == 422 && answer["details"]["causes"][0]["field"].is_string(), "{rule}: {code} {answer}");
        refused += 1;
    }
    let (_, rules) = port.ask("GET", "/faults", "").await?;
    Ok(format!("{refused}x 422 {}", if rules["items"] == json!([]) { "none" } else { "some" }))
}

async fn other_tokens(ground: &Ground) -> Result<String> {
    let port = Port::of(ground)?;
    let mut tokens = Vec::new();
    for name in ["thief", "victim"] {
        let (code, made) = port.ask("POST", "/clusters", json!({"name": name}).to_string()).await?;
        ensure!(code == 201, "{code} {made}");
        tokens.push(made["token"].as_str().context("a token")?.to_owned());
    }
    let endpoint = ground.cluster().endpoints().first().context("a server")?;
    let code = async |path: &str| {
        let request = http::Request::builder()
            .uri(format!("{path}/api/v1/namespaces/default"))
            .header("authorization", format!("Bearer {}", tokens[0]));
        anyhow::Ok(endpoint.send(request.body(Full::default())?).await?.status().as_u16())
    };
    let mut codes = vec![code("/clusters/thief").await?, code("/clusters/victim").await?, code("").await?];
    for name in ["thief", "victim"] {
        port.ask("DELETE", &format!("/clusters/{name}"), "").await?;
    }
    codes.push(code("/clusters/thief").await?);
    Ok(codes.iter().map(u16::to_string).collect::<Vec<_>>().join(" "))
}

async fn clusters(ground: &Ground) -> Result<String> {
    const MANY: usize = 500;
    let port = Port::of(ground)?;
    let create = async |name: &str| port.ask("POST", "/clusters", json!({"name": name}).to_string()).await;
    let mut made = 0;
    for number in 0..MANY {
        let (code, answer) = create(&format!("many-{number}")).await?;
        ensure!(code == 201, "{code} {answer}");
        made += 1;
    }
    let (taken, wrong) = (create("many-0").await?.0, create("Not_A_Name").await?.0);
    let mut removed = 0;
    for number in 0..MANY {
        let (code, answer) = port.ask("DELETE", &format!("/clusters/many-{number}"), "").await?;
        ensure!(code == 200, "{code} {answer}");
        removed += 1;
    }
    let (held, _) = port.ask("POST", "/clusters/many-0/hold", "").await?;
    Ok(format!("{made}x 201 {taken} {wrong} {removed}x 200 {held}"))
}
