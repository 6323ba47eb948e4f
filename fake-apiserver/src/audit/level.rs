//! The levels and the stages of audit events.
//!
//! Follows `pkg/apis/audit/types.go` of `k8s.io/apiserver` (v0.37.1).

/// The amount of information in the events of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// There are no events.
    None,
    /// Who, what, when and with which result.
    Metadata,
    /// The object of the request, too.
    Request,
    /// And that of the response.
    RequestResponse,
}

impl Level {
    /// All levels, in the order in which messages name them.
    pub(crate) const ALL: [Level; 4] = [Level::None, Level::Metadata, Level::Request, Level::RequestResponse];

    /// The name in policies and events.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Level::None => "None",
            Level::Metadata => "Metadata",
            Level::Request => "Request",
            Level::RequestResponse => "RequestResponse",
        }
    }
}

/// The stage of a request that an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The request has come.
    RequestReceived,
    /// The response of a long request begins.
    ResponseStarted,
    /// The response is complete.
    ResponseComplete,
    /// The server has failed.
    Panic,
}

impl Stage {
    /// All stages, in the order in which messages name them.
    pub(crate) const ALL: [Stage; 4] =
        [Stage::RequestReceived, Stage::ResponseStarted, Stage::ResponseComplete, Stage::Panic];

    /// The name in policies and events.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Stage::RequestReceived => "RequestReceived",
            Stage::ResponseStarted => "ResponseStarted",
            Stage::ResponseComplete => "ResponseComplete",
            Stage::Panic => "Panic",
        }
    }
}

/// A set of stages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Stages(u8);

impl Stages {
    /// No stages.
    pub(crate) const NONE: Stages = Stages(0);

    /// Whether a stage is in the set.
    pub(crate) fn has(self, stage: Stage) -> bool {
        self.0 & bit(stage) != 0
    }

    /// The stages of either set.
    pub(crate) fn or(self, other: Stages) -> Stages {
        Stages(self.0 | other.0)
    }
}

fn bit(stage: Stage) -> u8 {
    1 << stage as u8
}

impl FromIterator<Stage> for Stages {
    fn from_iter<S: IntoIterator<Item = Stage>>(stages: S) -> Stages {
        Stages(stages.into_iter().map(bit).fold(0, |all, one| all | one))
    }
}
