//! The front end: a text becomes a resolved, typed transition system, or diagnostics.
//!
//! [`load`] is the front door. It is total: any text gives a [`LoadedText`], never a panic,
//! and a model exists only if there is no error. [`format()`] gives a text its canonical
//! layout, [`parse`] stops at the syntax tree.
//!
//! # The language in short
//!
//! ```text
//! model Name {
//!     input name(field: type)           observed input name(...)           output name(...)
//!     var name: type = value            // no value: unknown at start
//!     clock name                        // real seconds
//!     const NAME = value                // or NAME: type = value; overridable
//!     type Port = 0..65535              // both ends included, here and in exists and forall
//!     enum Colour { red, green }        // values are plain names: colour == red
//!     record Point { x: int, y: int }   // values are Point(x: 1, y: 2), fields p.x
//!     fn max(a: int, b: int) -> int = if a > b then a else b
//!     state name { label: on message(pins) when guard { x = 1, reset w } -> target }
//!     any { ... }
//!     purpose name: label, label        purpose name: reach state when condition
//!     purpose name { var n: int = 0 state a { on message(pins) when n < 3 { n = n + 1 } quiet -> hit } }
//!     label: always condition           label: sometimes condition
//!     test "name" { send message(pins) expect message(pins) quiet 1s }
//! }
//! ```
//!
//! - Types: `bool`, `int` (no bounds), `real` (exact), `string`, ranges, enums (whose cases may have
//!   fields: `error(code: int)`), records, `T?` for options with `none` and `some(e)`, `list<T>`,
//!   `set<T>` and `map<K, V>`.
//! - Collections: `[a, b]`, `{a, b}`, `{k: v}`, `xs[i]`, `m[k]`, `[e for x in xs if p]`,
//!   `exists x in xs: p`, `forall`, `count`; `m[k] = v` among the updates; `when let some(x) = e`.
//! - Updates are separated by commas because they happen at once. Steps of a test stand on
//!   lines of their own or are separated by semicolons.
//! - Only `if then else match exists forall in true false none some when` are reserved.
//! - Strings: `+`, `s.length()`, `s.contains(t)`, `s.starts_with(t)`, `s.ends_with(t)`,
//!   `s.matches("regex")` (the whole string).
//! - Functions read their parameters, constants and other functions, not variables; one may call
//!   itself on a part that a pattern of `match` took out of a parameter.
//! - Declarations may stand in any order; only the first `state` is special.

pub mod ast;
pub mod builtin;
mod format;
#[doc(hidden)]
pub mod import;
pub mod lexeme;
#[doc(hidden)]
pub mod lexer;
mod lint;
#[doc(hidden)]
pub mod literal;
mod lower;
mod parser;
mod resolve;
#[doc(hidden)]
pub mod sink;
mod suggest;
mod system;
mod typeck;
pub mod words;

use ioxide_fsm::mealy::MachineListing;
use ioxide_fsm::read::MachineFormat;
use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::{FileId, Sources, Span};
use ioxide_model::sts::Model;
use ioxide_model::value::Value;

use crate::sink::FindingSink;

pub use crate::format::format;
pub use crate::sink::Reported;
pub use crate::system::files::gather;
pub use crate::system::{NotAChannel, channel, through};

/// The greatest size of a file that is read, in bytes. Chosen by feel: far beyond any model, and small enough that a
/// wrong file does not fill the memory.
const MAX_BYTES: usize = 256 << 20;

/// The options of a caller.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Constants to replace: name and value as text, as in `--set MAX=3`; the last one of a name counts.
    pub overrides: Vec<(String, String)>,
    /// Constants that the system gives to a part, where their values need the types of the part's model.
    pub part_constants: Vec<PartConstant>,
    /// True if findings that are not errors are left out: for those who want the model only.
    pub without_lints: bool,
    /// Places that may have errors, in the order of the text and apart: there is a model in spite of them.
    pub tentative: Vec<Span>,
}

impl LoadOptions {
    /// Returns which findings are looked for.
    pub(crate) fn lint_level(&self) -> LintLevel {
        if self.without_lints { LintLevel::Off } else { LintLevel::On }
    }

    /// Makes options that replace constants.
    #[must_use]
    pub fn with_overrides(overrides: Vec<(String, String)>) -> Self {
        Self { overrides, ..Self::default() }
    }
}

/// A constant of a part: `Node(ROLE: if i == 1 then leader else follower)`.
#[derive(Clone, Debug)]
pub struct PartConstant {
    /// Its name.
    pub name: String,
    /// Its value, in terms of the model of the part and of `names`.
    pub value: ast::Expr,
    /// The constants of the system, and the index of the instance.
    pub names: Vec<(String, Value)>,
}

/// The result of loading a text.
#[derive(Clone, Debug)]
pub struct LoadedText {
    /// The model; `None` if there is an error.
    pub model: Option<Model>,
    /// The findings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The places that may have errors and do. Transitions and functions there, and what uses these functions, are not
    /// to be evaluated: they may be missing or have no meaning.
    pub wrong_places: Vec<Span>,
}

impl LoadedText {
    /// Returns whether there is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// The choice whether to look for findings that are not errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LintLevel {
    On,
    Off,
}

/// Reads the text `file` as the kind of model that the extension of its name stands for.
#[must_use]
pub fn load(sources: &Sources, file: FileId, options: &LoadOptions) -> LoadedText {
    let mut sink = FindingSink::with_tentative_places(options.tentative.clone());
    let model = load_into(sources, file, options, &mut sink);
    debug_assert!(
        model.is_ok() || sink.has_errors() || !options.tentative.is_empty(),
        "the token is a proof of an error"
    );
    let wrong_places = sink.take_wrong_places();
    LoadedText { model: model.ok(), diagnostics: sink.finish(), wrong_places }
}

/// [`load`], with the findings in `sink`.
pub(crate) fn load_into(
    sources: &Sources,
    file: FileId,
    options: &LoadOptions,
    sink: &mut FindingSink,
) -> Result<Model, Reported> {
    let source = sources.file(file);
    if source.text.len() > MAX_BYTES {
        let message = format!("the file has more than {} MB", MAX_BYTES >> 20);
        return Err(sink.report(Diagnostic::new(Code::FileTooLarge, Span::new(file, 0, 0), message)));
    }
    let written = options_as_text(options, &source.name);
    let options = written.as_ref().unwrap_or(options);
    let model = match extension(&source.name) {
        Some("iox") => load_iox(sources, file, options, sink),
        Some("as") => import::action::load_action_system(&source.text, file, options, sink),
        Some("xml") => import::ralib::load_ralib(&source.text, file, options, sink),
        Some("xlia") => import::xlia::load_xlia(&source.text, file, options, sink),
        Some("txs") => import::txs::load_torxakis(sources, file, options, sink),
        other => match other.and_then(MachineFormat::from_extension) {
            Some(form) => import::machine::load_machine(source, file, form, options, sink),
            None => Err(sink.report(unknown_format(other, file))),
        },
    };
    // What was made in spite of errors is no model.
    sink.check()?;
    model
}

/// Returns the options for a format that has no expressions of the language: constants of parts become texts. `None` if
/// there is nothing to do.
fn options_as_text(options: &LoadOptions, name: &str) -> Option<LoadOptions> {
    if options.part_constants.is_empty() || matches!(extension(name), Some("iox" | "as")) {
        return None;
    }
    let given = options.part_constants.iter();
    let texts = given.map(|constant| (constant.name.clone(), format::expr::expr_text(&constant.value)));
    Some(LoadOptions::with_overrides(options.overrides.iter().cloned().chain(texts).collect()))
}

/// Returns whether files called `name` are in the language of ioxide, which has a formatter and can be edited.
#[must_use]
pub fn is_iox(name: &str) -> bool {
    extension(name) == Some("iox")
}

/// Returns whether files called `name` are in the language of TorXakis.
#[must_use]
pub fn is_torxakis(name: &str) -> bool {
    extension(name) == Some("txs")
}

/// Returns whether files called `name` are models, of a kind that [`load`] reads.
#[must_use]
pub fn is_model(name: &str) -> bool {
    matches!(extension(name), Some("iox" | "as" | "xml" | "xlia" | "txs")) || machine_form(name).is_some()
}

/// Returns the paths of the files that `path` names: several TorXakis files with `+` between them are one model.
#[must_use]
pub fn joined_paths(path: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for (end, _) in path.match_indices('+').chain([(path.len(), "")]) {
        // A name may hold a `+` of its own, so a path ends only behind its extension.
        if extension(&path[start..end]) == Some("txs") {
            found.push(&path[start..end]);
            start = end + 1;
        }
    }
    if found.len() > 1 && start > path.len() { found } else { vec![path] }
}

/// Returns whether the text of a file called `name` only declares things for the models of other files.
#[must_use]
pub fn only_declares(name: &str, text: &str) -> bool {
    extension(name) == Some("txs") && !import::txs::has_model(text)
}

/// Returns the format of the finite state machine in files called `name`; `None` for other files.
#[must_use]
pub fn machine_form(name: &str) -> Option<MachineFormat> {
    extension(name).and_then(MachineFormat::from_extension)
}

/// Reads the finite state machine in the text `file`, as [`load`] reads it.
///
/// # Errors
/// The findings, at least one, if it is no such machine.
pub fn load_machine(
    sources: &Sources,
    file: FileId,
    form: MachineFormat,
) -> Result<MachineListing, Vec<Diagnostic>> {
    Ok(import::machine::read_machine(&sources.file(file).text, file, form)?.listing)
}

/// Returns the syntax tree of the `.iox` text `file`, with its syntax errors.
#[must_use]
pub fn parse(sources: &Sources, file: FileId) -> (ast::SyntaxFile, Vec<Diagnostic>) {
    let mut sink = FindingSink::default();
    let tree = parser::parse_text(&sources.file(file).text, file, &mut sink);
    (tree, sink.finish())
}

fn load_iox(
    sources: &Sources,
    file: FileId,
    options: &LoadOptions,
    sink: &mut FindingSink,
) -> Result<Model, Reported> {
    let tree = parser::parse_text(&sources.file(file).text, file, sink);
    let shared = system::shared::shared_items(sources, file, &tree, sink);
    if let Some(system) = &tree.system {
        return system::load_system(sources, file, (system, &shared), options, sink);
    }
    match &tree.model {
        Some(model) => Ok(lower::lower_shared(model, &shared, options, sink)),
        None => Err(sink.reported_before(|| {
            Diagnostic::new(Code::MissingModel, Span::new(file, 0, 0), "there is no model in this text")
                .help("declarations alone are for others: `use NAME from \"FILE\"`")
        })),
    }
}

/// Returns the text behind the last point in the last component of a path; `None` without a point.
fn extension(name: &str) -> Option<&str> {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    base.rsplit_once('.').map(|(_, extension)| extension)
}

/// Returns the last component of a path without its extension.
fn stem(name: &str) -> &str {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    base.rsplit_once('.').map_or(base, |(stem, _)| stem)
}

fn unknown_format(extension: Option<&str>, file: FileId) -> Diagnostic {
    let message = match extension {
        Some(extension) => format!("`.{extension}` is not a kind of model"),
        None => "the name of the file has no extension, so its kind is not known".into(),
    };
    Diagnostic::new(Code::UnknownFormat, Span::new(file, 0, 0), message)
        .help(
            "models are `.iox` (ioxide), `.as` (action systems), `.xml` (RALib), `.xlia`, `.txs` (TorXakis)",
        )
        .help(
            "machines are `.dot` or `.gv` (DOT), `.kiss` or `.kiss2`, `.txt` (table of names), `.fsm` \
             (table of numbers)",
        )
}
