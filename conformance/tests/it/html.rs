//! The HTML report in a browser, if there is one: driven by its keys alone, wide and narrow.

use crate::fixtures;
use conformance::play::Options;
use conformance::subject::Embedded;
use conformance::suite;
use conformance_judge::baseline::Baseline;
use conformance_judge::check::Finding;
use conformance_judge::report::{self, Report};
use conformance_judge::scenario::Scenario;
use conformance_judge::verdict::Outcome;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// Chromium by the names under which it is installed.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// Time for a browser to start, to load the page and to run the checks.
const DEADLINE: Duration = Duration::from_secs(120);

const WRONG: &str = "# Goes wrong.\n\ncreate configmaps/a\n  data.k = </script><script>fault('markup')</script>\n\n\
    get configmaps/a\n----\n200\n  data.k = w\n  metadata.name = a\n\nget configmaps/b\n";

/// The script before the page's own: collects errors.
const HEAD: &str = "<head><script>
var faults = [];
function fault(text) { faults.push(text); }
addEventListener('error', (event) => fault(event.message));
addEventListener('unhandledrejection', (event) => fault(String(event.reason)));
addEventListener('securitypolicyviolation', (event) => fault('loads ' + event.blockedURI));
console.error = (...words) => fault(words.join(' '));
</script>";

/// The script after the checks: reports errors.
const TAIL: &str = "} catch (error) { fault(error.stack); }
parent.postMessage(faults.length === 0 ? 'all is well' : faults.join('\\n'), '*');
</script>";

/// A document with the page in a frame, because a window has a minimal width; it shows the page's report.
const FRAME: &str = "<!doctype html><body><script>
addEventListener('message', (event) => {
  const seen = document.createElement('pre');
  seen.id = 'seen';
  seen.textContent = event.data;
  document.body.append(seen);
});
</script>";

#[tokio::test(flavor = "multi_thread")]
async fn the_page_works_by_keys_alone_at_any_width() {
    let Some(browser) = browser() else {
        println!("skipped: none of {} is on the PATH", BROWSERS.join(", "));
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let checks = format!("<script type=\"module\">\ntry {{\n{}{TAIL}</body>", include_str!("html.js"));
    let html = a_run().await.replacen("<head>", HEAD, 1).replacen("</body>", &checks, 1);
    std::fs::write(&page, html).unwrap();
    for width in [1280, 360] {
        let frame = folder.path().join(format!("{width}.html"));
        let inner = format!("<iframe src=\"page.html?{width}\" width=\"{width}\" height=\"800\" style=\"border: 0\">");
        std::fs::write(&frame, format!("{FRAME}{inner}</iframe>")).unwrap();
        let seen = open(&browser, &frame, &folder.path().join(width.to_string())).await;
        assert_eq!(seen, "all is well", "{width} wide");
    }
}

/// The page of a run with a failure and a pass, and of another target that skips.
async fn a_run() -> String {
    let read = std::fs::read_to_string(fixtures("scenarios/skew/skewed-nbf.txt")).unwrap();
    let scenarios = [("skew/skewed-nbf", read.as_str()), ("made-up/wrong", WRONG)];
    let scenarios = scenarios.map(|(name, text)| Scenario::parse(name, text).unwrap());
    let baseline = Baseline::load(&fixtures(""), &scenarios).unwrap();
    let played = suite::run(&scenarios, &Embedded, &baseline, Options::default(), |_| {}).await;
    let skipped = Report {
        scenario: scenarios[0].name.clone(),
        outcome: Outcome::Skipped { reason: "a stone has no clock".into() },
        exchanges: Vec::new(),
        took: Duration::ZERO,
        played: None,
    };
    let across = Finding { check: "recording", line: None, breaks_off: false, text: "a stone is silent".into() };
    report::html("v1.37.1", &scenarios, &[("embedded", played), ("stone", vec![skipped])], &[across])
}

fn browser() -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

/// The report of the checks in the page in `frame`. The browser keeps its state in `profile`.
async fn open(browser: &Path, frame: &Path, profile: &Path) -> String {
    let command = tokio::process::Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--disable-dev-shm-usage", "--virtual-time-budget=5000", "--dump-dom", "--window-size=1400,900"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", frame.display()))
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(DEADLINE, command).await.expect("the browser ends").unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    let seen = dom.split_once("<pre id=\"seen\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let (seen, _) =
        seen.unwrap_or_else(|| panic!("the checks did not end: {}", String::from_utf8_lossy(&output.stderr)));
    seen.to_owned()
}
