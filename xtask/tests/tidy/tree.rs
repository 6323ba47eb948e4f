//! A crate as a graph: its modules, and the modules that each names.

use crate::scan::{Import, scan};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

/// The path of a module from the root of its crate; empty for the root itself.
type Place = Vec<String>;

/// The sources of one crate.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    modules: BTreeMap<Place, Module>,
    /// The modules that each module names.
    imports: BTreeMap<Place, BTreeSet<Place>>,
}

/// What a path names: an item of a module, or the module itself.
struct Named {
    module: Place,
    item: Option<String>,
}

#[derive(Debug, Default)]
struct Module {
    /// The module of the file in which it stands.
    file: Place,
    /// The imported names, with the paths that they stand for.
    names: BTreeMap<String, Vec<String>>,
    /// All paths, as they are written.
    paths: Vec<Vec<String>>,
    /// The paths without those of names that are only handed on: imported by `pub use`, and not used here.
    used: Vec<Vec<String>>,
    words: BTreeSet<String>,
    statics: BTreeSet<String>,
    strings: BTreeSet<String>,
}

impl Tree {
    /// Reads the crate whose sources are in the folder `src`; programs beside the library are left out.
    pub(crate) fn read(src: &Path) -> Tree {
        let mut files = Vec::new();
        for path in rust_files(src) {
            let name = path.strip_prefix(src).expect("it is below").to_string_lossy().replace('\\', "/");
            files.push((name, std::fs::read_to_string(&path).expect("a readable file")));
        }
        Tree::of(&files)
    }

    /// The crate of these files: paths below `src`, and texts.
    pub(crate) fn of(files: &[(impl AsRef<str>, impl AsRef<str>)]) -> Tree {
        let mut tree = Tree::default();
        let mut tests: Vec<Place> = Vec::new();
        for (name, text) in files.iter().map(|(name, text)| (name.as_ref(), text.as_ref())) {
            let Some(place) = place(name) else { continue };
            let source = scan(text);
            tests.extend(source.test_children.iter().map(|child| [place.clone(), vec![child.clone()]].concat()));
            for scope in source.scopes {
                let mut module = Module {
                    file: place.clone(),
                    used: scope.paths.clone(),
                    paths: scope.paths,
                    statics: scope.statics.into_iter().collect(),
                    strings: scope.strings.into_iter().collect(),
                    words: scope.words.iter().cloned().collect(),
                    ..Module::default()
                };
                for Import { path, name, public } in scope.imports {
                    if !public || name.as_ref().is_some_and(|name| scope.words.contains(name)) {
                        module.used.push(path.clone());
                    }
                    if let Some(name) = name {
                        module.names.insert(name, path.clone());
                    }
                    module.words.extend(path.iter().cloned());
                    module.paths.push(path);
                }
                tree.modules.insert([place.clone(), scope.inside].concat(), module);
            }
        }
        tree.modules.retain(|place, _| !tests.iter().any(|test| place.starts_with(test)));
        tree.imports = tree.modules.keys().map(|place| (place.clone(), tree.imported(place))).collect();
        tree
    }

    /// The modules of the room `room` (`store`, `store::event`), which must exist.
    fn room<'t>(&'t self, room: &str) -> Vec<&'t Place> {
        let prefix: Place = room.split("::").map(str::to_owned).collect();
        let rooms: Vec<&Place> = self.modules.keys().filter(|place| place.starts_with(&prefix)).collect();
        assert!(!rooms.is_empty(), "there is no room {room}");
        rooms
    }

    /// The chains of imports by which the rooms `from` reach modules that are not `allowed`: the shortest for each such module.
    pub(crate) fn chains(&self, from: &[&str], allowed: impl Fn(&str) -> bool) -> Vec<String> {
        let inside: BTreeSet<&Place> = from.iter().flat_map(|room| self.room(room)).collect();
        let mut queue: VecDeque<Vec<Place>> = inside.iter().map(|place| vec![(*place).clone()]).collect();
        let mut seen: BTreeSet<Place> = inside.iter().map(|place| (*place).clone()).collect();
        let mut chains = Vec::new();
        while let Some(chain) = queue.pop_front() {
            for next in &self.imports[&chain[chain.len() - 1]] {
                if !seen.insert(next.clone()) {
                    continue;
                }
                let longer = [chain.clone(), vec![next.clone()]].concat();
                // The imports of a forbidden module are not reported as well.
                if !inside.contains(next) && !allowed(&next.join("::")) {
                    chains.push(longer.iter().map(|place| title(place)).collect::<Vec<_>>().join(" → "));
                } else {
                    queue.push_back(longer);
                }
            }
        }
        chains
    }

    /// The rooms at the top of the crate that import each other in a circle, each with those that lead back to it. The root is
    /// not a room.
    pub(crate) fn circles(&self) -> Vec<String> {
        let mut rooms = BTreeMap::<&str, BTreeSet<&str>>::new();
        for (place, imports) in &self.imports {
            let Some(room) = place.first() else { continue };
            let others = imports.iter().filter_map(|import| import.first()).filter(|other| *other != room);
            rooms.entry(room).or_default().extend(others.map(String::as_str));
        }
        let circle = |(room, imports): (&&str, &BTreeSet<&str>)| {
            let back: Vec<&str> = back(&rooms, room, imports).collect();
            (!back.is_empty()).then(|| format!("{room} ⇄ {}", back.join(", ")))
        };
        rooms.iter().filter_map(circle).collect()
    }

    /// The imports that tie files together in circles, each with the names that it takes.
    pub(crate) fn circles_of_files(&self) -> Vec<String> {
        let mut names = BTreeMap::<(String, String), BTreeSet<String>>::new();
        for (place, module) in &self.modules {
            for named in module.used.iter().filter_map(|path| self.resolve(place, path, 0)) {
                let Some(item) = named.item else { continue };
                let other = &self.modules[&named.module].file;
                if *other != module.file {
                    names.entry((title(&module.file), title(other))).or_default().insert(item);
                }
            }
        }
        let mut files = BTreeMap::<&str, BTreeSet<&str>>::new();
        for (file, other) in names.keys() {
            files.entry(file).or_default().insert(other);
        }
        let ties = files.iter().flat_map(|(file, imports)| back(&files, file, imports).map(|other| (*file, other)));
        ties.map(|(file, other)| {
            let names = &names[&(file.to_owned(), other.to_owned())];
            format!("{file} → {other}: {}", names.iter().map(String::as_str).collect::<Vec<_>>().join(", "))
        })
        .collect()
    }

    /// The modules of the rooms that use one of the identifiers `words`, each with that word.
    pub(crate) fn using(&self, words: &[&str], rooms: impl Fn(&str) -> bool) -> Vec<String> {
        self.found(rooms, |module| words.iter().find(|word| module.words.contains(**word)).map(ToString::to_string))
    }

    /// The modules of the rooms with a string literal that contains `text`, each with that literal.
    pub(crate) fn saying(&self, text: &str, rooms: impl Fn(&str) -> bool) -> Vec<String> {
        self.found(rooms, |module| module.strings.iter().find(|string| string.contains(text)).cloned())
    }

    /// The modules of the rooms with an identifier, two segments of a path or a string literal that is a name.
    pub(crate) fn naming(&self, is_name: impl Fn(&str) -> bool, rooms: impl Fn(&str) -> bool) -> Vec<String> {
        self.found(rooms, |module| {
            module
                .words
                .iter()
                .filter(|word| word.contains("::"))
                .chain(&module.strings)
                .find(|text| is_name(text))
                .cloned()
        })
    }

    /// The modules with a static whose type has an identifier that begins with one of `prefixes`, except in `homes`.
    pub(crate) fn with_statics(&self, prefixes: &[&str], homes: &[&str]) -> Vec<String> {
        let mutable = |word: &&String| prefixes.iter().any(|prefix| word.starts_with(prefix));
        self.found(|room| !homes.contains(&room), |module| module.statics.iter().find(mutable).cloned())
    }

    fn found(&self, rooms: impl Fn(&str) -> bool, what: impl Fn(&Module) -> Option<String>) -> Vec<String> {
        let inside = self.modules.iter().filter(|(place, _)| rooms(&place.join("::")));
        inside.filter_map(|(place, module)| Some(format!("{}: {}", title(place), what(module)?))).collect()
    }

    /// The modules that the one at `place` names.
    fn imported(&self, place: &Place) -> BTreeSet<Place> {
        let paths = self.modules[place].paths.iter();
        let named = paths.filter_map(|path| self.resolve(place, path, 0)).map(|named| named.module);
        named.filter(|found| found != place).collect()
    }

    /// What `path` names at `place`; `None` for another crate.
    fn resolve(&self, place: &[String], path: &[String], depth: usize) -> Option<Named> {
        let (first, mut rest) = path.split_first()?;
        let mut at = place.to_vec();
        match first.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => {
                at.pop()?;
                while let Some((next, further)) = rest.split_first().filter(|(next, _)| *next == "super") {
                    debug_assert_eq!(next, "super");
                    at.pop()?;
                    rest = further;
                }
            }
            _ if self.names_something(&at, first) => rest = path,
            _ => return None,
        }
        while let Some((next, further)) = rest.split_first() {
            let child = [at.clone(), vec![next.clone()]].concat();
            if self.modules.contains_key(&child) {
                at = child;
                rest = further;
                continue;
            }
            let Some(target) = self.modules.get(&at).and_then(|module| module.names.get(next)) else { break };
            // An imported name; one that leads to itself is of another crate: `use http::http`.
            let target = [target.as_slice(), further].concat();
            return if depth < 16 { self.resolve(&at, &target, depth + 1) } else { None };
        }
        Some(Named { module: at, item: rest.first().cloned() })
    }

    fn names_something(&self, place: &Place, name: &str) -> bool {
        let child = [place.clone(), vec![name.to_owned()]].concat();
        self.modules.contains_key(&child)
            || self.modules.get(place).is_some_and(|module| module.names.contains_key(name))
    }
}

/// Those of the `imports` of `node` that lead back to it.
fn back<'a>(
    edges: &BTreeMap<&'a str, BTreeSet<&'a str>>,
    node: &str,
    imports: &BTreeSet<&'a str>,
) -> impl Iterator<Item = &'a str> {
    imports.iter().copied().filter(move |other| reached(edges, other).contains(node))
}

/// The nodes that can be reached from `start`.
fn reached<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>, start: &'a str) -> BTreeSet<&'a str> {
    let (mut seen, mut queue) = (BTreeSet::new(), vec![start]);
    while let Some(next) = queue.pop() {
        queue.extend(edges.get(next).into_iter().flatten().filter(|other| seen.insert(**other)));
    }
    seen
}

/// Whether the module `place` is in the room called `room`.
pub(crate) fn is_in(place: &str, room: &str) -> bool {
    place.strip_prefix(room).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// All Rust files in `folder` and below.
pub(crate) fn rust_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.expect("a readable folder").path()) {
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The module of the file; `None` for a program.
fn place(file: &str) -> Option<Place> {
    let mut place: Place = file.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    match place.last()?.as_str() {
        "main" => return None,
        "mod" | "lib" => drop(place.pop()),
        _ => {}
    }
    Some(place)
}

fn title(place: &[String]) -> String {
    if place.is_empty() { "the crate's root".to_owned() } else { place.join("::") }
}
