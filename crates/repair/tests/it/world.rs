//! A model, runs written as lines, and the repairs of one by the other.

use ioxide_lang::{LoadOptions, load};
use ioxide_model::source::{FileId, Sources, Span};
use ioxide_repair::{LoadedModel, RepairError, RepairRequest, Repairs, ReplayableRun, find_repairs};
use ioxide_smt::halt::{AfterAsks, Halt};
use ioxide_smt::stack::{SolverConfig, SolverStack, build_stack};

/// Returns the model of the texts; `None` if they have errors.
pub fn compile(sources: &Sources, file: FileId, tentative: &[Span]) -> Option<LoadedModel> {
    let tentative = tentative.to_vec();
    let options = LoadOptions { without_lints: true, tentative, ..LoadOptions::default() };
    let loaded = load(sources, file, &options);
    loaded.model.map(|model| (model, loaded.wrong_places))
}

/// Returns a solver.
pub fn solver() -> SolverStack {
    build_stack(&SolverConfig::default())
}

/// Returns a run of messages: `?a(n: 1)` and `!b(n: 2)` separated by semicolons, `-` for silence.
pub fn run(text: &str) -> ReplayableRun {
    let line = |step: &str| {
        let step = step.trim();
        if step == "-" {
            return "{\"silence\": true}".to_owned();
        }
        let (name, args) = step.split_once('(').unwrap_or((step, ")"));
        let fields: Vec<String> = args
            .trim_end_matches(')')
            .split(',')
            .filter_map(|field| field.split_once(':'))
            .map(|(name, value)| format!("\"{}\": {}", name.trim(), value.trim()))
            .collect();
        format!("{{\"label\": \"{name}\", \"args\": {{{}}}}}", fields.join(", "))
    };
    let lines: Vec<String> = text.split(';').map(line).collect();
    ReplayableRun::from_lines(format!("`{text}`"), lines.join("\n"))
}

/// Returns the repairs of the model `text` by `runs`, without limits of time.
pub fn repairs(text: &str, runs: &[ReplayableRun]) -> Result<Repairs, RepairError> {
    some_repairs(text, runs, 3)
}

/// Returns up to `max_proposals` repairs.
pub fn some_repairs(
    text: &str,
    runs: &[ReplayableRun],
    max_proposals: usize,
) -> Result<Repairs, RepairError> {
    let mut sources = Sources::new();
    let file = sources.add("model.iox", text);
    let request = RepairRequest {
        sources: &sources,
        file,
        load: &|sources, tentative| compile(sources, file, tentative),
        runs,
        max_proposals,
        halt: Halt::default(),
        search_time: None,
        // Comparisons of models without bounds would never end.
        halt_after: |_| Halt::new(AfterAsks::new(3_000)),
    };
    find_repairs(&request, &mut solver())
}

/// Returns the text of the first proposal.
#[track_caller]
pub fn first_text(repairs: &Repairs) -> String {
    let proposal = repairs.proposals.first().expect("there is a proposal");
    proposal.edited.iter().next().expect("there is a text").text.clone()
}

/// Returns the texts of all proposals with their reasons.
pub fn all_texts(repairs: &Repairs) -> Vec<(&str, &str)> {
    repairs
        .proposals
        .iter()
        .map(|it| (it.edited.iter().next().expect("there is a text").text.as_str(), it.reason.as_str()))
        .collect()
}
