//! Loading files as sources and models; errors in them are reported here.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use ioxide_args::THROUGH;
use ioxide_lang::{LoadOptions, LoadedText};
use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::{FileId, Sources, Span};
use ioxide_model::sts::Model;

use crate::exit::{CliError, ExitStatus};
use crate::{limit, render};

/// Bytes of a file above which it is not read: the front end refuses a model of this size.
const MAX_BYTES: u64 = 1 << 29;

/// The text of the model at `path` (`-` is stdin).
pub fn read_model(path: &str) -> Result<String, CliError> {
    read_text(path).map_err(|wrong| match wrong {
        UnreadableFile::File(error) => cannot_read(path, &error),
        UnreadableFile::NotText(place) => {
            CliError::new(ExitStatus::Model, format!("`{path}` is not UTF-8 text: {place}"))
                .help("save the file as UTF-8; models are plain text")
        }
    })
}

/// The text of the file at `path` (`-` is stdin) that is no model: a trace, a test case.
pub fn read_data(path: &str) -> Result<String, CliError> {
    read_text(path).map_err(|wrong| match wrong {
        UnreadableFile::File(error) => cannot_read(path, &error),
        UnreadableFile::NotText(place) => CliError::usage(format!("`{path}` is not UTF-8 text: {place}"))
            .help("name a file that ioxide wrote, or save it as UTF-8"),
    })
}

/// The reason why a file cannot be read as text.
enum UnreadableFile {
    File(io::Error),
    /// The position of the first byte that is no UTF-8.
    NotText(String),
}

fn read_text(path: &str) -> Result<String, UnreadableFile> {
    let bytes =
        if path == "-" { read_bounded(io::stdin().lock()) } else { File::open(path).and_then(read_bounded) };
    String::from_utf8(bytes.map_err(UnreadableFile::File)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
        UnreadableFile::NotText(format!("bad byte at offset {at}, line {line}"))
    })
}

/// All bytes, unless there is no end to them, as with `/dev/zero`.
fn read_bounded(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if reader.take(MAX_BYTES + 1).read_to_end(&mut bytes)? as u64 > MAX_BYTES {
        Err(io::Error::other(format!("it has more than {} MB", MAX_BYTES >> 20)))
    } else {
        Ok(bytes)
    }
}

/// Returns the text of a file that a model names: a regular file, so that no pipe or device is waited for.
fn read_part(path: &str) -> Result<String, UnreadableFile> {
    if fs::metadata(path).map_err(UnreadableFile::File)?.is_file() {
        read_text(path)
    } else {
        Err(UnreadableFile::File(io::Error::other("it is not a regular file")))
    }
}

/// Returns the text of a file that a model or an editor names, if it is a regular file of limited size.
pub fn regular(path: &str) -> io::Result<String> {
    read_part(path).map_err(|wrong| match wrong {
        UnreadableFile::File(error) => error,
        UnreadableFile::NotText(place) => io::Error::other(format!("it is not UTF-8 text: {place}")),
    })
}

fn cannot_read(path: &str, error: &io::Error) -> CliError {
    let stop = CliError::usage(format!("cannot read `{path}`: {error}"));
    match nearby(path) {
        Some(name) => stop.help(format!("did you mean `{name}`?")),
        None if Path::new(path).is_dir() => stop.help("name a model file in it, such as a `*.iox` file"),
        None => stop.help("check the path; it is relative to the current directory"),
    }
}

/// Returns a file in the same directory with the same stem, or with the extension forgotten, if there is one.
fn nearby(path: &str) -> Option<String> {
    let path = Path::new(path);
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let stem = path.file_stem()?;
    let mut names: Vec<_> = fs::read_dir(parent).ok()?.flatten().map(|entry| entry.path()).collect();
    names.sort();
    let found = names.into_iter().find(|other| other.is_file() && other.file_stem() == Some(stem))?;
    Some(found.strip_prefix("./").unwrap_or(&found).display().to_string())
}

/// Loads the model at `path`; findings that are not errors are written to stderr.
pub fn load_model(path: &str, set: &[String]) -> Result<(Sources, Model), CliError> {
    let mut sources = Sources::new();
    let file = add_source(&mut sources, path)?;
    let loaded = load(&sources, file, set)?;
    let (sources, model) = finish(sources, loaded)?;
    Ok((sources, seen_through(model, set)?))
}

/// Returns the files that `path` names: one, or several with `+` between them.
pub fn files_of(path: &str) -> Vec<&str> {
    // A file that is there comes first, whatever it is called.
    if Path::new(path).exists() { vec![path] } else { ioxide_lang::joined_paths(path) }
}

/// Adds the text at `path`, and those it is made of.
pub fn add_source(sources: &mut Sources, path: &str) -> Result<FileId, CliError> {
    limit::reading(|| {
        let paths = files_of(path);
        let file = sources.add(paths[0], read_model(paths[0])?);
        for other in &paths[1..] {
            let other = sources.add(*other, read_model(other)?);
            sources.join(file, other);
        }
        ioxide_lang::gather(sources, file, &mut |path| regular(path).map_err(|error| error.to_string()));
        Ok(file)
    })
}

/// Runs the front end with the overrides of `--set`.
pub fn load(sources: &Sources, file: FileId, set: &[String]) -> Result<LoadedText, CliError> {
    let options = LoadOptions::with_overrides(overrides(set)?);
    Ok(limit::reading(|| ioxide_lang::load(sources, file, &options)))
}

/// Returns the model of texts that are not the user's as they are, such as edited ones; `None` if there are errors but
/// at the places `tentative`; and those of these places that have errors.
pub fn compile_quietly(
    sources: &Sources,
    file: FileId,
    set: &[String],
    tentative: &[Span],
) -> Option<(Model, Vec<Span>)> {
    // What is seen through a channel is made of all transitions, the wrong ones too.
    if !tentative.is_empty() && set.iter().any(|text| text.starts_with(THROUGH)) {
        return None;
    }
    let options =
        LoadOptions { without_lints: true, tentative: tentative.to_vec(), ..LoadOptions::default() };
    let loaded = compile_with(sources, file, set, options);
    let wrong = loaded.wrong_places;
    loaded.model.map(|model| (model, wrong))
}

/// Returns the model of a text with these settings, `None` if there are errors, and all findings. Nothing is printed.
pub fn compile(sources: &Sources, file: FileId, set: &[String]) -> (Option<Model>, Vec<Diagnostic>) {
    let loaded = compile_with(sources, file, set, LoadOptions::default());
    (loaded.model, loaded.diagnostics)
}

fn compile_with(sources: &Sources, file: FileId, set: &[String], options: LoadOptions) -> LoadedText {
    let options = match overrides(set) {
        Ok(overrides) => LoadOptions { overrides, ..options },
        Err(error) => {
            let diagnostics = vec![bad_setting(file, error.to_line())];
            return LoadedText { model: None, diagnostics, wrong_places: Vec::new() };
        }
    };
    let LoadedText { model, mut diagnostics, wrong_places } = ioxide_lang::load(sources, file, &options);
    let sound = model.filter(|_| !diagnostics.iter().any(Diagnostic::is_error));
    let channels = set.iter().filter_map(|text| text.strip_prefix(THROUGH));
    let seen = channels.into_iter().try_fold(sound, |model, text| {
        let channel = ioxide_lang::channel(text);
        let seen = channel.and_then(|it| model.map(|model| ioxide_lang::through(&model, &it)).transpose());
        seen.map_err(|wrong| format!("`--through '{text}'` does not fit this model: {}", wrong.0))
    });
    let model = seen.unwrap_or_else(|message| {
        diagnostics.push(bad_setting(file, message));
        None
    });
    LoadedText { model, diagnostics, wrong_places }
}

/// Returns the finding that the settings do not fit the model.
fn bad_setting(file: FileId, message: String) -> Diagnostic {
    Diagnostic::new(Code::BadOverride, Span::new(file, 0, 0), message)
}

/// The model behind the channels that the settings name.
fn seen_through(model: Model, set: &[String]) -> Result<Model, CliError> {
    let channels = set.iter().filter_map(|text| text.strip_prefix(THROUGH));
    channels.into_iter().try_fold(model, |model, text| {
        let channel = ioxide_lang::channel(text);
        let seen = channel.and_then(|channel| limit::reading(|| ioxide_lang::through(&model, &channel)));
        seen.map_err(|wrong| {
            CliError::usage(format!("`--through '{text}'` does not fit this model: {}", wrong.0))
                .help("a channel is such as `fifo(capacity: 4)` or `bag(capacity: 2, may_lose: true)`")
        })
    })
}

/// Reads the values of `--set NAME=VALUE`.
fn overrides(set: &[String]) -> Result<Vec<(String, String)>, CliError> {
    let pair = |text: &String| {
        let (name, value) = text.split_once('=')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    set.iter()
        .filter(|text| !text.starts_with(THROUGH))
        .map(|text| {
            pair(text).ok_or_else(|| {
                CliError::usage(format!("`--set {text}` is not NAME=VALUE")).help("write `--set MAX_RN=3`")
            })
        })
        .collect()
}

/// Returns the model, or an error that shows every finding.
fn finish(sources: Sources, loaded: LoadedText) -> Result<(Sources, Model), CliError> {
    let errors: Vec<Diagnostic> =
        loaded.diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).cloned().collect();
    match loaded.model {
        Some(model) if errors.is_empty() => Ok((sources, model)),
        _ => Err(model_error(&sources, &errors)),
    }
}

/// Shows the errors that keep a text from being a model, and returns the error that ends the command.
pub fn model_error(sources: &Sources, errors: &[Diagnostic]) -> CliError {
    eprint!("{}", render::render_findings(sources, errors));
    let count = errors.len();
    let plural = if count == 1 { "" } else { "s" };
    let is_setting = |error: &Diagnostic| matches!(error.code, Code::UnknownConstant | Code::BadOverride);
    if errors.iter().all(is_setting) {
        return CliError::usage(format!(
            "the constants that were set do not fit the model: {count} error{plural}"
        ));
    }
    CliError::new(ExitStatus::Model, format!("the model has {count} error{plural}"))
}
