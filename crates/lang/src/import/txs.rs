//! TorXakis models, files `*.txs`: algebraic types, functions, and processes that communicate over channels.
//!
//! ```text
//! CHANDEF Chans ::= In, Out :: Int ENDDEF
//! PROCDEF echo [ In, Out :: Int ] ( last :: Int ) ::=
//!        In ? x [[ x > last ]] >-> Out ! x + 1 >-> echo [In, Out] (x)
//!     ## Out ! last >-> echo [In, Out] (last)
//! ENDDEF
//! MODELDEF Echo ::= CHAN IN In CHAN OUT Out BEHAVIOUR echo [In, Out] (0) ENDDEF
//! ```
//!
//! A channel is a message with a field per value, `v1`, `v2` and so on. Sequential behaviour becomes a part, parallel
//! composition becomes meetings of parts (see [`system`](self::system)). Recursion at the end of a sequence returns to
//! a location. Recursion inside of a composition is unfolded, without what has ended; if that has no end it creates
//! processes without bound. It is then unfolded up to a limit, and beyond it every guard is unknown.
//!
//! A communication on several channels at once, `A ! 1 | B ? x`, is a message of its own, `A_B`, with the fields of all
//! of them: `A_v1`, `B_v1`. In a composition the sides agree on the channels they share, and each adds those of its
//! own. What `HIDE` takes from it, and an `EXIT` that something accepts, are values that only the sides know.
//!
//! A mapper is a process beside the model: their common channels are hidden, and its others are those of the system.
//!
//! *Lacks* communications that are input and output at once, and functions that end for
//! other reasons than descending on a part of a value; all of them are refused at their place.

mod channels;
mod check;
#[doc(hidden)]
pub mod circles;
mod connect;
mod control;
mod ends;
mod goal;
mod impossible;
mod lexer;
mod overload;
mod parse;
mod part;
mod system;
mod tree;
mod typing;
mod words;

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::{FileId, Sources, Span};
use ioxide_model::sts::Model;

use self::lexer::Lexeme;
use self::system::TxsMeaning;
use self::tree::{ModelDef, Specification};
use crate::LoadOptions;
use crate::sink::{FindingSink, Reported};

/// The name under which `--set` chooses one of several models.
const MODEL: &str = "MODEL";
/// The name under which `--set` chooses a mapper; without it, a model is read as it is.
const MAPPER: &str = "MAPPER";
/// The name under which `--set` gives the depth up to which processes that create processes are unfolded.
const UNFOLD: &str = "UNFOLD";
/// This depth, if it is not given. Chosen by feel.
const DEFAULT_DEPTH: usize = 12;
/// The greatest depth that can be given: control is walked by recursion.
const MAX_DEPTH: usize = 60;

/// Returns whether a text declares a model.
pub(crate) fn has_model(text: &str) -> bool {
    let file = ioxide_model::index::Idx::new(0);
    let tokens = lexer::lex(text, file, &mut FindingSink::default());
    tokens.iter().any(|token| matches!(&token.lexeme, Lexeme::Word(word) if word == "MODELDEF"))
}

/// The model of a TorXakis text, and of those that are joined to it: their definitions are those of one text.
pub(crate) fn load_torxakis(
    sources: &Sources,
    file: FileId,
    options: &LoadOptions,
    sink: &mut FindingSink,
) -> Result<Model, Reported> {
    let files: Vec<FileId> =
        std::iter::once(file).chain(sources.list_joined_files(file).iter().copied()).collect();
    let has_automaton_entries = files.iter().any(|&file| sources.file(file).text.contains("std_"));
    let mut spec = Specification { has_automaton_entries, ..Specification::default() };
    for file in files {
        spec = parse::parse_specification(&sources.file(file).text, file, spec, sink);
    }
    sink.check()?;
    let (words, pool) = words::vocabulary(&spec, options, sink);
    sink.check()?;
    let interface = check::check_specification(&spec, &words, &pool, sink);
    for connection in &spec.connections {
        connect::connection(connection, &words, &interface, &pool, sink);
    }
    let growing = check::check_bounds(&spec, &interface, sink);
    let chosen = choose_model(&spec, file, options, sink);
    sink.check()?;
    let max_depth = unfolding_depth(file, options, sink)?;
    let meant = TxsMeaning {
        spec: &spec,
        words: &words,
        interface: &interface,
        growing: &growing,
        pool: &pool,
        max_depth,
    };
    let mapper = choose_mapper(&spec, file, options, sink)?;
    let mut model = system::build_system(&meant, chosen?, mapper, sink)?;
    // Purposes are about the channels of the model, which a mapper hides.
    for purpose in spec.purposes.iter().filter(|_| mapper.is_none()) {
        goal::add_goals(&meant, purpose, &mut model, sink);
    }
    Ok(model)
}

/// The depth that `--set UNFOLD=n` gives, or the usual one.
fn unfolding_depth(file: FileId, options: &LoadOptions, sink: &mut FindingSink) -> Result<usize, Reported> {
    let Some((_, text)) = options.overrides.iter().rev().find(|(name, _)| name == UNFOLD) else {
        return Ok(DEFAULT_DEPTH);
    };
    text.parse().ok().filter(|depth| (1..=MAX_DEPTH).contains(depth)).ok_or_else(|| {
        sink.error(|| {
            let message = format!("`--set UNFOLD={text}` is not a depth from 1 to {MAX_DEPTH}");
            Diagnostic::new(Code::BadOverride, Span::new(file, 0, 0), message)
        })
    })
}

/// The mapper that `--set MAPPER=name` names, if it names one.
fn choose_mapper<'s>(
    spec: &'s Specification,
    file: FileId,
    options: &LoadOptions,
    sink: &mut FindingSink,
) -> Result<Option<&'s ModelDef>, Reported> {
    let Some((_, wanted)) = options.overrides.iter().rev().find(|(name, _)| name == MAPPER) else {
        return Ok(None);
    };
    let found = spec.mappers.iter().find(|mapper| mapper.name.text == *wanted);
    found.map(Some).ok_or_else(|| {
        let names: Vec<&str> = spec.mappers.iter().map(|mapper| mapper.name.text.as_str()).collect();
        sink.error(|| {
            let message = format!("there is no mapper `{wanted}`");
            let finding = Diagnostic::new(Code::TxsModel, Span::new(file, 0, 0), message);
            if names.is_empty() {
                finding
            } else {
                finding.help(format!("there is `{}`", names.join("`, `")))
            }
        })
    })
}

/// The model to read: the only one, or the one that `--set MODEL=name` names.
fn choose_model<'s>(
    spec: &'s Specification,
    file: FileId,
    options: &LoadOptions,
    sink: &mut FindingSink,
) -> Result<&'s ModelDef, Reported> {
    let wanted =
        options.overrides.iter().rev().find(|(name, _)| name == MODEL).map(|(_, value)| value.as_str());
    let names: Vec<&str> = spec.models.iter().map(|model| model.name.text.as_str()).collect();
    let found = match (&*spec.models, wanted) {
        ([only], None) => Some(only),
        (all, Some(wanted)) => all.iter().find(|model| model.name.text == wanted),
        _ => None,
    };
    found.ok_or_else(|| {
        let place = spec.models.get(1).map_or(Span::new(file, 0, 0), |model| model.name.span);
        sink.error(|| match (names.len(), wanted) {
            (0, _) => Diagnostic::new(Code::TxsModel, place, "the text has no `MODELDEF`")
                .help("a model is `MODELDEF Name ::= CHAN IN … CHAN OUT … BEHAVIOUR … ENDDEF`"),
            (_, Some(wanted)) => {
                Diagnostic::new(Code::TxsModel, place, format!("there is no model `{wanted}`"))
                    .help(format!("there is `{}`", names.join("`, `")))
            }
            (n, None) => Diagnostic::new(Code::TxsModel, place, format!("the text has {n} models"))
                .help(format!("choose one: `--set MODEL={}`", names[0])),
        })
    })
}
