//! A case as versioned JSON, for programs; the schema is `crates/cli/schemas/case-1.json`.
//!
//! Guards are texts of the modelling language, and SMT-LIB beside it with every variable declared once.
//! Fields may be added within a version; a field that changes its meaning or goes away makes a new one.

use ioxide_model::goal::PathStep;
use ioxide_model::number::Rational;
use ioxide_model::sts::Sts;
use ioxide_model::term::VarId;
use ioxide_record::json::JsonError;
use ioxide_record::value::value_to_json;
use ioxide_testgen::case::{CaseArc, CaseConfig, CaseState, Pruning, SendTime, TestCase, Timeout};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use thiserror::Error;

use super::CaseView;

/// The version written.
pub const VERSION: u32 = 1;

/// The guards of a case in SMT-LIB.
#[derive(Clone, Debug, Default)]
pub struct CaseSmt {
    /// The declarations that every guard relies on: data types and variables, each once.
    pub declarations: Vec<String>,
    /// The symbol of each variable.
    pub names: Vec<SmtName>,
    /// The guards, by state and by arc within it.
    pub guards: Vec<Vec<String>>,
}

/// The SMT-LIB symbol and sort of a variable.
#[derive(Clone, Debug)]
pub struct SmtName {
    /// The variable.
    pub var: VarId,
    /// Its symbol.
    pub symbol: String,
    /// `Bool`, `Int`, `Real`, `String` or `Enum`; empty for composite sorts.
    pub sort: &'static str,
    /// For an enum without fields: its cases and their symbols.
    pub cases: Vec<(String, String)>,
}

impl SmtName {
    /// Returns whether a value of the variable can be written as one literal.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        !self.sort.is_empty()
    }
}

/// `view` as indented JSON with a line break at its end.
#[must_use]
pub fn case_json(view: &CaseView<'_>, smt: &CaseSmt) -> String {
    // A view of strings and numbers has nothing that serialisation could refuse.
    serde_json::to_string_pretty(&CaseDocument::new(view, smt)).unwrap_or_default() + "\n"
}

/// The part of a case file that identifies its case: enough to generate the case again and to compare the two.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct CaseOutline {
    /// The version of the format.
    pub version: u32,
    /// The name of the model.
    pub model: String,
    /// The labels of the path.
    pub path: Vec<String>,
    /// The time-out in seconds; `None` if it was left open.
    pub timeout: Option<String>,
    /// The word for the instants at which inputs are sent; `None` means as soon as a guard allows.
    pub sending: Option<String>,
    /// The number of arcs by the rules of the paper, without those of rule R11.
    pub arcs: usize,
    /// The number of arcs of rule R11, which leave the path by an observation of the path.
    pub off_path: usize,
}

/// The reason why a case file cannot be read.
#[derive(Debug, Error)]
pub enum BadCaseFile {
    /// The file is not JSON, or its JSON has another shape.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// The file has another version of the format.
    #[error("it is of version {0}; this program reads {VERSION}")]
    Version(u32),
}

impl CaseOutline {
    /// Reads what [`case_json`] wrote.
    ///
    /// # Errors
    /// If the text is no case file, or of another version.
    pub fn read(text: &str) -> Result<Self, BadCaseFile> {
        let outline: Self = ioxide_record::json::read(text)?;
        match outline.version {
            VERSION => Ok(outline),
            other => Err(BadCaseFile::Version(other)),
        }
    }

    /// Returns the path of the case in `sts`, and the configuration to generate the case again.
    ///
    /// # Errors
    /// If the file belongs to another model, or has a value with no meaning.
    pub fn plan(&self, sts: &Sts) -> Result<(Vec<PathStep>, CaseConfig), CaseMismatch> {
        if *self.model != *sts.name {
            let (found, expected) = (self.model.clone(), sts.name.to_string());
            return Err(CaseMismatch::Model { found, expected });
        }
        let step = |label: &String| match sts.switch_named(label) {
            Some(switch) => Ok(PathStep::Take(switch)),
            None if label == "quiet" => Ok(PathStep::Quiet),
            None => Err(CaseMismatch::Transition(label.clone())),
        };
        let path = self.path.iter().map(step).collect::<Result<_, _>>()?;
        let timeout = self.timeout.as_deref().map_or(Ok(Timeout::Above), parse_timeout)?;
        let word = self.sending.as_deref().unwrap_or(SendTime::Soonest.word());
        let sending = SendTime::of_word(word).ok_or_else(|| CaseMismatch::SendTime(word.to_owned()))?;
        Ok((path, CaseConfig { timeout, pruning: Pruning::Refuted, sending }))
    }

    /// Compares `case`, generated again, with the one in the file by their numbers of arcs, in all and off the path.
    ///
    /// # Errors
    /// If the numbers differ.
    pub fn check(&self, case: &TestCase) -> Result<(), CaseMismatch> {
        let (expected, found) = ((self.arcs, self.off_path), (case.n_arcs(), case.n_off_path()));
        if found == expected { Ok(()) } else { Err(CaseMismatch::Arcs { expected, found }) }
    }
}

/// The reason why the case in a file cannot be generated again from a model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CaseMismatch {
    /// The file names another model.
    #[error("it is a case of the model `{found}`, not of `{expected}`")]
    Model {
        /// The model that the file names.
        found: String,
        /// The model at hand.
        expected: String,
    },
    /// The model has no transition of this label.
    #[error("the model has no `{0}`")]
    Transition(String),
    /// The time-out is no time above 0.
    #[error("the time-out `{0}` is not a time above 0")]
    Timeout(String),
    /// There is no such instant at which inputs are sent.
    #[error("`{0}` is neither `soonest` nor `latest`")]
    SendTime(String),
    /// The case has other numbers of arcs; each pair counts those in all and those off the path.
    #[error("it has {} and {} arcs, the model gives {} and {}", .expected.0, .expected.1, .found.0, .found.1)]
    Arcs {
        /// The numbers in the file.
        expected: (usize, usize),
        /// The numbers of the case that the model gives.
        found: (usize, usize),
    },
}

/// Returns the time-out that a case file states.
fn parse_timeout(text: &str) -> Result<Timeout, CaseMismatch> {
    match text.parse::<Rational>() {
        Ok(time) if !time.is_negative() && !time.is_zero() => Ok(Timeout::Fixed(time)),
        _ => Err(CaseMismatch::Timeout(text.to_owned())),
    }
}

#[derive(Serialize)]
struct CaseDocument {
    version: u32,
    model: String,
    path: Vec<String>,
    timed: bool,
    /// The time-out in seconds, as an exact decimal or fraction; null if it was left open.
    timeout: Option<String>,
    sending: &'static str,
    arcs: usize,
    off_path: usize,
    smt: SmtView,
    states: Vec<CaseStateJson>,
    lints: Vec<String>,
}

#[derive(Serialize)]
struct SmtView {
    logic: &'static str,
    declarations: Vec<String>,
    variables: Vec<CaseVariableJson>,
}

#[derive(Serialize)]
struct CaseVariableJson {
    name: String,
    symbol: String,
    sort: String,
}

#[derive(Serialize)]
struct CaseStateJson {
    name: String,
    location: Option<String>,
    delay: Option<String>,
    transitions: Vec<ArcView>,
}

#[derive(Serialize)]
struct ArcView {
    rule: &'static str,
    action: &'static str,
    message: Option<String>,
    fields: Vec<CaseFieldJson>,
    switch: Option<String>,
    guard: String,
    smt: String,
    target: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<WitnessView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    doubt: Option<String>,
}

#[derive(Serialize)]
struct CaseFieldJson {
    name: String,
    variable: String,
}

#[derive(Serialize)]
struct WitnessView {
    /// The delay before the input, in seconds.
    delay: String,
    values: Map<String, Json>,
    /// True if the values fit whatever was observed before.
    always: bool,
}

impl CaseDocument {
    /// Makes the document of a test case, with its guards as text and as SMT-LIB.
    fn new(view: &CaseView<'_>, smt: &CaseSmt) -> Self {
        let case = view.case;
        let variable = |named: &SmtName| CaseVariableJson {
            name: view.variable_name(named.var).into(),
            symbol: named.symbol.clone(),
            sort: view.model.pool.show_sort(view.model.pool.var_info(named.var).sort),
        };
        let none: &[String] = &[];
        let guards = |n: usize| smt.guards.get(n).map_or(none, Vec::as_slice);
        Self {
            version: VERSION,
            model: view.model.sts.name.to_string(),
            path: view.switch_labels(),
            timed: case.is_timed,
            timeout: case.timeout.as_ref().map(ToString::to_string),
            sending: case.sending.word(),
            arcs: case.n_arcs(),
            off_path: case.n_off_path(),
            smt: SmtView {
                logic: "ALL",
                declarations: smt.declarations.clone(),
                variables: smt.names.iter().map(variable).collect(),
            },
            states: case
                .states
                .iter()
                .enumerate()
                .map(|(n, s)| CaseStateJson::new(view, n, s, guards(n)))
                .collect(),
            lints: case.lints.iter().map(|lint| lint.show(&view.model.pool)).collect(),
        }
    }
}

impl CaseStateJson {
    /// Makes state number `n`; `guards` are the guards of its arcs in SMT-LIB.
    fn new(view: &CaseView<'_>, n: usize, state: &CaseState, guards: &[String]) -> Self {
        let guard = |at: usize| guards.get(at).cloned().unwrap_or_default();
        Self {
            name: TestCase::state_name(n),
            location: state.loc.map(|loc| view.model.sts.locations[loc].name.to_string()),
            delay: view.case.is_timed.then(|| view.variable_name(state.delay).to_owned()),
            transitions: state
                .arcs
                .iter()
                .enumerate()
                .map(|(at, arc)| ArcView::new(view, arc, guard(at)))
                .collect(),
        }
    }
}

impl ArcView {
    /// Makes the view of an arc; `smt` is its guard in SMT-LIB.
    fn new(view: &CaseView<'_>, arc: &CaseArc, smt: String) -> Self {
        let sts = &view.model.sts;
        let field = |(name, var): (&str, VarId)| CaseFieldJson {
            name: name.into(),
            variable: view.variable_name(var).into(),
        };
        let witness = arc.witness.as_ref().map(|stimulus| WitnessView {
            delay: stimulus.delay.to_string(),
            values: (view.fields(arc).zip(&stimulus.values))
                .map(|((name, _), value)| (name.to_owned(), value_to_json(&view.model.pool, value)))
                .collect(),
            always: stimulus.always,
        });
        Self {
            rule: arc.rule.word(),
            action: view.actor(arc).variable_name(),
            message: arc.gate.map(|gate| sts.gates[gate].name.to_string()),
            fields: view.fields(arc).map(field).collect(),
            switch: arc.switch.map(|id| sts.switches[id].label.to_string()),
            guard: view.guard_text(arc.guard),
            smt,
            target: view.target_name(arc),
            witness,
            doubt: arc.doubt.as_ref().map(ToString::to_string),
        }
    }
}
