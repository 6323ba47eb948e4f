//! Webhooks that do harm, and policies whose expressions take long.

use super::hooks::{Configured, Hook, VALIDATING, created, labelled};
use super::hostile::{Answer, answer, json_answer, status};
use super::policies;
use crate::attack::catalogue::{Coded, Run};
use crate::attack::ground::Ground;
use crate::attack::verdict::Bounds;
use crate::webhook::{self, Reaction};
use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::bufread::GzEncoder;
use http_body_util::Full;
use serde_json::{Value, json};
use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;

const BOUNDS: Bounds = Bounds { memory_mib: 64, peak_mib: 128, descriptors: 8, threads: 16 };
/// The bounds where each of a few answers is read up to its limit of 64 MiB.
const LARGE: Bounds = Bounds { memory_mib: 96, peak_mib: 512, ..BOUNDS };
/// The clients of most attacks.
const CLIENTS: usize = 50;
/// The clients whose reviews are not answered, beside others.
const HANGING: usize = 300;
/// The streams that a connection to a webhook has at once.
const STREAMS: usize = 250;
/// The time for these.
const QUICK: Duration = Duration::from_secs(5);
/// The clients where much is sent to each.
const FEW: usize = 3;
/// The calls after which a webhook that calls the server does not do so any more.
const DEPTH: usize = 30;

const fn attack(name: &'static str, about: &'static str, run: Run) -> Coded {
    Coded::new(name, about, run).slow(BOUNDS)
}

/// The attacks.
pub(super) const ATTACKS: &[Coded] = &[
    attack("webhooks-that-hang", "Webhooks that never answer.", |ground| {
        Box::pin(raw(ground, "hang", Answer::none(), CLIENTS, VALIDATING))
    }),
    attack(
        "webhooks-that-hang-and-are-ignored",
        "Webhooks that never answer, and whose failures are ignored.",
        |ground| {
            Box::pin(raw(ground, "ignored", Answer::none(), CLIENTS, Configured { policy: "Ignore", ..VALIDATING }))
        },
    ),
    attack(
        "webhooks-that-hang-for-some",
        "300 reviews that a webhook does not answer, beside others that it does.",
        |ground| Box::pin(hanging_for_some(ground)),
    )
    .slow(Bounds { peak_mib: 192, ..BOUNDS }),
    attack("heads-that-trickle", "Heads of answers that come letter by letter.", |ground| {
        Box::pin(raw(ground, "head", trickling(answer("", "", 0, "").with_head("X-A: "), "b"), CLIENTS, VALIDATING))
    }),
    attack("bodies-that-trickle", "Answers that come letter by letter.", |ground| {
        let headers = "Content-Type: application/json\r\nContent-Length: 100000\r\n";
        Box::pin(raw(ground, "body", trickling(answer(headers, "", 0, ""), " "), CLIENTS, VALIDATING))
    }),
    attack("a-gigabyte", "Answers of a gigabyte.", |ground| {
        let headers = "Content-Type: application/json\r\nContent-Length: 1000000000\r\n";
        Box::pin(raw(ground, "gigabyte", answer(headers, &" ".repeat(100_000), 10_000, ""), FEW, VALIDATING))
    })
    .slow(LARGE),
    attack("endless-chunks", "Answers in chunks that do not end.", |ground| {
        let piece = format!("186a0\r\n{}\r\n", " ".repeat(100_000));
        let endless = answer("Transfer-Encoding: chunked\r\n", &piece, 100_000, "");
        Box::pin(raw(ground, "chunks", endless, FEW, VALIDATING))
    })
    .slow(LARGE),
    attack("endless-heads", "Heads of answers that do not end.", |ground| {
        let endless = answer("", "", 0, "").with_head(&"X-A: b\r\n".repeat(2_000_000));
        Box::pin(raw(ground, "heads", endless, FEW, VALIDATING))
    })
    .slow(LARGE),
    attack("a-small-bomb", "256 MB, compressed to a quarter of one.", |ground| Box::pin(bomb(ground))).slow(LARGE),
    attack("webhooks-that-vanish", "Answers that end in the middle.", |ground| {
        let half = answer("Content-Type: application/json\r\nContent-Length: 100\r\n", "{\"kind\":", 1, "");
        Box::pin(raw(ground, "vanish", half, CLIENTS, VALIDATING))
    }),
    attack("webhooks-that-vanish-before", "Connections that are closed in place of an answer.", |ground| {
        Box::pin(raw(ground, "before", Answer { stays: false, ..Answer::none() }, CLIENTS, VALIDATING))
    }),
    attack("garbage", "Answers that are no HTTP.", |ground| {
        Box::pin(raw(ground, "garbage", Answer::garbage(), CLIENTS, VALIDATING))
    }),
    attack("deep-answers", "Reviews 100,000 deep.", |ground| {
        let deep = format!("{}{}", "{\"response\":".repeat(100_000), "}".repeat(100_000));
        Box::pin(raw(ground, "deep", json_answer(&deep), FEW, VALIDATING))
    }),
    attack("try-again-at-once", "An answer that asks to try again at once, without end.", |ground| {
        let again = status("503 Service Unavailable", "Retry-After: 0\r\n");
        Box::pin(raw(ground, "again", again, CLIENTS, VALIDATING))
    }),
    attack("try-again-in-years", "An answer that asks to try again in years.", |ground| {
        let years = status("503 Service Unavailable", "Retry-After: 999999999\r\n");
        Box::pin(raw(ground, "years", years, CLIENTS, VALIDATING))
    }),
    attack("patches-that-double", "A patch that copies what it has copied, thirty times.", |ground| {
        let copy = |number: usize| json!({"op": "copy", "from": "/data", "path": format!("/data/c{number}")});
        Box::pin(answered(ground, "double", patch((0..30).map(copy).collect()), FEW))
    })
    .slow(LARGE),
    attack("long-patches", "A patch of 100,000 operations.", |ground| {
        let add = |number: usize| json!({"op": "add", "path": format!("/data/a{}", number % 10), "value": "x"});
        Box::pin(answered(ground, "long", patch((0..100_000).map(add).collect()), FEW))
    })
    .slow(LARGE),
    attack("a-hundred-thousand-warnings", "An answer of 100,000 warnings.", |ground| {
        let warnings: Vec<String> = (0..100_000).map(|number| format!("{number} {}", "x".repeat(120))).collect();
        Box::pin(answered(ground, "warnings", json!({"allowed": true, "warnings": warnings}), FEW))
    })
    .slow(LARGE),
    attack("a-long-refusal", "A refusal with a message of 10 MB.", |ground| {
        let refusal = json!({"allowed": false, "status": {"message": "x".repeat(10_000_000)}});
        Box::pin(answered(ground, "refusal", refusal, FEW))
    })
    .slow(LARGE),
    attack(
        "webhooks-that-call-the-server",
        "A webhook that creates another object, about which it is asked.",
        |ground| Box::pin(calling(ground, "calls", DEPTH, 10)),
    ),
    attack("webhooks-that-call-the-server-without-end", "The same, until its time is over.", |ground| {
        Box::pin(calling(ground, "endless", usize::MAX, 1))
    })
    .slow(LARGE),
    policies::attack("loops-in-loops", "Loops over 2,000 entries within such loops.", |ground| {
        Box::pin(policies::loops_in_loops(ground))
    }),
    policies::attack("strings-that-double", "Variables that are twice the one before.", |ground| {
        Box::pin(policies::doubling(ground, "strings", "object.data.k0", |it| format!("{it} + {it}")))
    }),
    policies::attack("lists-that-double", "Lists that are twice the one before.", |ground| {
        Box::pin(policies::doubling(ground, "lists", "[object.data.k0]", |it| format!("{it} + {it}")))
    }),
    policies::attack("formats-that-double", "Formatted strings that are twice the one before.", |ground| {
        Box::pin(policies::doubling(ground, "formats", "object.data.k0", |it| format!("'%s%s'.format([{it}, {it}])")))
    }),
    policies::attack("patterns-over-much", "A pattern that most engines try in all ways, on 900 kB.", |ground| {
        Box::pin(policies::patterns(ground))
    }),
    policies::attack("policies-near-the-limit", "Five policies that each take nearly as long as they may.", |ground| {
        Box::pin(policies::near_the_limit(ground))
    }),
    policies::attack("many-parameters", "A policy with 300 parameters, each of which takes long.", |ground| {
        Box::pin(policies::many_parameters(ground))
    }),
    policies::attack("mutations-that-double", "Policies that make an object larger than it may be.", |ground| {
        Box::pin(policies::mutations(ground))
    }),
];

/// The answer with a piece that comes again and again, with pauses.
fn trickling(answer: Answer, piece: &str) -> Answer {
    Answer { piece: piece.to_owned(), times: 100_000, pause: Duration::from_millis(20), ..answer }
}

/// Writes that a webhook gives that answer.
async fn raw(ground: &Ground, name: &str, answer: Answer, clients: usize, configured: Configured) -> Result<String> {
    attacked(ground, name, Hook::raw(answer).await?, clients, configured).await
}

async fn attacked(ground: &Ground, name: &str, hook: Hook, clients: usize, configured: Configured) -> Result<String> {
    let installed = hook.install(ground, name, configured).await?;
    let told = created(ground, clients, &labelled(name, "a", json!({"k": "v"}))).await?;
    installed.remove(ground).await?;
    Ok(told)
}

/// Writes that a webhook admits, while it does not answer about many others.
async fn hanging_for_some(ground: &Ground) -> Result<String> {
    const NAME: &str = "some";
    let hook = Hook::http(|review| async move {
        if !review["request"]["object"]["data"]["hang"].is_null() {
            return Ok(Reaction::Silence);
        }
        Ok(Reaction::Answer(webhook::answer(&review, json!({"allowed": true}))?))
    });
    let hook = hook.await?;
    let installed = hook.install(ground, NAME, Configured { timeout: 10, ..VALIDATING }).await?;
    let before = hook.asked();
    let (hanging, quick) = (labelled(NAME, "a", json!({"hang": ""})), labelled(NAME, "b", json!({})));
    let beside = async {
        hook.asks(before + STREAMS).await;
        let quick = tokio::time::timeout(ground.patience(QUICK), created(ground, FEW, &quick)).await;
        quick.unwrap_or_else(|_| Ok("nothing".to_owned()))
    };
    let (hung, beside) = tokio::try_join!(created(ground, HANGING, &hanging), beside)?;
    installed.remove(ground).await?;
    Ok(format!("{beside} beside {hung}"))
}

/// A response with a patch.
fn patch(operations: Vec<Value>) -> Value {
    json!({"allowed": true, "patchType": "JSONPatch", "patch": BASE64.encode(Value::from(operations).to_string())})
}

/// Writes to which a mutating webhook gives that response, for which there is time enough.
async fn answered(ground: &Ground, name: &str, response: Value, clients: usize) -> Result<String> {
    let response = Arc::new(response);
    let hook = Hook::http(move |review| {
        let response = Arc::clone(&response);
        async move { Ok(Reaction::Answer(webhook::answer(&review, (*response).clone())?)) }
    });
    let configured = Configured { resource: "mutatingwebhookconfigurations", policy: "Fail", timeout: 30 };
    attacked(ground, name, hook.await?, clients, configured).await
}

async fn bomb(ground: &Ground) -> Result<String> {
    let mut body = Vec::new();
    GzEncoder::new(std::io::BufReader::new(std::io::repeat(b' ').take(256_000_000)), Compression::fast())
        .read_to_end(&mut body)?;
    let body = bytes::Bytes::from(body);
    let hook = Hook::http(move |_| {
        let body = Full::new(body.clone());
        async move {
            let response = http::Response::builder().header("content-type", "application/json");
            Ok(Reaction::Answer(response.header("content-encoding", "gzip").body(body)?))
        }
    });
    attacked(ground, "bomb", hook.await?, FEW, Configured { timeout: 30, ..VALIDATING }).await
}

/// A write that a webhook with that timeout is asked about, which makes another one, up to that depth.
async fn calling(ground: &Ground, name: &'static str, depth: usize, timeout: u32) -> Result<String> {
    let endpoint = ground.endpoint().clone();
    let (path, token) = (super::hooks::dry(ground), ground.names("admin")["token"].clone());
    let hook = Hook::http(move |review| {
        let (endpoint, path, token) = (endpoint.clone(), path.clone(), token.clone());
        async move {
            let number: usize = review["request"]["name"].as_str().and_then(|name| name.parse().ok()).unwrap_or(depth);
            let mut allowed = true;
            if number < depth {
                let next = labelled(name, &(number + 1).to_string(), json!({}));
                allowed = endpoint.ask(Some(&token), "POST", &path, &next).await.is_ok();
            }
            Ok(Reaction::Answer(webhook::answer(&review, json!({ "allowed": allowed }))?))
        }
    });
    let hook = hook.await?;
    let installed = hook.install(ground, name, Configured { timeout, ..VALIDATING }).await?;
    let told = created(ground, 1, &labelled(name, "0", json!({}))).await?;
    installed.remove(ground).await?;
    Ok(told)
}
