//! Answers of a kubelet that is asked about a container: its log, and what a command in it does.
//!
//! The words for containers that cannot be asked are those of `pkg/kubelet/kubelet_pods.go` (v1.37.1).

use super::super::rules::Fate;
use crate::question::{About, Answer, Question};
use crate::workloads::facts::{pods, read};
use jiff::Timestamp;
use machinery::object::meta;
use tree::Value;

/// The code of a shell for a command that is not there.
const NOT_FOUND: i64 = 127;

/// The answer to a question about a pod whose fate is that.
pub(super) fn answer(question: &Question, pod: &Value, fate: &Fate) -> Answer {
    let container = &*question.container;
    let all = ["/status/containerStatuses", "/status/initContainerStatuses"].map(|list| read::list(pod, list));
    let status = all.into_iter().flatten().find(|status| read::text(status, "/name") == container);
    match &question.about {
        About::Log { previous } => log(container, pod, status, *previous, fate),
        About::Exec { command } => match is_running(status) {
            true => exec(&command.join(" "), container, pod, fate),
            false => Answer::Refused(500, format!("unable to upgrade connection: container not found ({container:?})")),
        },
        About::Ports(ports) => self::ports(ports, pod, fate),
        About::Attach => match is_running(status) {
            true => Answer::Output { stdout: said(container, pod, fate), stderr: String::new(), code: 0 },
            false => {
                Answer::Refused(500, format!("unable to upgrade connection: container {container} not found in pod"))
            }
        },
    }
}

fn is_running(status: Option<&Value>) -> bool {
    status.is_some_and(|status| status.pointer("/state/running").is_some())
}

/// The log of a container.
fn log(container: &str, pod: &Value, status: Option<&Value>, previous: bool, fate: &Fate) -> Answer {
    let name = meta::name(pod);
    let refused = |why: String| Answer::Refused(400, why);
    let Some(status) = status else {
        return refused(format!("container {container:?} in pod {name:?} is not available"));
    };
    let started = |at: &str| read::time(status, at);
    let (state, last) = (started("/state/running/startedAt"), started("/lastState/terminated/startedAt"));
    let since = match previous {
        true => last,
        false => state.or_else(|| started("/state/terminated/startedAt")).or(last),
    };
    match since {
        Some(since) => Answer::Log(lines(&said(container, pod, fate), since)),
        None if previous => refused(format!("previous terminated container {container:?} in pod {name:?} not found")),
        None => {
            let reason = read::text(status, "/state/waiting/reason");
            let why = match reason {
                "ImagePullBackOff" => "trying and failing to pull image".to_owned(),
                reason => reason.to_owned(),
            };
            refused(format!("container {container:?} in pod {name:?} is waiting to start: {why}"))
        }
    }
}

fn lines(text: &str, since: Timestamp) -> Vec<(Timestamp, String)> {
    text.lines().map(|line| (since, line.to_owned())).collect()
}

/// The log of a container: as its rule has it, or that there is none.
fn said(container: &str, pod: &Value, fate: &Fate) -> String {
    if let Some(log) = &fate.log {
        return if log.ends_with('\n') { log.clone() } else { format!("{log}\n") };
    }
    let (namespace, name) = (meta::namespace(pod), meta::name(pod));
    match &*fate.rule {
        "" => format!(
            "the container {container} of the pod {namespace}/{name} runs without a process, and no rule says what it logs\n"
        ),
        rule => format!(
            "the container {container} of the pod {namespace}/{name} runs without a process, by the rule {rule}\n"
        ),
    }
}

/// Where ports lead, as the rule has it.
fn ports(ports: &[u16], pod: &Value, fate: &Fate) -> Answer {
    if pods::phase(pod) != "Running" {
        return Answer::Refused(500, "unable to upgrade connection: pod does not exist".to_owned());
    }
    let (namespace, name) = (meta::namespace(pod), meta::name(pod));
    let leads = |port: &u16| {
        let known = fate.ports.iter().find(|(known, _)| known == port).map(|(_, address)| *address);
        (*port, known.ok_or_else(|| format!("no rule says where the port {port} of the pod {namespace}/{name} leads")))
    };
    Answer::Ports(ports.iter().map(leads).collect())
}

fn exec(command: &str, container: &str, pod: &Value, fate: &Fate) -> Answer {
    if let Some(exec) = fate.execs.iter().find(|exec| exec.command.matches(command)) {
        return Answer::Output { stdout: exec.prints.clone(), stderr: String::new(), code: exec.code };
    }
    let (namespace, name) = (meta::namespace(pod), meta::name(pod));
    let stderr =
        format!("no rule says what {command:?} does in the container {container} of the pod {namespace}/{name}\n");
    Answer::Output { stdout: String::new(), stderr, code: NOT_FOUND }
}
