//! `fake-apiserver assets`: the programs that test environments start, in a folder or an archive.
//!
//! kube-apiserver and etcd are this program under other names: links to it, or copies where there are no links. So the folder is as new as
//! the program is, and making it anew changes nothing. kubectl is a link to the one that is installed or, until one is, to this program,
//! which looks for it when it runs.

mod archive;
mod folder;

use anyhow::Context as _;
use clap::{Parser, ValueEnum};
use controller::program;
use fake_apiserver::git_version;
use fake_apiserver_cli::exit_code;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

/// Makes a folder with kube-apiserver, etcd and kubectl, as envtest wants them, and prints its path:
/// KUBEBUILDER_ASSETS=$(fake-apiserver assets) go test ./...
///
/// kube-apiserver is this program, without the controllers of a control plane; flags of its own are taken from
/// FAKE_APISERVER_FLAGS. etcd keeps the objects while no kube-apiserver runs. kubectl is the one on PATH, or in a
/// usual folder.
#[derive(Debug, Parser)]
#[command(name = "fake-apiserver assets", max_term_width = 100, verbatim_doc_comment)]
struct Assets {
    /// The folder, in place of one in the user's cache directory
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["bin_dir", "install"])]
    dir: Option<PathBuf>,
    /// A folder of a project for programs: they are made in FOLDER/k8s/VERSION-OS-ARCHITECTURE, where `setup-envtest --bin-dir` has them
    #[arg(long, value_name = "FOLDER", conflicts_with = "install")]
    bin_dir: Option<PathBuf>,
    /// Make the folder in the store of setup-envtest, as this version, where `setup-envtest use -i` and envtest's downloads find it
    #[arg(long, value_name = "X.Y.Z", value_parser = version, conflicts_with = "as_version")]
    install: Option<String>,
    /// Name the folder by this version in place of the emulated one
    #[arg(long = "as", value_name = "X.Y.Z", value_parser = version)]
    as_version: Option<String>,
    /// The output: the path of the folder, a line for a shell, or an archive in place of a folder, as `setup-envtest sideload` reads it
    #[arg(long, value_enum, default_value_t = Format::Path)]
    format: Format,
    /// Whose layout the folder has: that of envtest, or of fabric8's kube-api-test, for KUBE_API_TEST_DIR
    #[arg(long, value_enum, default_value_t = Layout::Envtest)]
    layout: Layout,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Path,
    Env,
    #[value(name = "tar.gz")]
    TarGz,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Layout {
    Envtest,
    Kubeapitest,
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
    exit_code(make(&assets))
}

fn make(assets: &Assets) -> anyhow::Result<()> {
    let program = env::current_exe().and_then(fs::canonicalize).context("unable to find this program")?;
    let failed = "unable to print";
    if assets.format == Format::TarGz {
        return archive::write(&program, io::stdout().lock()).context(failed);
    }
    let emulated = git_version();
    let emulated = emulated.trim_start_matches('v');
    let version = assets.install.as_deref().or(assets.as_version.as_deref()).unwrap_or(emulated);
    if version != emulated {
        program::say(&format!("The folder is named by version {version}; the programs are as those of {emulated}."));
    }
    let (root, folder) = folders(assets, &program, &platform(version))?;
    folder::make(&program, &folder)?;
    let printed = fs::canonicalize(root.as_ref().unwrap_or(&folder)).context("unable to find the folder")?;
    let line = match (assets.format, assets.layout) {
        (Format::Env, Layout::Envtest) => format!("export KUBEBUILDER_ASSETS={}", quoted(&printed)),
        (Format::Env, Layout::Kubeapitest) => format!("export KUBE_API_TEST_DIR={}", quoted(&printed)),
        (Format::Path | Format::TarGz, _) => printed.display().to_string(),
    };
    writeln!(io::stdout(), "{line}").context(failed)
}

/// The root of the layout, if that is what is printed, and the folder of the programs.
fn folders(assets: &Assets, program: &Path, platform: &str) -> anyhow::Result<(Option<PathBuf>, PathBuf)> {
    let no_folder = "there is no folder of the user's: name one with --dir";
    if assets.install.is_some() {
        let store =
            folder::data().context("there is no folder for setup-envtest's store: name one with --bin-dir and --as")?;
        return Ok((None, store.join("kubebuilder-envtest/k8s").join(platform)));
    }
    let of_cache = || folder::cache().map(|cache| cache.join(folder::of_program(program))).context(no_folder);
    match (assets.layout, &assets.bin_dir, &assets.dir) {
        (Layout::Envtest, Some(bin), _) => Ok((None, bin.join("k8s").join(platform))),
        (Layout::Envtest, None, Some(dir)) => Ok((None, dir.clone())),
        (Layout::Envtest, None, None) => Ok((None, of_cache()?.join(platform))),
        (Layout::Kubeapitest, root, dir) => {
            let root = match root.as_ref().or(dir.as_ref()) {
                Some(root) => root.clone(),
                None => of_cache()?.join("kubeapitest"),
            };
            let folder = root.join("k8s").join(platform);
            Ok((Some(root), folder))
        }
    }
}

/// The last element of a folder of programs, as setup-envtest names them: `1.37.1-linux-amd64`.
fn platform(version: &str) -> String {
    let os = if env::consts::OS == "macos" { "darwin" } else { env::consts::OS };
    let architecture = match env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{version}-{os}-{architecture}")
}

/// A path as a word of a POSIX shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

/// A version of three numbers.
fn version(text: &str) -> Result<String, String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let parts: Vec<&str> = text.split('.').collect();
    let is_number = |part: &&str| part.parse::<u32>().is_ok_and(|number| number.to_string() == **part);
    if parts.len() == 3 && parts.iter().all(is_number) {
        return Ok(text.to_owned());
    }
    Err("not a version such as 1.36.2".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_three_numbers() {
        assert_eq!(version("v1.36.2").as_deref(), Ok("1.36.2"));
        for wrong in ["", "1.36", "1.36.x", "1.36.02", "../1.2", "1.2.3.4", "-1.2.3"] {
            assert!(version(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn paths_are_words_of_a_shell() {
        assert_eq!(quoted(Path::new("/a b/it's")), r"'/a b/it'\''s'");
    }
}
