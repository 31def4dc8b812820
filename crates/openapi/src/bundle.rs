//! A description in several files as one: every file that is referred to becomes a part of the first.

use std::collections::BTreeMap;

use crate::BadDescription;
use crate::name::TakenNames;
use crate::node::{SpecNode, pointer_step};
use crate::yaml;

/// The key of the root with the other files.
const FILES: &str = "x-files";
/// The number of files of a description. Chosen by feel, against files that refer to ever more files.
const MAX_FILES: usize = 2_000;

/// Returns a description with the files that it refers to in it, as JSON; the text itself if it refers to none.
///
/// `path` is the place of the description, and `read` returns the text of the file at a path.
///
/// # Errors
/// If the description is neither JSON nor YAML.
pub fn bundle(
    text: &str,
    path: &str,
    read: &dyn Fn(&str) -> Option<String>,
) -> Result<String, BadDescription> {
    let tree = yaml::read_tree(text).map_err(|bad| BadDescription::Unreadable(bad.to_string()))?;
    let mut bundler = Bundler {
        read,
        keys: BTreeMap::new(),
        taken: TakenNames::default(),
        files: Vec::new(),
        waiting: Vec::new(),
    };
    bundler.keys.insert(plain_path(path), None);
    let SpecNode::Map(mut root) = bundler.rewrite(&tree, path, None) else { return Ok(text.to_owned()) };
    while let Some((path, key)) = bundler.waiting.pop() {
        let tree = (bundler.read)(&path).and_then(|text| yaml::read_tree(&text).ok());
        let Some(tree) = tree else { continue };
        let file = bundler.rewrite(&tree, &path, Some(&key));
        bundler.files.push((key, file));
    }
    if bundler.files.is_empty() {
        return Ok(text.to_owned());
    }
    root.push((FILES.to_owned(), SpecNode::Map(bundler.files)));
    Ok(SpecNode::Map(root).to_json())
}

/// The files found so far.
struct Bundler<'r> {
    read: &'r dyn Fn(&str) -> Option<String>,
    /// The keys of files by path; `None` for the first file.
    keys: BTreeMap<String, Option<String>>,
    taken: TakenNames,
    files: Vec<(String, SpecNode)>,
    /// The files that are not read yet, with their keys.
    waiting: Vec<(String, String)>,
}

impl Bundler<'_> {
    /// Returns a part of the file at `path` with references to the new places.
    fn rewrite(&mut self, node: &SpecNode, path: &str, key: Option<&str>) -> SpecNode {
        match node {
            SpecNode::List(items) => {
                SpecNode::List(items.iter().map(|item| self.rewrite(item, path, key)).collect())
            }
            SpecNode::Map(members) => {
                let mut made = Vec::with_capacity(members.len());
                for (name, value) in members {
                    let value = match (name.as_str(), value) {
                        ("$ref", SpecNode::Text(reference)) => {
                            SpecNode::Text(self.rewrite_reference(reference, path, key))
                        }
                        (_, value) => self.rewrite(value, path, key),
                    };
                    made.push((name.clone(), value));
                }
                SpecNode::Map(made)
            }
            plain => plain.clone(),
        }
    }

    fn rewrite_reference(&mut self, reference: &str, path: &str, key: Option<&str>) -> String {
        let (file, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let target = if file.is_empty() {
            key.map(str::to_owned)
        } else if file.contains("://") {
            return reference.to_owned();
        } else {
            self.key_of(&resolve_reference(path, file))
        };
        match target {
            Some(target) => format!("#/{FILES}{}{pointer}", pointer_step(&target)),
            None => format!("#{pointer}"),
        }
    }

    /// Returns the key of a file; `None` for the first file.
    fn key_of(&mut self, path: &str) -> Option<String> {
        if let Some(known) = self.keys.get(path) {
            return known.clone();
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.split('.').next().unwrap_or(name);
        let key = self.taken.fresh_name(stem);
        self.keys.insert(path.to_owned(), Some(key.clone()));
        if self.keys.len() <= MAX_FILES {
            self.waiting.push((path.to_owned(), key.clone()));
        }
        Some(key)
    }
}

/// Returns the path of a file that another one refers to.
fn resolve_reference(path: &str, file: &str) -> String {
    if file.starts_with('/') {
        return plain_path(file);
    }
    let folder = path.rfind('/').map_or("", |at| &path[..=at]);
    plain_path(&format!("{folder}{file}"))
}

/// Returns a path without `.`, and without `..` where a step precedes it.
fn plain_path(path: &str) -> String {
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "." => (),
            ".." if steps.last().is_some_and(|last| !matches!(*last, ".." | "")) => drop(steps.pop()),
            step => steps.push(step),
        }
    }
    steps.join("/")
}
