//! The types of the pages, written from the structs that Rust tells them, so that neither can change alone (tests only).
//!
//! The files are committed, since nobody needs Node to build ioxide; `UPDATE_TYPES=1 cargo test typescript` writes them anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ts_rs::{Config, TS, TypeVisitor};

/// Declarations so far, each type once and in the order in which they are first used.
pub(crate) struct TypeDeclarations {
    config: Config,
    declared: BTreeSet<String>,
    text: String,
}

impl TypeDeclarations {
    /// A file that begins with `head`.
    pub(crate) fn new(head: &str) -> Self {
        // Numbers beyond 2^53 are told as texts.
        let config = Config::new().with_large_int("number");
        let warning = "// Written by a test from the structs of Rust (`UPDATE_TYPES=1 cargo test typescript`): do not edit.";
        Self { config, declared: BTreeSet::new(), text: format!("{warning}\n{head}") }
    }

    /// Adds a type and all it is made of.
    pub(crate) fn with<T: TS + 'static + ?Sized>(mut self) -> Self {
        self.visit::<T>();
        self
    }

    /// Compares with the file of that name below `web/src`, or writes it.
    pub(crate) fn keep(&self, name: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src").join(name);
        if std::env::var_os("UPDATE_TYPES").is_some() {
            fs::write(&path, &self.text).expect("the folder of the pages is there");
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            committed == self.text,
            "web/src/{name} is not what Rust tells: UPDATE_TYPES=1 cargo test typescript, then ./x web\n{}",
            self.text
        );
    }
}

impl TypeVisitor for TypeDeclarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        let is_declared = T::output_path().is_some() && self.declared.insert(T::ident(&self.config));
        T::visit_generics(self);
        if is_declared {
            let docs = T::docs().unwrap_or_default();
            let declared = format!("\n{docs}export {}\n", T::decl(&self.config));
            self.text.push_str(
                &declared.replace("/**\n * ", "/** ").replace("\n */\n", " */\n").replace(", \n", ",\n"),
            );
            T::visit_dependencies(self);
        }
    }
}
