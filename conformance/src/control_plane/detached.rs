//! A detached control plane: `up` leaves its programs running, `down` finds them again.
//!
//! ```text
//! down ──up──▶ up ──down──▶ down (the logs stay)
//!                 ──crash─▶ down, with leftovers that the next up or down removes
//! ```
//!
//! One folder holds everything, with a file for each program's process id. A process id may be reused, so `/proc` is asked
//! whether it is still that program; this works on Linux only.

use super::launch::{Life, launch};
use super::plan::{Options, Plan};
use anyhow::{Context as _, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The programs, last started first.
const PROGRAMS: [&str; 4] = ["kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd"];
/// The files beside logs and process ids.
const DATA: [&str; 6] =
    ["audit-policy.json", "certificates", "etcd", "kubeconfig", "scheduler.kubeconfig", "users.csv"];
/// Pause between two looks whether a killed program is gone.
const PAUSE: Duration = Duration::from_millis(10);

/// Starts a control plane in `folder` and prints its address.
///
/// # Errors
/// If one is running there already, the folder is used for something else, or the start fails.
pub(super) async fn up(folder: &Path, options: Options) -> Result<()> {
    ensure!(Path::new("/proc/self").exists(), "without /proc it could not be taken down again");
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let folder = ours(folder)?;
    for name in PROGRAMS {
        let running = running(&folder, name)?;
        ensure!(running.is_none(), "a control plane is up in {} already; `down` ends it", folder.display());
    }
    clear(&folder)?;
    let plan = Plan::new(&folder, options)?;
    if let Err(error) = launch(&plan, &folder, Life::TheirOwn).await {
        return match down(&folder).await {
            Ok(_) => Err(error),
            Err(more) => Err(error.context(format!("taking down what had started: {more:#}"))),
        };
    }
    println!("ready      {}", plan.url());
    println!("etcd       {}", plan.etcd_url());
    println!("kubeconfig {}", plan.kubeconfig().display());
    for log in PROGRAMS.iter().rev().map(|name| plan.log(name)).filter(|log| log.exists()) {
        println!("log        {}", log.display());
    }
    Ok(())
}

/// Stops the control plane in `folder` and removes its files except the logs. False if none was running.
///
/// # Errors
/// If the folder is used for something else, or a program cannot be stopped.
pub(super) async fn down(folder: &Path) -> Result<bool> {
    if !folder.exists() {
        return Ok(false);
    }
    let folder = ours(folder)?;
    let mut any = false;
    for name in PROGRAMS {
        let Some(id) = running(&folder, name)? else { continue };
        any = true;
        // SIGKILL will do: its data is removed as well.
        let killed = Command::new("sh").args(["-c", "kill -9 \"$1\"", "kill", &id.to_string()]).status()?;
        ensure!(killed.success(), "{name} (process {id}) could not be killed");
        while running(&folder, name)?.is_some() {
            tokio::time::sleep(PAUSE).await;
        }
    }
    clear(&folder)?;
    Ok(any)
}

/// The absolute path of `folder`, if it holds nothing but a control plane's files.
fn ours(folder: &Path) -> Result<PathBuf> {
    let folder = folder.canonicalize().with_context(|| folder.display().to_string())?;
    for entry in std::fs::read_dir(&folder)? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        let of_program = |ending| name.strip_suffix(ending).is_some_and(|program| PROGRAMS.contains(&program));
        let known = DATA.contains(&&*name) || of_program(".log") || of_program(".pid");
        ensure!(known, "{} is not a control plane's: there is {name:?} in it", folder.display());
    }
    Ok(folder)
}

/// The process id of a program of `folder`, if it is running.
fn running(folder: &Path, name: &str) -> Result<Option<u32>> {
    let file = folder.join(name).with_extension("pid");
    if !file.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&file)?;
    let id: u32 = text.trim().parse().with_context(|| format!("{} holds {text:?}", file.display()))?;
    // A process that has ended has an empty command line, or no folder in `/proc`.
    let command = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    Ok(is_ours(&String::from_utf8_lossy(&command), folder, name).then_some(id))
}

/// Whether this is the command line of `name`, started for `folder`.
fn is_ours(command: &str, folder: &Path, name: &str) -> bool {
    let mut words = command.split('\0');
    let program = words.next().is_some_and(|program| Path::new(program).ends_with(name));
    let folder = format!("={}/", folder.display());
    program && words.any(|word| word.contains(&folder))
}

fn clear(folder: &Path) -> Result<()> {
    let ids = PROGRAMS.map(|name| format!("{name}.pid"));
    for name in DATA.into_iter().chain(ids.iter().map(String::as_str)) {
        let path = folder.join(name);
        let removed = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        match removed {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| path.display().to_string());
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_ours_by_its_command_line() {
        let folder = Path::new("/state/one");
        for (command, expected) in [
            ("/cache/etcd\0--data-dir=/state/one/etcd\0", true),
            ("/cache/etcd\0--data-dir=/state/one-more/etcd\0", false),
            ("/cache/not-etcd\0--data-dir=/state/one/etcd\0", false),
            ("less\0/state/one/etcd.log\0", false),
            ("", false),
        ] {
            assert_eq!(is_ours(command, folder, "etcd"), expected, "{command}");
        }
    }

    #[tokio::test]
    async fn a_folder_of_somebody_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("kubeconfig"), "mine").unwrap();
        std::fs::write(folder.path().join("thesis.txt"), "mine").unwrap();
        let error = down(folder.path()).await.unwrap_err().to_string();
        assert!(error.ends_with("is not a control plane's: there is \"thesis.txt\" in it"), "{error}");
        assert!(folder.path().join("kubeconfig").exists());
    }

    #[tokio::test]
    async fn what_a_crash_left_behind_is_removed_but_for_logs() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("etcd")).unwrap();
        std::fs::write(path("etcd.log"), "why").unwrap();
        // This process is not an etcd.
        std::fs::write(path("etcd.pid"), std::process::id().to_string()).unwrap();
        assert!(!down(folder.path()).await.unwrap());
        assert!(!path("etcd").exists() && !path("etcd.pid").exists() && path("etcd.log").exists());
    }
}
