//! The suites: where each is, how it is installed, and how it is run.
//!
//! In commands `{source}` is the suite's folder, `{folder}` the one for its installation, `{programs}` that of the real control plane's programs,
//! `{oldest}` that of the oldest kubectl that may be used with it.

use crate::control_plane::cache;
use anyhow::{Context as _, Result, ensure};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::process::Command;

/// A suite of checks, written for one client.
pub(super) struct Suite {
    /// The name: its folder in `conformance/clients/` and, behind `@`, the client, if several run the same checks.
    pub(super) name: &'static str,
    /// The commands that install it, the first time from a registry of packages.
    install: &'static [&'static [&'static str]],
    /// The command that runs its checks on the server that its environment names.
    run: &'static [&'static str],
    /// Whether it tells stories, too: of the fake alone, which it tells over the control port what to do.
    pub(super) stories: bool,
}

/// The commands that install a suite in Java.
const MAVEN: &[&[&str]] = &[&[
    "mvn",
    "--quiet",
    "--batch-mode",
    "-Dfolder={folder}",
    "compile",
    "dependency:copy-dependencies",
    "-DoutputDirectory={folder}/lib",
]];

/// The commands that install a suite in JavaScript.
const NPM: &[&[&str]] =
    &[&["cp", "package.json", "package-lock.json", "{folder}"], &["npm", "ci", "--silent", "--prefix", "{folder}"]];

/// The command that runs a suite in Java.
const JVM: &[&str] = &["java", "-cp", "{folder}/classes:{folder}/lib/*", "Checks"];

/// All suites.
pub(super) const SUITES: &[Suite] = &[
    Suite { name: "kubectl", install: &[], run: &["bash", "{source}/run.sh", "{programs}/kubectl"], stories: false },
    Suite {
        name: "kubectl@oldest",
        install: &[],
        run: &["bash", "{source}/run.sh", "{oldest}/kubectl"],
        stories: false,
    },
    Suite {
        name: "client-go",
        // With the same flag as the real control plane, the packages that both share are built once.
        install: &[&["go", "build", "-trimpath", "-o", "{folder}/checks", "."]],
        run: &["{folder}/checks"],
        stories: true,
    },
    Suite {
        name: "kube-rs",
        install: &[&["cargo", "build", "--locked", "--target-dir", "{folder}"]],
        run: &["{folder}/debug/clients-kube-rs"],
        stories: true,
    },
    Suite {
        name: "python",
        install: &[
            &["python3", "-m", "venv", "{folder}"],
            &["{folder}/bin/pip", "install", "--quiet", "--no-deps", "--requirement", "requirements.txt"],
        ],
        run: &["{folder}/bin/python", "{source}/checks.py"],
        stories: true,
    },
    Suite { name: "javascript", install: NPM, run: &["node", "{source}/checks.js", "{folder}"], stories: true },
    Suite { name: "fabric8", install: MAVEN, run: JVM, stories: true },
    Suite { name: "java", install: MAVEN, run: JVM, stories: true },
    // Ports of envtest, which start the programs by themselves.
    Suite {
        name: "kube-api-test",
        install: MAVEN,
        run: &["bash", "{source}/run.sh", "{programs}/kubectl", "{folder}"],
        stories: false,
    },
    Suite {
        name: "envtest-js",
        install: NPM,
        run: &["bash", "{source}/run.sh", "{programs}/kubectl", "{folder}"],
        stories: false,
    },
    Suite {
        name: "envtest",
        install: &[&["go", "build", "-trimpath", "-o", "{folder}/checks", "."]],
        run: &["bash", "{source}/run.sh", "{programs}/kubectl", "{folder}", "{programs}"],
        stories: false,
    },
    Suite {
        name: "helm",
        install: &[&["go", "build", "-trimpath", "-o", "{folder}/helm", "helm.sh/helm/v4/cmd/helm"]],
        run: &["bash", "{source}/run.sh", "{programs}/kubectl", "{folder}/helm"],
        stories: false,
    },
    Suite {
        name: "kwok",
        install: &[&["bash", "install.sh", "{folder}"]],
        run: &["bash", "{source}/run.sh", "{programs}/kubectl", "{folder}"],
        stories: false,
    },
    Suite {
        name: "cert-manager",
        install: &[&["bash", "install.sh", "{folder}"]],
        run: &["bash", "{source}/run.sh", "{programs}/kubectl", "{folder}"],
        stories: false,
    },
    Suite {
        name: "upstream",
        install: &[&["bash", "install.sh", "{folder}", "api"]],
        run: &["{folder}/checks", "{folder}", cache::VERSION],
        stories: false,
    },
    Suite {
        name: "upstream@controllers",
        install: &[&["bash", "install.sh", "{folder}", "controllers"]],
        run: &["{folder}/checks", "{folder}", cache::VERSION, "by-program"],
        stories: false,
    },
    Suite {
        name: "e2e",
        install: &[&["bash", "install.sh", "{folder}", cache::VERSION]],
        run: &["bash", "{source}/run.sh", "{folder}", "{programs}", cache::VERSION],
        stories: false,
    },
    Suite {
        name: "test-cmd",
        install: &[&["bash", "install.sh", "{folder}", "{programs}"]],
        run: &["bash", "{source}/run.sh", "{folder}", "{programs}"],
        stories: false,
    },
];

/// A suite that is installed.
pub(super) struct Installed {
    folder: PathBuf,
    run: Vec<String>,
}

impl Suite {
    /// Installs it below `target`, the folder of build results; `root` is the workspace's.
    ///
    /// # Errors
    /// If a command is missing or fails.
    pub(super) async fn install(&self, root: &Path, target: &Path) -> Result<Installed> {
        let folder = target.join("clients").join(self.name);
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let folder = folder.canonicalize()?;
        let source = self.name.split('@').next().unwrap_or_default();
        let source = root.join("conformance/clients").join(source).canonicalize()?;
        let (programs, oldest) = (cache::folder(cache::VERSION)?, cache::folder(cache::OLDEST_CLIENT_VERSION)?);
        let filled = |word: &&str| {
            let places =
                [("{source}", &source), ("{folder}", &folder), ("{programs}", &programs), ("{oldest}", &oldest)];
            places.iter().fold((*word).to_owned(), |word, (name, path)| word.replace(name, &path.display().to_string()))
        };
        for command in self.install {
            let words: Vec<String> = command.iter().map(filled).collect();
            let status = Command::new(&words[0]).args(&words[1..]).current_dir(&source).status().await;
            let status = status.with_context(|| words[0].clone())?;
            ensure!(status.success(), "{} failed: {status}", words.join(" "));
        }
        Ok(Installed { run: self.run.iter().map(filled).collect(), folder })
    }
}

impl Installed {
    /// The command that runs the checks, with its standard output piped; the client may remember things in the folder `home`.
    pub(super) fn command(&self, server: Vec<(&str, OsString)>, home: &Path) -> Command {
        let mut command = Command::new(&self.run[0]);
        command.args(&self.run[1..]).current_dir(&self.folder).envs(server).env("HOME", home);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
        command
    }
}
