//! The types of the pages, written from the structs that Rust tells them, so that neither can change alone (tests
//! only).
//!
//! The files are committed, since nobody needs Node to build ioxide; `UPDATE_TYPES=1 cargo test typescript` writes them
//! anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ts_rs::{Config, TS, TypeVisitor};

/// A file of declarations, each type once, by name: the derived order is another in every build.
pub(crate) struct TypeDeclarations {
    config: Config,
    head: String,
    declared: BTreeMap<String, String>,
}

impl TypeDeclarations {
    /// A file that begins with `head`.
    pub(crate) fn new(head: &str) -> Self {
        // A page has one kind of number, with 53 bits.
        let config = Config::new().with_large_int("number");
        let warning = "// Written by a test from the structs of Rust (`UPDATE_TYPES=1 cargo test \
                       typescript`): do not edit.";
        Self { config, head: format!("{warning}\n{head}"), declared: BTreeMap::new() }
    }

    /// Leaves out a type that `head` imports.
    pub(crate) fn knowing<T: TS>(mut self) -> Self {
        self.declared.insert(T::ident(&self.config), String::new());
        self
    }

    /// Adds a type and all it is made of.
    pub(crate) fn with<T: TS + 'static + ?Sized>(mut self) -> Self {
        self.visit::<T>();
        self
    }

    /// Compares with the file of that name below `web/src`, or writes it.
    pub(crate) fn keep(&self, name: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src").join(name);
        let text: String =
            std::iter::once(&self.head).chain(self.declared.values()).map(String::as_str).collect();
        if std::env::var_os("UPDATE_TYPES").is_some() {
            fs::write(&path, &text).expect("the folder of the pages is there");
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == text,
            "web/src/{name} is not what Rust tells: UPDATE_TYPES=1 cargo test typescript, then ./x web\n{text}"
        );
    }
}

impl TypeVisitor for TypeDeclarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        T::visit_generics(self);
        // Numbers, texts and lists have no declaration.
        if T::output_path().is_none() || self.declared.contains_key(&T::ident(&self.config)) {
            return;
        }
        let docs = T::docs().unwrap_or_default();
        let text = format!("\n{docs}export {}\n", T::decl(&self.config));
        let text = text.replace("/**\n * ", "/** ").replace("\n */\n", " */\n");
        self.declared.insert(T::ident(&self.config), text.replace(", \n", ",\n").replace("{ \n", "{\n"));
        T::visit_dependencies(self);
    }
}
