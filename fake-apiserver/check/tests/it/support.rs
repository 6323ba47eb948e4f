//! Files with manifests, and the verdicts on them.

use fake_apiserver_check::report::Form;
use fake_apiserver_check::{Options, Report, User, check};
use std::path::PathBuf;
use tempfile::TempDir;

/// A folder with manifests, and the question about them.
pub(crate) struct Question {
    folder: TempDir,
    pub(crate) options: Options,
}

/// A question about one file.
pub(crate) fn about(text: &str) -> Question {
    let question = Question { folder: tempfile::tempdir().unwrap(), options: Options::default() };
    let path = question.file("a.yaml", text);
    Question { options: Options { files: vec![path], ..question.options }, ..question }
}

impl Question {
    /// Writes a file into the folder.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// In a cluster with these objects.
    pub(crate) fn given(mut self, text: &str) -> Question {
        let name = format!("given-{}.yaml", self.options.given.len());
        let path = self.file(&name, text);
        self.options.given.push(path);
        self
    }

    /// By that user.
    pub(crate) fn by(mut self, name: &str) -> Question {
        self.options.user = Some(User { name: name.into(), groups: Vec::new() });
        self
    }

    /// In that namespace.
    pub(crate) fn within(mut self, namespace: &str) -> Question {
        self.options.namespace = namespace.into();
        self
    }

    pub(crate) async fn report(&self) -> Report {
        check(&self.options).await.unwrap()
    }

    /// The lines of the report for people, with names of files instead of paths, and without the last one.
    pub(crate) async fn lines(&self) -> Vec<String> {
        let folder = format!("{}/", self.folder.path().display());
        let text = self.report().await.print(Form::Text).replace(&folder, "");
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.pop();
        lines
    }
}
