//! The record of the real server's resources (`kinds.txt`, whose head describes its lines).

use super::parts::{CellSource, PrinterColumn, Str, Subresource};
use super::rules::{Cell, Strategy, find};
use super::subresources::{Meaning, meaning};
use crate::object::selector::SelectableField;
use memchr::memmem;

/// The resources that the real server serves, in all their versions.
pub(super) struct Record {
    versions: Vec<Recorded>,
    /// Descriptions that many columns have, by name.
    texts: Vec<(&'static str, Str)>,
}

/// A version of a resource.
#[derive(Debug)]
pub(super) struct Recorded {
    /// API group, empty for core.
    pub(super) group: &'static str,
    /// API version, such as `v1`.
    pub(super) version: &'static str,
    /// Lower-case plural.
    pub(super) plural: &'static str,
    /// Lower-case singular.
    pub(super) singular: &'static str,
    /// CamelCase kind.
    pub(super) kind: &'static str,
    /// Whether objects live in namespaces.
    pub(super) namespaced: bool,
    /// The lines of the resource.
    lines: &'static str,
    /// The lines of the columns, which are the last ones.
    columns: &'static str,
}

impl Record {
    /// Reads the record of the versions that every server has.
    ///
    /// # Panics
    /// If it is malformed.
    pub(super) fn read() -> Record {
        Record::of(include_str!("kinds.txt"))
    }

    /// Reads that of the versions that a server has only if it is asked for them. Their columns are those of the storage version.
    ///
    /// # Panics
    /// If it is malformed.
    pub(super) fn optional() -> Record {
        Record::of(include_str!("kinds_optional.txt"))
    }

    fn of(record: &'static str) -> Record {
        let mut start = 0;
        let ends = memmem::find_iter(record.as_bytes(), "\n\n").chain([record.len()]);
        let blocks = ends.map(|end| &record[std::mem::replace(&mut start, end + 2)..end]);
        let mut blocks = blocks.skip(1).peekable();
        let mut texts = blocks.next_if(|block| block.starts_with("text ")).unwrap_or_default().lines();
        let text = || Some((texts.next()?.strip_prefix("text ")?, unescaped(texts.next()?.trim_start())));
        Record { texts: std::iter::from_fn(text).collect(), versions: blocks.map(Recorded::read).collect() }
    }

    /// The storage version of a resource, which is named as Go does: `pods`, `deployments.apps`.
    pub(super) fn storage(&self, name: &str) -> Option<&Recorded> {
        let (plural, group) = name.split_once('.').unwrap_or((name, ""));
        self.versions.iter().find(|one| one.plural == plural && one.group == group && one.stored_as().is_none())
    }

    /// A version of the resource `name`, whatever version is stored.
    pub(super) fn version(&self, name: &str, version: &str) -> Option<&Recorded> {
        let (plural, group) = name.split_once('.').unwrap_or((name, ""));
        self.versions.iter().find(|one| one.plural == plural && one.group == group && one.version == version)
    }

    /// Another version of the resource whose storage version is `storage`.
    pub(super) fn other(&self, storage: &Recorded, group: &str, version: &str) -> Option<&Recorded> {
        let stored_as = Some((storage.group, storage.version));
        self.versions.iter().find(|one| {
            one.kind == storage.kind && one.group == group && one.version == version && one.stored_as() == stored_as
        })
    }
}

impl Recorded {
    fn read(text: &'static str) -> Recorded {
        let (head, rest) = text.split_once('\n').unwrap_or((text, ""));
        let (lines, columns) = rest.split_at(memmem::find(rest.as_bytes(), b"  column ").unwrap_or(rest.len()));
        let [version, plural, singular, kind, scope] = words(head);
        let (group, version) = group_version(version);
        Recorded { group, version, plural, singular, kind, namespaced: scope == "namespaced", lines, columns }
    }

    /// The rest of the lines that begin with `word`.
    fn lines(&self, word: &str) -> impl Iterator<Item = &'static str> {
        self.lines.lines().filter_map(move |line| line.strip_prefix("  ")?.strip_prefix(word)?.strip_prefix(' '))
    }

    /// The words of a line.
    fn words(&self, word: &str) -> impl Iterator<Item = &'static str> {
        self.lines(word).flat_map(|line| line.split(' '))
    }

    /// Group and version of the storage version, if that is another one.
    fn stored_as(&self) -> Option<(&'static str, &'static str)> {
        self.lines("stored").next().map(group_version)
    }

    /// The hash of the stored kind that discovery shows, where that kind is not served.
    pub(super) fn storage_hash(&self) -> Option<&'static str> {
        self.lines("hash").next()
    }

    /// Directory of the objects in etcd.
    pub(super) fn directory(&self) -> &'static str {
        self.lines("directory").next().unwrap_or(self.plural)
    }

    /// `apiVersion`s of the kind that the server decodes and does not serve.
    pub(super) fn known_versions(&self) -> impl Iterator<Item = &'static str> {
        self.words("known").map(|version| version.trim_start_matches("/"))
    }

    /// Whether an update without a resourceVersion overwrites.
    pub(super) fn unconditional_update(&self) -> bool {
        self.lines("update").next().is_some()
    }

    /// Verbs of the resource itself, sorted.
    pub(super) fn verbs(&self) -> impl Iterator<Item = &'static str> {
        self.words("verbs")
    }

    /// `kubectl`'s abbreviations.
    pub(super) fn short_names(&self) -> impl Iterator<Item = &'static str> {
        self.words("short")
    }

    /// Groups of resources such as `all`.
    pub(super) fn categories(&self) -> impl Iterator<Item = &'static str> {
        self.words("categories")
    }

    /// Labels of field selectors.
    pub(super) fn fields(&self) -> impl Iterator<Item = SelectableField> {
        self.lines("field").map(|line| {
            let [label, stored_as] = words(line);
            SelectableField { label: label.into(), stored_as: stored_as.into() }
        })
    }

    /// The subresources, sorted, as far as `strategy` has rules for them.
    pub(super) fn subresources(
        &self,
        strategy: impl Fn(&str) -> Option<Strategy>,
    ) -> impl Iterator<Item = Subresource> {
        self.lines("sub").filter_map(move |line| {
            let [name, version, kind, verbs] = words(line);
            let (group, version) = if version == "-" { ("", "") } else { group_version(version) };
            let strategy = strategy(name)?;
            let Meaning { handler, owns, .. } = meaning(name)?;
            Some(Subresource {
                name: name.into(),
                group: group.into(),
                version: version.into(),
                kind: kind.into(),
                verbs: verbs.split(' ').map(Str::Borrowed).collect(),
                handler: *handler,
                owns,
                strategy,
            })
        })
    }

    /// Columns of `kubectl get`, with their cells; of a version of this record.
    pub(super) fn columns(&self, record: &Record, cell: impl Fn(&str) -> Cell) -> impl Iterator<Item = PrinterColumn> {
        let mut lines = self.columns.lines().peekable();
        std::iter::from_fn(move || {
            let [priority, type_, format, name] = words(lines.next()?.strip_prefix("  column ")?);
            let description = lines.next_if(|line| line.starts_with("    ")).unwrap_or_default().trim_start();
            Some(PrinterColumn {
                name: name.into(),
                type_: type_.into(),
                format: if format == "-" { "" } else { format }.into(),
                description: match description.strip_prefix("= ") {
                    Some(shared) => find(&record.texts, shared).expect("a description that columns share"),
                    None => unescaped(description),
                },
                priority: priority.parse().expect("a priority is a small number"),
                cell: CellSource::Rule(cell(name)),
            })
        })
    }
}

/// A description with its line feeds: no other character is escaped.
fn unescaped(description: &'static str) -> Str {
    match description.contains('\\') {
        true => description.replace("\\n", "\n").into(),
        false => description.into(),
    }
}

/// The first `N` words of a line; the last one includes the rest.
fn words<const N: usize>(line: &'static str) -> [&'static str; N] {
    let mut words = line.splitn(N, ' ');
    std::array::from_fn(|_| words.next().unwrap_or_else(|| panic!("too few words: {line:?}")))
}

/// Group and version in a text such as `apps/v1` or `/v1`.
fn group_version(text: &'static str) -> (&'static str, &'static str) {
    text.split_once('/').expect("a version has a group, if an empty one")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tree::Value;

    #[test]
    fn the_records_are_of_the_emulated_version() {
        for record in [include_str!("kinds.txt"), include_str!("kinds_optional.txt")] {
            let head = record.lines().next().unwrap();
            assert!(head.contains(&format!("kube-apiserver {} ", crate::git_version())), "{head}");
        }
    }

    /// Every line has a known meaning.
    #[test]
    fn the_records_are_well_formed() {
        let (record, optional) = (Record::read(), Record::optional());
        assert!(record.versions.len() > 60);
        assert!(optional.versions.len() > 8);
        for (record, one) in
            [&record, &optional].into_iter().flat_map(|record| record.versions.iter().map(move |one| (record, one)))
        {
            let known =
                ["stored", "hash", "directory", "verbs", "update", "known", "short", "categories", "field", "sub"];
            for line in one.lines.lines() {
                assert!(known.iter().any(|word| line.starts_with(&format!("  {word} "))), "{line}");
            }
            let columns = one.columns.lines().filter(|line| line.starts_with("  column ")).count();
            assert_eq!(one.columns(record, |_| |_, _| Value::Null).count(), columns, "{one:?}");
            let subresources: Vec<_> = one.subresources(|_| Some(Strategy::NONE)).collect();
            assert!(subresources.is_sorted_by_key(|sub| sub.name.clone()), "{one:?}");
            assert!(one.fields().all(|field| !field.label.is_empty() && !field.stored_as.is_empty()), "{one:?}");
            assert!(one.verbs().next().is_some(), "{one:?}");
        }
    }
}
