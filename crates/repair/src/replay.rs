//! Replays that begin where an edit can first be seen.
//!
//! An edited model differs from its base in some switches. Up to the first label that one of them has a part in, both
//! have the same belief, so that a replay takes it over from a log of the base. A run in which no such switch has a
//! part is judged as before, without a replay.
//!
//! Where a label may happen later than it was seen, such as an input that is not confirmed, there are several orders. A
//! replay begins where nothing waits; in between, a switch may have a part in any label of its gate. Where a replay
//! comes back to the states that the base had, it goes on at the next label that such a switch has a part in.
//!
//! The switches that differ are those of the transitions that the edits touch, known by their places in the texts. Only
//! an edit elsewhere, such as of a function, may change any switch; then the models are compared as texts, which takes
//! longer than compiling one.

use std::ops::ControlFlow;

use ioxide_model::label::Label;
use ioxide_model::number::Int;
use ioxide_model::source::Span;
use ioxide_model::sts::{GateId, GateKind, LocId, Model, Sts, Switch, SwitchId};
use ioxide_model::term::{Term, TermNode, TermPool};
use ioxide_model::value::Value;
use ioxide_smt::halt::Halt;
use ioxide_smt::solver::Solver;
use ioxide_symex::{Belief, Ctx, Monitor};
use ioxide_testgen::mutate::{show_initial, show_switch};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::RepairError;
use crate::edit::TextEdit;
use crate::evaluate::{RunJudgement, judge_with};
use crate::runs::DecodedRun;
use crate::samples::GuardSamples;

/// The number of steps of all runs that are logged. Chosen by feel: each holds a belief.
const MAX_LOGGED: usize = 20_000;
/// The number of states of a belief beyond which its run is not logged. Chosen by feel.
const MAX_STATES: usize = 64;

/// The meaning of a model as text, by which equal models and their differences are known.
#[derive(Debug)]
pub(crate) struct ModelMeaning {
    /// Everything but the switches.
    frame: String,
    switches: Vec<(String, LocId, GateId)>,
}

/// The place of a switch that two models do not share: its source and its message.
pub(crate) type ChangedPlace = (LocId, GateId);

impl ModelMeaning {
    /// Returns the meaning of `model`.
    pub(crate) fn new(model: &mut Model) -> Self {
        let texts: Vec<String> = model.sts.switches.ids().map(|id| switch_text(model, id)).collect();
        let sts = &model.sts;
        let vars =
            sts.vars.iter().map(|var| format!("{:?} {}", var.var, show_initial(model, var.var, var.init)));
        let places = sts.locations.iter().map(|location| location.name.to_string());
        let fields = sts.gates.iter().map(|gate| format!("{} {:?}", gate.name, gate.fields));
        let functions = model.pool.functions().map(|function| {
            let body = function.body.map(|body| model.pool.show(body).to_string()).unwrap_or_default();
            format!("{} {body}", function.name)
        });
        let parts: Vec<String> = vars.chain(places).chain(fields).chain(functions).collect();
        let frame = format!("{:?}\n{}", sts.initial, parts.join("\n"));
        let switches = texts.into_iter().zip(sts.switches.iter());
        let switches = switches.map(|(text, switch)| (text, switch.source, switch.gate)).collect();
        Self { frame, switches }
    }

    /// Returns a text that models with the same meaning share.
    pub(crate) fn key(&self) -> String {
        let mut switches: Vec<&str> = self.switches.iter().map(|(text, ..)| text.as_str()).collect();
        // The order of switches means nothing.
        switches.sort_unstable();
        format!("{}\n{}", self.frame, switches.join("\n"))
    }

    /// Returns the switches as texts.
    #[cfg(test)]
    pub(crate) fn switch_texts(&self) -> impl Iterator<Item = &str> {
        self.switches.iter().map(|(text, ..)| text.as_str())
    }

    /// Returns the switches of `model` that this one does not have.
    pub(crate) fn new_switches(&self, model: &mut Model) -> Vec<SwitchId> {
        let known: FxHashSet<&str> = self.switches.iter().map(|(text, ..)| text.as_str()).collect();
        let ids: Vec<SwitchId> = model.sts.switches.ids().collect();
        ids.into_iter().filter(|&id| !known.contains(&*switch_text(model, id))).collect()
    }

    /// Returns the places of the switches that only one of both models has; `None` if they differ in more.
    fn changes_to(&self, other: &Self) -> Option<Vec<ChangedPlace>> {
        if self.frame != other.frame {
            return None;
        }
        let mut counts: FxHashMap<&str, (i32, ChangedPlace)> = FxHashMap::default();
        for (switches, by) in [(&self.switches, 1), (&other.switches, -1)] {
            // Counted, not compared as sets: a model may have the same switch twice, and an edit may remove
            // one of the two.
            for (text, source, gate) in switches {
                counts.entry(text).or_insert((0, (*source, *gate))).0 += by;
            }
        }
        Some(counts.into_values().filter(|(count, _)| *count != 0).map(|(_, place)| place).collect())
    }
}

/// Returns a switch as text. Bounds of whole numbers have one form: `n < 4` is `n <= 3`.
fn switch_text(model: &mut Model, id: SwitchId) -> String {
    let switch = model.sts.switches[id].clone();
    let facts = model.pool.conjuncts(switch.guard);
    let facts: Vec<Term> = facts.into_iter().map(|fact| with_closed_bound(&mut model.pool, fact)).collect();
    let guard = model.pool.and(facts);
    show_switch(model, &Switch { guard, ..switch })
}

fn with_closed_bound(pool: &mut TermPool, fact: Term) -> Term {
    let TermNode::Lt(a, b) = *pool.node(fact) else { return fact };
    let bound = |pool: &TermPool, term: Term| match pool.as_value(term) {
        Some(Value::Int(number)) => Some(number.clone()),
        _ => None,
    };
    match (bound(pool, a), bound(pool, b)) {
        (_, Some(most)) => {
            let most = pool.value(Value::Int(most + Int::from(-1)));
            pool.le(a, most)
        }
        (Some(least), _) => {
            let least = pool.value(Value::Int(least + Int::from(1)));
            pool.le(least, b)
        }
        (None, None) => fact,
    }
}

/// The place of a switch in the text, where it leads from and to, and its message.
type SwitchSite = (Span, LocId, GateId, LocId);

/// The edits of texts, and where they stand afterwards.
struct TextMoves<'e> {
    /// In the order of their places, each with the place of its text in the edited one.
    edits: Vec<(&'e TextEdit, usize, usize)>,
}

impl<'e> TextMoves<'e> {
    fn new(edits: &'e [TextEdit]) -> Self {
        let mut sorted: Vec<&TextEdit> = edits.iter().collect();
        sorted.sort_by_key(|edit| (edit.file, edit.start, edit.end));
        let (mut file, mut moved) = (None, 0_isize);
        let edits = sorted.into_iter().map(|edit| {
            if file != Some(edit.file) {
                (file, moved) = (Some(edit.file), 0);
            }
            let start = edit.start.saturating_add_signed(moved);
            moved += edit.text.len() as isize - (edit.end - edit.start) as isize;
            (edit, start, start + edit.text.len())
        });
        Self { edits: edits.collect() }
    }

    /// Returns whether an edit is of the transition at `span` in the text before, and notes which are.
    fn touches(&self, span: Span, is_explained: &mut [bool]) -> bool {
        let mut is_touched = false;
        for (at, (edit, ..)) in self.edits.iter().enumerate() {
            if edit.file == span.file && overlaps((edit.start, edit.end), span) {
                (is_touched, is_explained[at]) = (true, true);
            }
        }
        is_touched
    }

    /// Returns where the transition at `span` of the edited text stood before; `None` if an edit is of it. Notes which
    /// are.
    fn place_before(&self, span: Span, is_explained: &mut [bool]) -> Option<Span> {
        let (mut moved, mut is_touched) = (0_isize, false);
        for (at, (edit, start, end)) in self.edits.iter().enumerate().filter(|(_, it)| it.0.file == span.file)
        {
            if overlaps((*start, *end), span) {
                (is_touched, is_explained[at]) = (true, true);
            } else if *end <= span.start as usize {
                moved += edit.text.len() as isize - (edit.end - edit.start) as isize;
            }
        }
        let before = |at: u32| (at as usize).checked_add_signed(-moved);
        let (start, end) = (before(span.start)?, before(span.end)?);
        (!is_touched).then(|| Span::new(span.file, start, end))
    }
}

/// Returns whether some of the bytes, or the point between two bytes, lie inside of `span`.
fn overlaps((start, end): (usize, usize), span: Span) -> bool {
    start < span.end as usize && (span.start as usize) < end
        || start == end && (span.start as usize) < start && start < span.end as usize
}

/// A model with a log of its replays.
#[derive(Debug)]
pub(crate) struct ReplayBase {
    pub(crate) meaning: ModelMeaning,
    switches: Vec<SwitchSite>,
    /// True if the switches of a transition are those at its place, and replays can be shared at all.
    is_plain: bool,
    /// The logs by the number of their run; `None` for runs that are replayed from their start.
    logs: Vec<Option<ReplayLog>>,
}

#[derive(Debug)]
struct ReplayLog {
    /// The steps by the position of their label.
    steps: Vec<LoggedStep>,
    judged: RunJudgement,
    /// True if every label happened when it was seen, so that there is one order of them.
    is_plain: bool,
    /// True if there are several connections.
    is_wired: bool,
}

/// The states before a label.
#[derive(Debug)]
enum LoggedStep {
    /// Nothing waits: a replay can go on from here.
    Settled {
        monitor: Box<Monitor>,
        /// The locations of the belief; `None` if it allows everything.
        places: Option<Vec<LocId>>,
    },
    /// Some label before this one may not have happened yet, or the states are too many to keep.
    Unsettled,
}

impl ReplayBase {
    /// Replays the runs by `model`, which must know their messages.
    pub(crate) fn new(
        model: &mut Model,
        solver: &mut dyn Solver,
        runs: &[DecodedRun<'_>],
        samples: &mut GuardSamples,
        halt: &Halt,
    ) -> Result<(Self, Vec<RunJudgement>), RepairError> {
        let meaning = ModelMeaning::new(model);
        // In a composition, a location does not tell where the parts are, so "no changed switch starts here"
        // cannot be read off it. In a timed model an edit can also be seen by the time that passes.
        let is_plain = !model.sts.is_timed() && model.sts.composition.is_none();
        let (mut logs, mut all) = (Vec::new(), Vec::new());
        let mut room = MAX_LOGGED;
        for run in runs {
            let mut steps = Vec::new();
            let mut is_logged = is_plain;
            let judged = judge_with(model, solver, (run, halt), None, &mut |cx, monitor, label, at| {
                samples.note(cx, monitor, label, at);
                is_logged &= at < room;
                if is_logged {
                    // Labels that are no step of their own belong to the one behind them.
                    steps.resize_with(at, || LoggedStep::Unsettled);
                    steps.push(LoggedStep::new(monitor));
                }
                ControlFlow::Continue(())
            })?;
            samples.end_run(&judged, run.labels().len());
            // An unknown judgement is not taken over for edits that the run does not touch: they get their
            // own time for it.
            is_logged &= !judged.is_unknown;
            room -= if is_logged { steps.len() } else { 0 };
            let (is_plain, is_wired) = (run.is_plain(), run.is_wired());
            logs.push(is_logged.then(|| ReplayLog { steps, judged: judged.clone(), is_plain, is_wired }));
            all.push(judged);
        }
        let place = |switch: &Switch| (switch.span, switch.source, switch.gate, switch.target);
        let switches = model.sts.switches.iter().map(place).collect();
        Ok((Self { meaning, switches, is_plain, logs }, all))
    }

    /// Returns the number of switches of the model.
    pub(crate) fn n_switches(&self) -> usize {
        self.switches.len()
    }

    /// Returns the places at which `model` differs, whose texts `edits` made out of those of the base; `None` if
    /// replays cannot be shared with it.
    pub(crate) fn changes(&self, model: &mut Model, edits: &[TextEdit]) -> Option<Vec<ChangedPlace>> {
        if !self.is_plain {
            return None;
        }
        self.find_changed_places(&model.sts, edits)
            .or_else(|| self.meaning.changes_to(&ModelMeaning::new(model)))
    }

    /// Returns the places of the switches that only the model or the base has; `None` if the edits touch more than
    /// transitions.
    fn find_changed_places(&self, sts: &Sts, edits: &[TextEdit]) -> Option<Vec<ChangedPlace>> {
        let moves = TextMoves::new(edits);
        let mut is_explained = vec![false; moves.edits.len()];
        // The switches of the model that no edit touches, by the place that they had.
        let mut untouched: FxHashMap<SwitchSite, usize> = FxHashMap::default();
        let mut places: Vec<ChangedPlace> = Vec::new();
        for switch in sts.switches.iter() {
            match moves.place_before(switch.span, &mut is_explained) {
                Some(span) => {
                    *untouched.entry((span, switch.source, switch.gate, switch.target)).or_insert(0) += 1
                }
                None => places.push((switch.source, switch.gate)),
            }
        }
        for &(span, source, gate, target) in &self.switches {
            let is_touched = moves.touches(span, &mut is_explained);
            let same =
                untouched.get_mut(&(span, source, gate, target)).filter(|count| !is_touched && **count > 0);
            match same {
                Some(count) => *count -= 1,
                None => places.push((source, gate)),
            }
        }
        // What has no counterpart is new, wherever it came from.
        let new = untouched.iter().filter(|(_, count)| **count > 0);
        places.extend(new.map(|((_, source, gate, _), _)| (*source, *gate)));
        is_explained.into_iter().all(|it| it).then_some(places)
    }

    /// Judges run number `at` by a model that differs from the base at `changes`.
    pub(crate) fn judge_edited(
        &self,
        model: &mut Model,
        solver: &mut dyn Solver,
        (at, run): (usize, &DecodedRun<'_>),
        changes: Option<&[ChangedPlace]>,
        halt: &Halt,
    ) -> Result<RunJudgement, RepairError> {
        let (Some(log), Some(changes)) = (&self.logs[at], changes) else {
            let goes_on = &mut |_: &mut Ctx<'_>, _: &Monitor, _: &Label, _: usize| ControlFlow::Continue(());
            return judge_with(model, solver, (run, halt), None, goes_on);
        };
        let mut replayed = 0;
        let mut affected = log.next_affected(&model.sts, run.labels(), changes, 0);
        while let Some(from) = affected {
            let mut rejoined = None;
            let judged =
                judge_with(model, solver, (run, halt), log.start_at(from), &mut |cx, monitor, _, at| {
                    if at <= from || !log.has_states_of(monitor, at) {
                        return ControlFlow::Continue(());
                    }
                    // Up to the next label that the edit has a part in, both models have the same states again.
                    match log.next_affected(cx.sts, run.labels(), changes, at) {
                        Some(next) if next == at => ControlFlow::Continue(()),
                        next => {
                            rejoined = Some(next);
                            ControlFlow::Break(())
                        }
                    }
                })?;
            replayed += judged.replayed;
            let Some(next) = rejoined else {
                // A replay from `from` on does not see what the model left open before.
                let earlier = log.judged.unspecified_at.filter(|&at| at <= from);
                let unspecified_at = earlier.or(judged.unspecified_at);
                return Ok(RunJudgement { unspecified_at, replayed, ..judged });
            };
            affected = next;
        }
        Ok(RunJudgement { replayed, ..log.judged.clone() })
    }
}

impl LoggedStep {
    fn new(monitor: &Monitor) -> Self {
        let places = match monitor.belief() {
            Belief::Concrete(states) if states.len() <= MAX_STATES => {
                let mut places: Vec<LocId> = states.iter().map(|state| state.loc).collect();
                places.dedup();
                Some(places)
            }
            Belief::Unspecified => None,
            Belief::Concrete(_) | Belief::Symbolic(_) => return Self::Unsettled,
        };
        if !is_settled(monitor) {
            return Self::Unsettled;
        }
        Self::Settled { monitor: Box::new(monitor.clone()), places }
    }

    fn is_settled(&self) -> bool {
        matches!(self, Self::Settled { .. })
    }
}

/// Returns whether nothing waits, and nothing is in doubt: the states say all there is to know.
fn is_settled(monitor: &Monitor) -> bool {
    monitor.count_orders() == 1
        && monitor.under_way() == 0
        && !monitor.is_unexplained()
        && monitor.lost_states().is_none()
        && monitor.count_doubts() == 0
}

impl ReplayLog {
    /// Returns the monitor before the label at `from`, and its position; `None` for the start of the run.
    fn start_at(&self, from: usize) -> Option<(Monitor, usize)> {
        // The monitor comes from another pool than that of the edited model. It can be used there because a
        // logged belief is concrete (or open): it holds values and no terms.
        let start = match &self.steps[from] {
            LoggedStep::Settled { monitor, .. } if from > 0 => Some(((**monitor).clone(), from)),
            LoggedStep::Settled { .. } | LoggedStep::Unsettled => None,
        };
        debug_assert_eq!(start.is_some(), from > 0, "replays begin at settled steps");
        start
    }

    /// Returns whether a monitor of another model has the states before the label at `at` that this one had.
    fn has_states_of(&self, monitor: &Monitor, at: usize) -> bool {
        match self.steps.get(at) {
            Some(LoggedStep::Settled { monitor: known, places: Some(_) }) => {
                is_settled(monitor) && monitor.belief() == known.belief()
            }
            Some(LoggedStep::Settled { places: None, .. } | LoggedStep::Unsettled) | None => false,
        }
    }

    /// Returns the position of the last settled step from `start` on before anything may differ, where a replay can
    /// begin; `None` if nothing differs. Both models have the same states at `start`, which is settled.
    fn next_affected(
        &self,
        sts: &Sts,
        labels: &[Label],
        changes: &[ChangedPlace],
        start: usize,
    ) -> Option<usize> {
        let mut settled = start;
        for (at, step) in self.steps.iter().enumerate().skip(start) {
            let settled_before = settled;
            let places = match step {
                LoggedStep::Settled { places, .. } => {
                    settled = at;
                    // Where everything is allowed, it stays so.
                    let Some(places) = places else { continue };
                    // A label that waits happens later, in states that are not known here.
                    let happens_here =
                        self.is_plain || self.steps.get(at + 1).is_some_and(LoggedStep::is_settled);
                    happens_here.then_some(places)
                }
                LoggedStep::Unsettled => None,
            };
            for (place, gate) in changes {
                if places.is_some_and(|places| !places.contains(place)) {
                    continue;
                }
                let kind = sts.gates[*gate].kind;
                let is_affected = match (&labels[at], kind) {
                    // The belief is closed under internal steps already: the label before led there.
                    (_, GateKind::Internal) => return Some(settled_before),
                    (Label::Input(seen, _) | Label::Output(seen, _), _) if seen == gate => true,
                    (Label::Quiescence, GateKind::Output) => true,
                    // Whether a message may have overtaken another depends on all that may be sent.
                    (_, GateKind::Output | GateKind::Observed) => self.is_wired,
                    _ => false,
                };
                if is_affected {
                    return Some(settled);
                }
            }
        }
        None
    }
}
