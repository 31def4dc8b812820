//! Test cases as texts for programs and people.
//!
//! [`json`] keeps everything and has a published schema; [`text`] is a listing; [`picture`] turns the tree into a graph
//! for the other writers, [`plantuml`] draws it itself; [`python`], [`rust`] and [`ttcn3`] are executable tests;
//! [`iox`] is a model of the case itself. Guards in programs are written by [`expr`], which refuses what a language
//! cannot express.

mod choice;
pub mod expr;
pub mod iox;
pub mod json;
pub mod picture;
pub mod plantuml;
pub mod python;
pub mod rust;
pub mod text;
pub mod ttcn3;

use std::fmt;

use ioxide_model::sts::{GateKind, Model};
use ioxide_model::term::{Term, VarId};
use ioxide_testgen::case::{ArcTarget, CaseArc, TestCase};

/// A test case together with the model it was generated from.
#[derive(Clone, Copy)]
pub struct CaseView<'c> {
    /// The test case.
    pub case: &'c TestCase,
    /// The model; its pool has the terms of the case.
    pub model: &'c Model,
}

/// The error that a guard of a case cannot be expressed in the target language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritable {
    /// The name of the state of the case.
    pub state: String,
    /// The name of the rule that made the arc.
    pub rule: &'static str,
    /// The construct that the guard needs and the language lacks.
    pub gap: LanguageGap,
}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the guard of {} at {} needs {}, which the language lacks",
            self.rule, self.state, self.gap.0
        )
    }
}

/// A construct that the language of a test case lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LanguageGap(pub &'static str);

/// The actor of an arc: the tester, the system, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArcActor {
    /// The tester sends.
    Send,
    /// The tester receives.
    Receive,
    /// Neither side acts until the time-out.
    Silence,
}

impl ArcActor {
    /// Returns the word for the actor in files.
    #[must_use]
    pub fn variable_name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Receive => "receive",
            Self::Silence => "silence",
        }
    }
}

impl<'c> CaseView<'c> {
    /// The name of the model and the switches of the path.
    #[must_use]
    pub fn title(&self) -> String {
        format!("{}: {}", self.model.sts.name, self.path_text())
    }

    /// Returns the labels of the path separated by spaces, or a phrase for an adaptive test, whose path is empty.
    #[must_use]
    pub fn path_text(&self) -> String {
        if self.case.path.is_empty() {
            "after any reply of the system".into()
        } else {
            self.switch_labels().join(" ")
        }
    }

    /// The labels of the path.
    #[must_use]
    pub fn switch_labels(&self) -> Vec<String> {
        self.case.path.iter().map(|step| step.name(&self.model.sts).to_owned()).collect()
    }

    /// Returns the actor of `arc`; a message that other parties send to the system counts as received.
    #[must_use]
    pub fn actor(&self, arc: &CaseArc) -> ArcActor {
        match arc.gate.map(|gate| self.model.sts.gates[gate].kind) {
            Some(GateKind::Input) => ArcActor::Send,
            Some(_) => ArcActor::Receive,
            None => ArcActor::Silence,
        }
    }

    /// The message of `arc` with its fields as the guards call them: `!Debit(rid@2, amount@2)`, `δ`.
    #[must_use]
    pub fn message_text(&self, arc: &CaseArc) -> String {
        let Some(gate) = arc.gate.map(|gate| &self.model.sts.gates[gate]) else { return "δ".into() };
        let mark = if gate.kind == GateKind::Output { '!' } else { '?' };
        let fields: Vec<&str> = arc.fields.iter().map(|&field| self.variable_name(field)).collect();
        if fields.is_empty() {
            format!("{mark}{}", gate.name)
        } else {
            format!("{mark}{}({})", gate.name, fields.join(", "))
        }
    }

    /// The name of a variable.
    #[must_use]
    pub fn variable_name(&self, var: VarId) -> &'c str {
        &self.model.pool.var_info(var).name
    }

    /// Returns a guard in the notation of the modelling language.
    #[must_use]
    pub fn guard_text(&self, guard: Term) -> String {
        self.model.pool.show(guard).to_string()
    }

    /// Returns the name of the state or verdict that `arc` leads to.
    #[must_use]
    pub fn target_name(&self, arc: &CaseArc) -> String {
        match arc.target {
            ArcTarget::State(n) => TestCase::state_name(n),
            ArcTarget::Verdict(verdict) => verdict.word().into(),
        }
    }

    /// The fields of `arc`: name in the message, name in the guards.
    pub fn fields(&self, arc: &'c CaseArc) -> impl Iterator<Item = (&'c str, VarId)> {
        let bases = arc.gate.map_or(&[][..], |gate| &self.model.sts.gates[gate].fields);
        bases.iter().map(|&base| self.variable_name(base)).zip(arc.fields.iter().copied())
    }

    /// The time-out in seconds; a case that left it open, or has no time, waits for one second.
    #[must_use]
    pub fn timeout(&self) -> ioxide_model::number::Rational {
        self.case.timeout.clone().unwrap_or(ioxide_model::number::Rational::ONE)
    }
}
