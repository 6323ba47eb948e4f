//! `fake-apiserver assets`: a folder with the programs that envtest starts, for `KUBEBUILDER_ASSETS`.
//!
//! kube-apiserver and etcd are this program under other names: links to it, or copies where there are no links. So the folder is as new as
//! the program is, and making it anew changes nothing. kubectl is a link to the one that is installed or, until one is, to this program,
//! which looks for it when it runs.

use crate::kubectl;
use anyhow::Context as _;
use clap::Parser;
use controller::program;
use fake_apiserver::git_version;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, process};

/// Makes a folder with kube-apiserver, etcd and kubectl, as envtest wants them, and prints its path:
/// KUBEBUILDER_ASSETS=$(fake-apiserver assets) go test ./...
///
/// kube-apiserver is this program, without the controllers of a control plane; flags of its own are taken from
/// FAKE_APISERVER_FLAGS. etcd only says that it is well, for objects are kept by the kube-apiserver. kubectl is the one on PATH, or in a
/// usual folder.
#[derive(Debug, Parser)]
#[command(name = "fake-apiserver assets", max_term_width = 100, verbatim_doc_comment)]
struct Assets {
    /// The folder, in place of one in the user's cache directory
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
}

/// Makes the folder and prints it.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    let assets = match Assets::try_parse_from([OsString::from("assets")].into_iter().chain(arguments)) {
        Ok(assets) => assets,
        Err(error) => {
            error.print().ok();
            return if error.use_stderr() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
    };
    program::exit_code(make(assets.dir))
}

fn make(dir: Option<PathBuf>) -> anyhow::Result<()> {
    let program = env::current_exe().and_then(fs::canonicalize).context("unable to find this program")?;
    let folder = match dir {
        Some(dir) => dir,
        None => cache().context("there is no cache directory: name a folder with --dir")?.join(inner(&program)),
    };
    let failed = || format!("unable to make {}", folder.display());
    fs::create_dir_all(&folder).with_context(failed)?;
    let folder = fs::canonicalize(&folder).with_context(failed)?;
    let kubectl = kubectl::find();
    if kubectl.is_none() {
        program::say("There is no kubectl on PATH: tests that run the one in the folder fail.");
    }
    for (name, program) in
        [("etcd", &program), ("kube-apiserver", &program), ("kubectl", kubectl.as_ref().unwrap_or(&program))]
    {
        let file = folder.join(format!("{name}{}", env::consts::EXE_SUFFIX));
        place(program, &file).with_context(|| format!("unable to make {}", file.display()))?;
    }
    writeln!(io::stdout(), "{}", folder.display()).context("unable to print the folder")
}

/// The user's cache directory (`os.UserCacheDir` of Go).
fn cache() -> Option<PathBuf> {
    let folder = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    match env::consts::OS {
        "windows" => folder("LocalAppData"),
        "macos" => folder("HOME").map(|home| home.join("Library/Caches")),
        _ => folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache"))),
    }
}

/// The folder of a program in the cache directory. Its last element is as that of a folder which setup-envtest downloads.
fn inner(program: &Path) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    (program, env!("CARGO_PKG_VERSION")).hash(&mut hasher);
    let os = if env::consts::OS == "macos" { "darwin" } else { env::consts::OS };
    let architecture = match env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let version = git_version();
    let last = format!("{}-{os}-{architecture}", version.trim_start_matches('v'));
    ["fake-apiserver", "assets", &format!("{:016x}", hasher.finish()), &last].iter().collect()
}

/// Puts a program under another name, unless it is there. Others may do the same at the same time: it never is there half.
#[cfg(unix)]
fn place(program: &Path, file: &Path) -> io::Result<()> {
    if fs::read_link(file).is_ok_and(|target| target == program) {
        return Ok(());
    }
    let temporary = temporary(file);
    std::os::unix::fs::symlink(program, &temporary)?;
    fs::rename(&temporary, file).inspect_err(|_| drop(fs::remove_file(&temporary)))
}

#[cfg(not(unix))]
fn place(program: &Path, file: &Path) -> io::Result<()> {
    let (new, old) = (fs::metadata(program)?, fs::metadata(file));
    if old.is_ok_and(|old| old.len() == new.len() && old.modified().ok() >= new.modified().ok()) {
        return Ok(());
    }
    let temporary = temporary(file);
    fs::copy(program, &temporary)?;
    fs::rename(&temporary, file).inspect_err(|_| drop(fs::remove_file(&temporary)))
}

/// A path beside `file` that no other process uses.
fn temporary(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.unfinished", process::id()));
    file.with_file_name(name)
}
