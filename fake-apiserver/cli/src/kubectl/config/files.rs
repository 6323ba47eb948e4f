//! The files of a kubeconfig: that of a flag, those of the variable `KUBECONFIG`, or the one in the home folder. An entry is changed in the file that
//! has it; a new one goes into the first file that there is, or into the last one.

use anyhow::{Context as _, bail};
use fake_apiserver::internals::yaml;
use serde_json::{Value, json};
use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// The variable with the paths.
const VARIABLE: &str = "KUBECONFIG";

/// A list of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Clusters,
    Contexts,
    Users,
}

impl List {
    /// The list of that name.
    pub(super) fn named(name: &str) -> Option<List> {
        [List::Clusters, List::Contexts, List::Users].into_iter().find(|list| list.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            List::Clusters => "clusters",
            List::Contexts => "contexts",
            List::Users => "users",
        }
    }

    /// The field of an item with the entry, and a new entry.
    fn entry(self) -> (&'static str, Value) {
        match self {
            List::Clusters => ("cluster", json!({"server": ""})),
            List::Contexts => ("context", json!({"cluster": "", "user": ""})),
            List::Users => ("user", json!({})),
        }
    }
}

/// The files, in the order in which they count.
#[derive(Debug)]
pub(super) struct Files(Vec<Kubeconfig>);

/// A file.
#[derive(Debug)]
struct Kubeconfig {
    path: PathBuf,
    /// The content; `None` if there is no such file.
    content: Option<Value>,
}

impl Files {
    /// Reads the files, of which the one of a flag is the only one.
    ///
    /// # Errors
    /// If one cannot be read.
    pub(super) fn read(named: Option<PathBuf>) -> anyhow::Result<Files> {
        let paths = match (named, env::var_os(VARIABLE)) {
            (Some(path), _) => vec![path],
            (None, Some(paths)) if !paths.is_empty() => {
                env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty()).collect()
            }
            (None, _) => vec![env::home_dir().context("there is no home folder")?.join(".kube/config")],
        };
        paths.into_iter().map(Kubeconfig::read).collect::<Result<_, _>>().map(Files)
    }

    /// The name of the current context, or "".
    pub(super) fn current_context(&self) -> &str {
        let all = self.0.iter().filter_map(|file| file.content.as_ref());
        all.map(|content| text(content, "current-context")).find(|name| !name.is_empty()).unwrap_or_default()
    }

    /// The file with the entry of that name, and its place there.
    pub(super) fn find(&self, list: List, name: &str) -> Option<(usize, usize)> {
        self.0.iter().enumerate().find_map(|(file, kubeconfig)| {
            let items = kubeconfig.content.as_ref()?[list.name()].as_array()?;
            Some((file, items.iter().position(|item| text(item, "name") == name)?))
        })
    }

    /// The place of the file for what is new.
    fn default_file(&self) -> usize {
        self.0.iter().position(|file| file.content.is_some()).unwrap_or(self.0.len().saturating_sub(1))
    }

    /// Changes the entry of that name, which is made if there is none; the change is told the folder of the file.
    ///
    /// # Errors
    /// That of the change, or if the file cannot be written.
    pub(super) fn set(
        &mut self,
        list: List,
        name: &str,
        change: impl FnOnce(&mut Value, &Path) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let (field, new) = list.entry();
        let (file, place) = match self.find(list, name) {
            Some((file, place)) => (file, Some(place)),
            None => (self.default_file(), None),
        };
        let Some(file) = self.0.get_mut(file) else { bail!("{VARIABLE} names no file") };
        let (folder, before) = (file.folder()?, file.content.clone());
        let items = file.items(list);
        let place = place.unwrap_or_else(|| {
            items.push(json!({"name": name, field: new}));
            items.len() - 1
        });
        change(&mut items[place][field], &folder)?;
        if file.content == before { Ok(()) } else { file.write() }
    }

    /// Takes away the entry of that name, or all.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(super) fn remove(&mut self, list: List, name: Option<&str>) -> anyhow::Result<()> {
        for file in self.0.iter_mut().filter(|file| file.content.is_some()) {
            let items = file.items(list);
            let number = items.len();
            items.retain(|item| name.is_some_and(|name| text(item, "name") != name));
            if items.len() != number {
                file.write()?;
            }
        }
        Ok(())
    }

    /// Makes a context the current one; with "" there is none.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn use_context(&mut self, name: &str) -> anyhow::Result<()> {
        let has_one = |file: &Kubeconfig| {
            file.content.as_ref().is_some_and(|content| !text(content, "current-context").is_empty())
        };
        let place = match name {
            "" => self.0.iter().position(has_one),
            _ => Some(self.default_file()),
        };
        let Some(file) = place.and_then(|place| self.0.get_mut(place)) else { return Ok(()) };
        let content = file.content.get_or_insert_with(|| json!({}));
        if text(content, "current-context") == name {
            return Ok(());
        }
        content["current-context"] = name.into();
        file.write()
    }
}

impl Kubeconfig {
    fn read(path: PathBuf) -> anyhow::Result<Kubeconfig> {
        let failed = |why: String| anyhow::anyhow!("error loading config file {:?}: {why}", path.display().to_string());
        let content = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error.to_string())),
            Ok(content) => {
                let document = yaml::parse(&content, &yaml::Deadline::default()).map_err(failed)?.value;
                let document = Value::from(document);
                match document {
                    Value::Null => Some(json!({})),
                    Value::Object(_) => Some(document),
                    _ => return Err(failed("it is not an object".into())),
                }
            }
        };
        Ok(Kubeconfig { path, content })
    }

    /// The folder of the file.
    fn folder(&self) -> anyhow::Result<PathBuf> {
        let path = std::path::absolute(&self.path)?;
        Ok(path.parent().map(Path::to_owned).unwrap_or_default())
    }

    /// The items of a list, which is there from now on.
    fn items(&mut self, list: List) -> &mut Vec<Value> {
        let content = self.content.get_or_insert_with(|| json!({}));
        if !content[list.name()].is_array() {
            content[list.name()] = json!([]);
        }
        content[list.name()].as_array_mut().expect("it is one")
    }

    /// Writes the file all at once, under its lock.
    fn write(&self) -> anyhow::Result<()> {
        let mut content = self.content.clone().unwrap_or_else(|| json!({}));
        content["apiVersion"] = "v1".into();
        content["kind"] = "Config".into();
        if content["current-context"].is_null() {
            content["current-context"] = "".into();
        }
        for list in [List::Clusters, List::Contexts, List::Users] {
            match content[list.name()].as_array_mut() {
                Some(items) if !items.is_empty() => {
                    items.sort_by(|one, other| text(one, "name").cmp(text(other, "name")))
                }
                _ => content[list.name()] = Value::Null,
            }
        }
        if let Some(fields) = content.as_object_mut() {
            fields.retain(|name, value| name != "preferences" || !value.as_object().is_none_or(|own| own.is_empty()));
        }
        let printed = yaml::print(content.to_string().as_bytes()).map_err(anyhow::Error::msg)?;
        // What a link leads to stays there.
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        let lock = beside(&self.path, "lock");
        let _lock = match Lock::take(&lock) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => bail!("open {}: file exists", lock.display()),
            lock_or_error => lock_or_error.with_context(|| format!("open {}", lock.display()))?,
        };
        let draft = beside(&path, "draft");
        write(&draft, &path, printed.as_bytes()).and_then(|()| fs::rename(&draft, &path)).map_err(|error| {
            // It may not be there.
            fs::remove_file(&draft).ok();
            anyhow::Error::new(error).context(format!("unable to write {}", path.display()))
        })
    }
}

fn beside(path: &Path, what: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(what);
    name.into()
}

/// Writes a file with the permissions of another one, if that is there, and else for its owner only.
fn write(draft: &Path, like: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(draft)?;
    if let Ok(known) = fs::metadata(like) {
        file.set_permissions(known.permissions())?;
    }
    file.write_all(content)?;
    file.sync_all()
}

/// The file that says that someone writes; it goes with this.
struct Lock<'p>(&'p Path);

impl Lock<'_> {
    fn take(path: &Path) -> io::Result<Lock<'_>> {
        File::create_new(path).map(|_| Lock(path))
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // Someone else may have removed it.
        fs::remove_file(self.0).ok();
    }
}

/// The text in a field; "" without one.
fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}
