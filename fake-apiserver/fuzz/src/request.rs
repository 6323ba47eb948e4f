//! A whole connection: the bytes of a client, sent to the server in this process.

use fake_apiserver::{FakeApiServer, ManualClock, fuzzing};
use std::cell::RefCell;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};
use tree::Value;

/// The capacity of the pipe to the server, in bytes.
const ROOM: usize = 1 << 20;

/// A server with a stopped clock, and its revision before any request.
struct World {
    runtime: Runtime,
    server: FakeApiServer,
    revision: u64,
}

thread_local! {
    static WORLD: RefCell<Option<World>> = const { RefCell::new(None) };
}

impl World {
    fn new() -> World {
        // Time passes only when all tasks are idle, and then at once.
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().expect("a runtime");
        let clock = ManualClock::new("2030-01-01T00:00:00Z".parse().expect("a time"));
        let builder = FakeApiServer::builder().insecure().seed(7).clock(clock);
        let builder = builder.add_static_token("t", "admin", &["system:masters"]);
        let server = runtime.block_on(builder.start()).expect("a server starts");
        let revision = fake_apiserver::internals::store(&server).revision();
        World { runtime, server, revision }
    }

    /// The answer of the server, until it has sent nothing for two seconds.
    fn exchange(&self, input: &[u8]) -> Vec<u8> {
        let mut answer = Vec::new();
        self.runtime.block_on(async {
            let (mut client, stream) = tokio::io::duplex(ROOM);
            let replica = self.server.replica(0);
            let serve = fuzzing::serve_connection(&replica, stream);
            let talk = async {
                let _ = client.write_all(input).await;
                let read = client.read_to_end(&mut answer);
                let _ = tokio::time::timeout(Duration::from_secs(2), read).await;
                drop(client);
            };
            tokio::join!(serve, talk);
        });
        answer
    }
}

/// Every answer is HTTP, a refusal has a `Status`, and none is an internal error.
pub(crate) fn request(input: &[u8]) {
    WORLD.with_borrow_mut(|slot| {
        let world = slot.take().unwrap_or_else(World::new);
        let answer = world.exchange(input);
        if !input.starts_with(b"PRI ") {
            judge(&answer);
        }
        // The next input must find the same state.
        if fake_apiserver::internals::store(&world.server).revision() == world.revision {
            *slot = Some(world);
        }
    });
}

fn judge(answer: &[u8]) {
    let Some(end) = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
        assert!(answer.is_empty(), "half a head: {}", String::from_utf8_lossy(answer));
        return;
    };
    let (head, body) = (String::from_utf8_lossy(&answer[..end]), &answer[end + 4..]);
    let code: u16 = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_else(|| panic!("{head}"));
    assert!(head.starts_with("HTTP/1."), "{head}");
    let shown = || format!("{head}\n{}", String::from_utf8_lossy(&body[..body.len().min(1000)]));
    assert_ne!(code, 500, "{}", shown());
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).and_then(|it| it.parse().ok());
    let Some(length) = length.filter(|length| *length > 0 && *length <= body.len()) else { return };
    if head.contains("content-type: application/json") {
        let document: Value = serde_json::from_slice(&body[..length]).unwrap_or_else(|_| panic!("{}", shown()));
        if code >= 400 {
            assert_eq!((&document["kind"], &document["code"]), (&"Status".into(), &code.into()), "{}", shown());
        }
    }
}
