//! Text becomes a resolved, typed transition system, or diagnostics.
//!
//! [`load`] is the front door. It is total: any text gives a [`Loaded`], never a panic,
//! and a model exists only if there is no error.

pub mod ast;
mod format;
mod import;
mod lexer;
mod lint;
mod literal;
mod lower;
mod parser;
mod resolve;
mod sink;
mod suggest;
mod typeck;

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::{FileId, Sources, Span};
use ioxide_model::sts::Model;

use crate::sink::Sink;

pub use crate::format::format;

/// Files up to this size are read.
const MAX_BYTES: usize = 256 << 20;

/// What a caller may choose.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Constants to replace: name and value as text, as in `--set MAX=3`; the last one counts.
    pub overrides: Vec<(String, String)>,
}

/// What became of a text.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The model; none if there is an error.
    pub model: Option<Model>,
    /// The findings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    /// Whether there is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Whether findings that are not errors are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lints {
    On,
    Off,
}

/// Reads the text `file` as the kind of model its name's extension says.
#[must_use]
pub fn load(sources: &Sources, file: FileId, options: &Options) -> Loaded {
    let source = sources.file(file);
    let mut sink = Sink::default();
    let model = if source.text.len() > MAX_BYTES {
        let message = format!("the file has more than {} MB", MAX_BYTES >> 20);
        sink.push(Diagnostic::new(Code::FileTooLarge, Span::new(file, 0, 0), message));
        None
    } else {
        match extension(&source.name) {
            Some("iox") => load_iox(&source.text, file, options, &mut sink),
            Some("as") => import::action::load(&source.text, file, options, &mut sink),
            Some("dot") => import::dot::load(&source.text, file, options, &mut sink),
            Some("xml") => import::ralib::load(&source.text, file, options, &mut sink),
            other => {
                sink.push(unknown_format(other, file));
                None
            }
        }
    };
    let model = model.filter(|_| !sink.has_errors());
    Loaded { model, diagnostics: sink.finish() }
}

fn load_iox(text: &str, file: FileId, options: &Options, sink: &mut Sink) -> Option<Model> {
    let tree = parser::parse(text, file, sink);
    Some(lower::lower(tree.model.as_ref()?, options, Lints::On, sink))
}

/// What follows the last point of the last part of a path.
fn extension(name: &str) -> Option<&str> {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    base.rsplit_once('.').map(|(_, extension)| extension)
}

fn unknown_format(extension: Option<&str>, file: FileId) -> Diagnostic {
    let message = match extension {
        Some(extension) => format!("`.{extension}` is not a kind of model"),
        None => "the name of the file has no extension, so its kind is not known".into(),
    };
    Diagnostic::new(Code::UnknownFormat, Span::new(file, 0, 0), message)
        .help("models are `.iox` (ioxide), `.as` (action systems), `.dot` (Mealy machines), `.xml` (RALib)")
}
