//! The reactions of a model from an input to silence, in terms.
//!
//! One [`ReactionPath`] per sequence of switches: the condition over variables and fields under which it is taken, the
//! outputs, and the variables afterwards. Fields of outputs that a guard fixes are replaced by their terms; the system
//! is free to choose the others.

use ioxide_model::sts::{GateId, GateKind, LocId, Switch, SwitchId};
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::{Ctx, Store, quiescence_condition};

use super::NoAbstraction;

/// An output in terms; a field that the system may choose is a variable of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutputTerms {
    /// The gate.
    pub gate: GateId,
    /// One term per field.
    pub values: Vec<Term>,
    /// True if the system is free to choose the value of a field.
    pub is_loose: bool,
}

/// A sequence of switches from an input to silence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReactionPath {
    /// The switches, the input first.
    pub switches: Vec<SwitchId>,
    /// The condition on the variables and the fields of the input under which the path is taken.
    pub when: Term,
    /// The outputs, in order.
    pub outputs: Vec<OutputTerms>,
    /// The variables afterwards, in terms over those before and the fields of the input.
    pub store: Store,
    /// The location in which the model is silent.
    pub loc: LocId,
}

/// A reaction path under construction.
#[derive(Clone)]
struct ReactionWalk {
    loc: LocId,
    facts: Vec<Term>,
    store: Store,
    outputs: Vec<OutputTerms>,
    switches: Vec<SwitchId>,
    /// The variables for the fields that the system chooses, each with the switch of its message.
    loose: Vec<(VarId, SwitchId)>,
}

/// Returns the paths that begin with the input switch `id` where `context` holds, each of at most `limit` switches.
///
/// # Errors
/// If a path is longer, a variable keeps a value that the system chose, or the solver does not decide.
pub fn paths_after(
    cx: &mut Ctx<'_>,
    context: &[Term],
    id: SwitchId,
    limit: usize,
) -> Result<Vec<ReactionPath>, NoAbstraction> {
    let sts = cx.sts;
    let switch = &sts.switches[id];
    // The fields of the input stand for themselves, as the variables do: the classes of inputs are split by them.
    let before = Store::identity(cx.pool, sts);
    let names = before.substitution(sts);
    let walk = ReactionWalk {
        loc: switch.target,
        facts: cx.pool.conjuncts(switch.guard),
        store: before.after_switch(cx.pool, sts, switch, &names),
        outputs: Vec::new(),
        switches: vec![id],
        loose: Vec::new(),
    };
    let mut search = PathSearch { context, limit, found: Vec::new() };
    if search.is_possible(cx, &walk.facts, &switch.label)? {
        search.extend_walk(cx, &walk)?;
    }
    Ok(search.found)
}

/// Returns the paths from the initial state to the first silence.
///
/// # Errors
/// If a path is longer than `limit`, a variable keeps a value that the system chose, or the solver does not decide.
pub fn paths_at_start(cx: &mut Ctx<'_>, limit: usize) -> Result<Vec<ReactionPath>, NoAbstraction> {
    let sts = cx.sts;
    let (store, unknown) = Store::initial(cx.pool, sts, 0);
    debug_assert!(unknown.is_empty(), "models with unknown initial values are refused before this");
    let walk = ReactionWalk {
        loc: sts.initial,
        facts: Vec::new(),
        store,
        outputs: Vec::new(),
        switches: Vec::new(),
        loose: Vec::new(),
    };
    let mut search = PathSearch { context: &[], limit, found: Vec::new() };
    search.extend_walk(cx, &walk)?;
    Ok(search.found)
}

struct PathSearch<'c> {
    context: &'c [Term],
    limit: usize,
    found: Vec<ReactionPath>,
}

impl PathSearch<'_> {
    /// Ends `walk` where it can be silent, and extends it where the model can send an output or take an internal step.
    fn extend_walk(&mut self, cx: &mut Ctx<'_>, walk: &ReactionWalk) -> Result<(), NoAbstraction> {
        if let Some(halted) = cx.halt_reason() {
            return Err(NoAbstraction::Halted(halted));
        }
        let location = || cx.sts.locations[walk.loc].name.to_string();
        // A loop of outputs or internal steps has no end; the limit stands in for proving that.
        if walk.switches.len() > self.limit {
            return Err(NoAbstraction::EndlessReactions { location: location(), limit: self.limit });
        }
        let location = location();
        let silent = quiescence_condition(cx, walk.loc);
        let names = walk.store.substitution(cx.sts);
        // The store has terms over the input, so the condition of silence becomes one on the input.
        let silent = cx.pool.substitute(silent, &names);
        let mut facts = walk.facts.clone();
        facts.extend(cx.pool.conjuncts(silent));
        // Both may be possible, for different inputs: the walk ends here and goes on below.
        if self.is_possible(cx, &facts, &location)? {
            self.end_walk(cx, walk, facts)?;
        }
        let sts = cx.sts;
        for (id, switch) in sts.switches_from(walk.loc) {
            if matches!(sts.kind_of(switch), GateKind::Output | GateKind::Internal) {
                self.go_on(cx, walk, id, switch)?;
            }
        }
        Ok(())
    }

    fn end_walk(
        &mut self,
        cx: &mut Ctx<'_>,
        walk: &ReactionWalk,
        facts: Vec<Term>,
    ) -> Result<(), NoAbstraction> {
        // A value the system chose freely must not be stored: what follows would depend on an invisible choice.
        let is_kept = |var: VarId| walk.store.terms().iter().any(|&term| cx.pool.mentions(term, var));
        if let Some(&(_, id)) = walk.loose.iter().find(|(var, _)| is_kept(*var)) {
            let switch = cx.sts.switches[id].label.to_string();
            return Err(NoAbstraction::ChoiceKept { switch });
        }
        let loose: Vec<VarId> = walk.loose.iter().map(|(var, _)| *var).collect();
        let all = cx.pool.and(facts);
        self.found.push(ReactionPath {
            switches: walk.switches.clone(),
            // The choice does not matter after the path, so it only has to exist.
            when: cx.pool.exists(&loose, all),
            outputs: walk.outputs.clone(),
            store: walk.store.clone(),
            loc: walk.loc,
        });
        Ok(())
    }

    fn go_on(
        &mut self,
        cx: &mut Ctx<'_>,
        walk: &ReactionWalk,
        id: SwitchId,
        switch: &Switch,
    ) -> Result<(), NoAbstraction> {
        let mut next = walk.clone();
        next.switches.push(id);
        next.loc = switch.target;
        let message = OutputFields::new(cx, walk, switch);
        // Checked before the update is computed: most walks are refuted here.
        next.facts.extend(cx.pool.conjuncts(message.guard));
        if !self.is_possible(cx, &next.facts, &switch.label)? {
            return Ok(());
        }
        next.store = walk.store.after_switch(cx.pool, cx.sts, switch, &message.names);
        next.loose.extend(message.loose.iter().map(|&var| (var, id)));
        if cx.sts.kind_of(switch) == GateKind::Output {
            let is_loose = !message.loose.is_empty();
            next.outputs.push(OutputTerms { gate: switch.gate, values: message.values, is_loose });
        }
        self.extend_walk(cx, &next)
    }

    fn is_possible(&self, cx: &mut Ctx<'_>, facts: &[Term], what: &str) -> Result<bool, NoAbstraction> {
        let all: Vec<Term> = self.context.iter().chain(facts).copied().collect();
        match cx.decide(&all) {
            SolverDecision::Sat => Ok(true),
            SolverDecision::Unsat => Ok(false),
            SolverDecision::Unknown(_) => Err(NoAbstraction::Undecided { what: what.to_owned() }),
        }
    }
}

/// The fields of an output: terms for those that its guard fixes, variables for the others.
struct OutputFields {
    guard: Term,
    values: Vec<Term>,
    loose: Vec<VarId>,
    names: Substitution,
}

impl OutputFields {
    /// Solves the guard of `switch`, which sends the next output of `walk`, for the fields of its message.
    fn new(cx: &mut Ctx<'_>, walk: &ReactionWalk, switch: &Switch) -> Self {
        let sts = cx.sts;
        let fields = &sts.gates[switch.gate].fields;
        let number = u32::try_from(walk.switches.len()).unwrap_or(u32::MAX);
        let mut names = walk.store.substitution(sts);
        let mut vars = Vec::new();
        for &field in fields {
            let var = cx.pool.indexed_var(field, number);
            names.set(field, cx.pool.var(var));
            vars.push(var);
        }
        let mut guard = cx.pool.substitute(switch.guard, &names);
        let mut values: Vec<Term> = vars.iter().map(|&var| cx.pool.var(var)).collect();
        let mut loose = Vec::new();
        for &var in &vars {
            // A field that the guard equates with a term is that term; the others are loose. One at a time, as one
            // solution may contain the next field.
            let fixed = cx.pool.conjuncts(guard).into_iter().find_map(|fact| cx.pool.solved_for(var, fact));
            let Some(term) = fixed else {
                loose.push(var);
                continue;
            };
            let fix = Substitution::from_iter([(var, term)]);
            guard = cx.pool.substitute(guard, &fix);
            // The range of the field now restricts the term that stands for it.
            let in_sort = cx.pool.domain_fact(cx.pool.var_info(var).sort, term);
            guard = cx.pool.and([guard, in_sort]);
            values = values.into_iter().map(|value| cx.pool.substitute(value, &fix)).collect();
        }
        fields.iter().zip(&values).for_each(|(&field, &value)| names.set(field, value));
        Self { guard, values, loose, names }
    }
}
