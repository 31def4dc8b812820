//! Replays that begin where an edit can first be seen.
//!
//! An edited model differs from its base in some switches. Up to the first label that one of them has a part in, both
//! have the same belief, so that a replay takes it over from a log of the base. A run in which no such switch has a
//! part is judged as before, without a replay.
//!
//! The switches that differ are those of the transitions that the edits touch, known by their places in the texts. Only
//! an edit elsewhere, such as of a function, may change any switch; then the models are compared as texts, which takes
//! longer than compiling one.

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
    steps: Vec<LoggedStep>,
    judged: RunJudgement,
}

#[derive(Debug)]
struct LoggedStep {
    monitor: Monitor,
    /// The locations of the belief; `None` if it allows everything.
    places: Option<Vec<LocId>>,
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
            let mut is_logged = is_plain && run.is_plain();
            let judged = judge_with(model, solver, (run, halt), None, &mut |cx, monitor, label, at| {
                samples.note(cx, monitor, label, at);
                is_logged &= steps.len() < room;
                match LoggedStep::new(monitor) {
                    Some(step) if is_logged => steps.push(step),
                    _ => is_logged = false,
                }
            })?;
            samples.end_run(&judged, run.labels().len());
            // An unknown judgement is not taken over for edits that the run does not touch: they get their
            // own time for it.
            is_logged &= !judged.is_unknown;
            room -= if is_logged { steps.len() } else { 0 };
            logs.push(is_logged.then(|| ReplayLog { steps, judged: judged.clone() }));
            all.push(judged);
        }
        let place = |switch: &Switch| (switch.span, switch.source, switch.gate, switch.target);
        let switches = model.sts.switches.iter().map(place).collect();
        Ok((Self { meaning, switches, is_plain, logs }, all))
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
        let ignore = &mut |_: &mut Ctx<'_>, _: &Monitor, _: &Label, _: usize| ();
        let (Some(log), Some(changes)) = (&self.logs[at], changes) else {
            return judge_with(model, solver, (run, halt), None, ignore);
        };
        let Some(from) = log.first_affected(&model.sts, run.labels(), changes) else {
            return Ok(RunJudgement { replayed: 0, ..log.judged.clone() });
        };
        // The monitor comes from another pool than that of the edited model. It can be used here because a
        // logged belief is concrete (or open): it holds values and no terms.
        let start = (log.steps[from].monitor.clone(), from);
        let judged = judge_with(model, solver, (run, halt), (from > 0).then_some(start), ignore)?;
        // A replay from `from` on does not see what the model left open before.
        let earlier = log.judged.unspecified_at.filter(|&at| at <= from);
        Ok(RunJudgement { unspecified_at: earlier.or(judged.unspecified_at), ..judged })
    }
}

impl LoggedStep {
    /// Returns the step; `None` if more is under way than a belief says, or the belief is large.
    fn new(monitor: &Monitor) -> Option<Self> {
        let is_settled = monitor.count_orders() == 1
            && monitor.under_way() == 0
            && monitor.lost_states().is_none()
            && monitor.count_doubts() == 0;
        let places = match monitor.belief() {
            Belief::Concrete(states) if states.len() <= MAX_STATES => {
                let mut places: Vec<LocId> = states.iter().map(|state| state.loc).collect();
                places.dedup();
                Some(places)
            }
            Belief::Unspecified => None,
            Belief::Concrete(_) | Belief::Symbolic(_) => return None,
        };
        is_settled.then(|| Self { monitor: monitor.clone(), places })
    }
}

impl ReplayLog {
    /// Returns the position of the first label from which on a replay may differ; `None` if none does.
    fn first_affected(&self, sts: &Sts, labels: &[Label], changes: &[ChangedPlace]) -> Option<usize> {
        for (at, step) in self.steps.iter().enumerate() {
            // Where everything is allowed, it stays so.
            let Some(places) = &step.places else { continue };
            for (place, gate) in changes {
                if !places.contains(place) {
                    continue;
                }
                let kind = sts.gates[*gate].kind;
                match (&labels[at], kind) {
                    // The belief is closed under internal steps already: the label before led there.
                    (_, GateKind::Internal) => return Some(at.saturating_sub(1)),
                    (Label::Input(seen, _) | Label::Output(seen, _), _) if seen == gate => return Some(at),
                    (Label::Quiescence, GateKind::Output) => return Some(at),
                    _ => (),
                }
            }
        }
        None
    }
}
