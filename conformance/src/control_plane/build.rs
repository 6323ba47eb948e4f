//! Building the programs: `go build` in the modules that pin them, into the cache. Programs that exist are left alone.

use super::cache;
use anyhow::{Context as _, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// A program of the control plane.
struct Program {
    /// Name of its file in the cache.
    name: &'static str,
    /// Name of its folder in the cache, such as `v1.37.1`.
    version: &'static str,
    /// The folder of its Go module, relative to the workspace.
    module: &'static str,
    package: &'static str,
    tags: &'static str,
}

const MODULE: &str = "conformance/control-plane";
const PROGRAMS: [Program; 7] = [
    current("etcd", "go.etcd.io/etcd/server/v3"),
    current("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
    current("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    current("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),
    current("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
    Program {
        name: "kube-controller-manager",
        version: cache::TOKEN_GENERATING_VERSION,
        module: "conformance/control-plane/v1.25",
        package: "k8s.io/kubernetes/cmd/kube-controller-manager",
        // The in-tree cloud providers of that time are half of the program, and not needed here.
        tags: "providerless",
    },
    Program {
        name: "kubectl",
        version: cache::OLDEST_CLIENT_VERSION,
        module: "conformance/control-plane/v1.36",
        package: "kubectl",
        tags: "",
    },
];

const fn current(name: &'static str, package: &'static str) -> Program {
    Program { name, version: cache::VERSION, module: MODULE, package, tags: "" }
}

impl Program {
    /// The name on the command line: `v1.37.1/etcd`.
    fn label(&self) -> String {
        format!("{}/{}", self.version, self.name)
    }

    fn path(&self) -> Result<PathBuf> {
        Ok(cache::folder(self.version)?.join(self.name))
    }

    /// Strips debug information and sets the version, as upstream's releases do.
    fn linker_flags(&self) -> String {
        let mut numbers = self.version.trim_start_matches('v').split('.');
        let mut number = || numbers.next().unwrap_or_default();
        let stamps = [("gitVersion", self.version), ("gitMajor", number()), ("gitMinor", number())];
        let stamp = |(name, value)| format!(" -X k8s.io/component-base/version.{name}={value}");
        format!("-s -w{}", stamps.map(stamp).concat())
    }

    /// Builds it under another name and moves it into place: an interrupted build does not look complete.
    fn build(&self, root: &Path) -> Result<()> {
        let path = self.path()?;
        let unfinished = path.with_file_name(format!(".{}.{}.unfinished", self.name, std::process::id()));
        std::fs::create_dir_all(path.parent().context("a program in no folder")?)?;
        let status = Command::new("go")
            .current_dir(root.join(self.module))
            .args(["build", "-trimpath", "-tags", self.tags, "-ldflags", &self.linker_flags(), "-o"])
            .args([unfinished.as_os_str(), self.package.as_ref()])
            .status()
            .context("running go build")?;
        if !status.success() {
            if unfinished.exists() {
                std::fs::remove_file(&unfinished)?;
            }
            bail!("go could not build {}", self.label());
        }
        std::fs::rename(&unfinished, &path).with_context(|| path.display().to_string())
    }
}

/// Builds the programs whose label (`v1.37.1/etcd`) contains one of `filters`, or all, one after the other; `root` is the
/// workspace's folder. Those in the cache stay as they are unless `force` is set.
///
/// # Errors
/// If a filter matches none, Go is missing, or cannot build one of them.
pub(super) fn build(root: &Path, filters: &[String], force: bool) -> Result<()> {
    for filter in filters {
        let labels = || PROGRAMS.iter().map(Program::label).collect::<Vec<_>>().join(", ");
        let known = PROGRAMS.iter().any(|program| program.label().contains(filter.as_str()));
        ensure!(known, "{filter:?} is in none of {}", labels());
    }
    let chosen = |label: &str| filters.is_empty() || filters.iter().any(|filter| label.contains(filter.as_str()));
    for program in PROGRAMS.iter().filter(|program| chosen(&program.label())) {
        let label = program.label();
        if !force && program.path()?.exists() {
            println!("{label} was built already");
            continue;
        }
        find_go(root, program)?;
        println!("{label} is being built; the first time that takes minutes");
        let begun = Instant::now();
        program.build(root)?;
        println!("{label} took {:.0} s", begun.elapsed().as_secs_f64());
    }
    println!("they are in {}", cache::folder(cache::VERSION)?.parent().context("a cache in no folder")?.display());
    Ok(())
}

/// Fails if `go` cannot be run.
fn find_go(root: &Path, program: &Program) -> Result<()> {
    let path = root.join(program.module).join("go.mod");
    let module = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let version = directive(&module, "go").context("a go.mod without a version of Go")?;
    let found = Command::new("go").arg("version").output().is_ok_and(|output| output.status.success());
    ensure!(
        found,
        "there is no `go` to build {} with; Go {version} or newer is needed, see go.dev/dl",
        program.label()
    );
    Ok(())
}

/// The rest of the line that begins with `name`.
fn directive<'a>(module: &'a str, name: &str) -> Option<&'a str> {
    module.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn required<'m>(module: &'m str, package: &str) -> Option<&'m str> {
        let line = module.lines().find(|line| line.contains(&format!("k8s.io/{package} v")))?;
        line.split_whitespace().find(|word| word.starts_with('v'))
    }

    #[test]
    fn the_modules_pin_the_versions_that_are_claimed() {
        let [current, old, client] = [
            include_str!("../../control-plane/go.mod"),
            include_str!("../../control-plane/v1.25/go.mod"),
            include_str!("../../control-plane/v1.36/go.mod"),
        ];
        assert_eq!(required(current, "kubernetes"), Some(cache::VERSION));
        assert_eq!(required(old, "kubernetes"), Some(cache::TOKEN_GENERATING_VERSION));
        let library = required(client, "kubectl").map(|version| version.replacen("v0", "v1", 1));
        assert_eq!(library.as_deref(), Some(cache::OLDEST_CLIENT_VERSION));
        assert_eq!(fake_apiserver::git_version(), cache::VERSION);
        for module in [current, old, client] {
            assert!(directive(module, "go").is_some_and(|version| version.starts_with("1.")), "{module}");
        }
        for program in PROGRAMS {
            let module = match program.version {
                cache::VERSION => current,
                cache::OLDEST_CLIENT_VERSION => client,
                _ => old,
            };
            assert!(module.contains(program.package), "{} is no tool of its module", program.label());
        }
    }

    #[test]
    fn a_version_is_stamped_as_a_release_does_it() {
        assert_eq!(
            current("kubectl", "").linker_flags(),
            format!(
                "-s -w -X k8s.io/component-base/version.gitVersion={} -X k8s.io/component-base/version.gitMajor=1 \
                 -X k8s.io/component-base/version.gitMinor=37",
                cache::VERSION
            )
        );
    }

    #[test]
    fn a_filter_that_matches_nothing_is_refused() {
        let error = build(Path::new("/"), &["kubelet".to_owned()], false).unwrap_err().to_string();
        assert!(error.starts_with("\"kubelet\" is in none of v1.37.1/etcd, "), "{error}");
    }
}
