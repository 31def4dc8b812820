//! Statements to steps: every name and type is checked once, however many paths lead through.

use std::rc::Rc;

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::sort::{CollectionKind, Sort};
use ioxide_model::source::Span;
use ioxide_model::term::{Term, TermOp, VarId};

use super::super::{LocalName, Lowering};
use super::path::{ActionBranch, ActionPathStep};
use crate::ast::{Expr, Name};
use crate::import::action::tree::{
    BlockName, ChoiceBranch, Condition, LoopRange, Statement, StatementBlock, StatementKind,
};
use crate::sink::Reported;
use crate::typeck::{BoundName, ExprContext, GateItem, SortRole};

/// The greatest number of rounds of a loop over numbers. Loops are written out, so each round is a copy of the body.
/// Chosen by feel.
const MAX_ROUNDS: i64 = 1_000;

/// The parameters in scope.
type ParamScope<'m> = Option<&'m Rc<GateItem>>;

/// A checked condition: the formula, the formula under which it can be evaluated, and the values that its patterns
/// bind.
struct CheckedCondition {
    holds: Term,
    fits: Term,
    named: Vec<(VarId, Term)>,
    place: Span,
}

impl CheckedCondition {
    /// The steps of a path on which it holds.
    fn steps_if_true(self) -> [ActionPathStep; 3] {
        [
            ActionPathStep::Require(self.holds),
            ActionPathStep::Fit(self.fits),
            ActionPathStep::Assign(self.named, self.place),
        ]
    }
}

impl<'a> Lowering<'a, '_> {
    /// Returns the steps of `block`, whose names go out of scope. All its errors are reported.
    pub(super) fn block(
        &mut self,
        block: &'a StatementBlock,
        message: ParamScope<'_>,
    ) -> Result<Vec<ActionPathStep>, Reported> {
        let scope = self.scope();
        // Every statement is checked before the first error leaves, and names go out of scope in any case.
        let steps: Vec<_> =
            block.statements.iter().map(|statement| self.lower_statement(statement, message)).collect();
        self.leave_scope(scope);
        let steps = steps.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(steps.into_iter().flatten().collect())
    }

    /// Returns the numbers of names in scope; [`leave`](Self::leave) drops those declared since.
    fn scope(&self) -> (usize, usize) {
        (self.cx.bound.len(), self.locals.len())
    }

    /// Leaves a block: names that were bound since `(bound, locals)` are forgotten.
    fn leave_scope(&mut self, (bound, locals): (usize, usize)) {
        self.cx.bound.truncate(bound);
        self.locals.truncate(locals);
    }

    /// Checks a statement and returns it as steps of paths.
    fn lower_statement(
        &mut self,
        statement: &'a Statement,
        message: ParamScope<'_>,
    ) -> Result<Vec<ActionPathStep>, Reported> {
        let place = statement.span;
        match &statement.kind {
            StatementKind::Assign(updates) => {
                let (to, _, fits) = self.check_updates(updates, message.cloned())?;
                Ok(fits
                    .map(ActionPathStep::Fit)
                    .into_iter()
                    .chain([ActionPathStep::Assign(to, place)])
                    .collect())
            }
            StatementKind::Choice(branches) => {
                let ways: Vec<_> = branches.iter().map(|branch| self.lower_branch(branch, message)).collect();
                Ok(vec![ActionPathStep::Choose(ways.into_iter().collect::<Result<_, _>>()?, place)])
            }
            StatementKind::If(arms, otherwise) => self.conditional(arms, otherwise.as_ref(), message, place),
            StatementKind::Local(local) => self.declare_local(local, message, place),
            StatementKind::For(name, range, body) => {
                // The range is read before the loop variable is in scope.
                let over = self.range(range, message);
                let scope = self.scope();
                let sort = over.as_ref().map_or(Sort::Int, |(_, sort, _)| *sort);
                // One variable for all rounds: the walk through the paths gives it the next item in each.
                let var = self.name_local(name, sort, false, message);
                let body = self.block(body, message);
                self.leave_scope(scope);
                let ((items, _, fits), var, body) = (over?, var?, body?);
                Ok(vec![fits, ActionPathStep::Each { var, items, body, place }])
            }
        }
    }

    /// Checks a branch of a choice: its condition and its body.
    fn lower_branch(
        &mut self,
        branch: &'a ChoiceBranch,
        message: ParamScope<'_>,
    ) -> Result<ActionBranch, Reported> {
        let name = branch.name.as_ref().map(|name| name.text.clone());
        let scope = self.scope();
        let asked = branch.when.as_ref().map(|when| self.check_condition(when, message)).transpose();
        let body = self.block(&branch.body, message);
        self.leave_scope(scope);
        let taken = asked?.map(CheckedCondition::steps_if_true);
        Ok(ActionBranch { name, steps: taken.into_iter().flatten().chain(body?).collect() })
    }

    /// Returns the steps of a conditional: each arm if its condition is the first to hold, the last block if none does.
    fn conditional(
        &mut self,
        arms: &'a [(Condition, StatementBlock)],
        otherwise: Option<&'a StatementBlock>,
        message: ParamScope<'_>,
        place: Span,
    ) -> Result<Vec<ActionPathStep>, Reported> {
        let (mut ways, mut not_yet): (Vec<ActionBranch>, Vec<ActionPathStep>) = (Vec::new(), Vec::new());
        let mut complete = Ok(());
        for (condition, body) in arms {
            let scope = self.scope();
            let asked = self.check_condition(condition, message);
            let body = self.block(body, message);
            self.leave_scope(scope);
            let (asked, body) = match asked.and_then(|asked| Ok((asked, body?))) {
                Ok(both) => both,
                Err(why) => {
                    complete = Err(why);
                    continue;
                }
            };
            // The next arms are tried where this condition could be evaluated and failed. So what it needs to
            // be defined is demanded there too, and nowhere else.
            let (fails, fits) = (self.cx.pool.not(asked.holds), asked.fits);
            let steps = not_yet.iter().cloned().chain(asked.steps_if_true()).chain(body).collect();
            ways.push(ActionBranch { name: None, steps });
            not_yet.extend([ActionPathStep::Require(fails), ActionPathStep::Fit(fits)]);
        }
        let last = match otherwise {
            Some(block) => self.block(block, message),
            None => Ok(Vec::new()),
        };
        ways.push(ActionBranch { name: None, steps: not_yet.into_iter().chain(last?).collect() });
        complete.map(|()| vec![ActionPathStep::Choose(ways, place)])
    }

    /// Checks a condition; the names of its patterns stay bound.
    fn check_condition(
        &mut self,
        condition: &'a Condition,
        message: ParamScope<'_>,
    ) -> Result<CheckedCondition, Reported> {
        let before = self.cx.bound.len();
        let (lets, first) =
            self.cx.check_at(ExprContext::Guard, message.cloned(), |cx| cx.check_lets(&condition.lets));
        let (guard, then) =
            self.cx.check_at(ExprContext::Guard, message.cloned(), |cx| match &condition.guard {
                Some(guard) => cx.check(guard, Sort::Bool, SortRole::Guard),
                None => Ok(cx.pool.tt()),
            });
        let named = self.keep_names(before);
        let (lets, guard) = (lets?, guard?);
        let pool = &mut self.cx.pool;
        let (found, then) = (pool.and(lets), pool.and(then));
        // The rest of the condition is asked only where the patterns fit.
        let (holds, then) = (pool.and([found, guard]), pool.implies(found, then));
        let fits = pool.and(first.into_iter().chain([then]));
        Ok(CheckedCondition { holds, fits, named, place: condition.span })
    }

    /// Stores the values of the names that patterns bound since `before` in variables of their own, so that later
    /// assignments do not change them.
    pub(super) fn keep_names(&mut self, before: usize) -> Vec<(VarId, Term)> {
        let mut named = Vec::new();
        for at in before..self.cx.bound.len() {
            let BoundName { name, term, .. } = self.cx.bound[at].clone();
            let var = self.cx.pool.declare(&name, self.cx.pool.sort(term));
            // The name stands for a variable that is assigned once. A term would be read again later, after
            // what is in it has changed.
            self.cx.bound[at].term = self.cx.pool.var(var);
            self.locals.push(LocalName { name, var: None });
            named.push((var, term));
        }
        named
    }

    /// `let x = e` or `var x := e`.
    fn declare_local(
        &mut self,
        local: &'a BlockName,
        message: ParamScope<'_>,
        place: Span,
    ) -> Result<Vec<ActionPathStep>, Reported> {
        let BlockName { name, ty, value, is_variable } = local;
        let sort = ty.as_ref().map(|ty| self.cx.resolve_sort(ty)).transpose();
        let (term, fits) = self.cx.check_at(ExprContext::Update, message.cloned(), |cx| match sort? {
            Some(sort) => cx.check(value, sort, SortRole::Variable(&name.text)),
            None => cx.infer(value, None),
        });
        let (sort, term) = match sort.and_then(|sort| Ok((sort, term?))) {
            Ok(both) => both,
            Err(why) => {
                // Whatever reads it is not to blame.
                self.cx.sink.excuse(&name.text, why);
                return Err(why);
            }
        };
        let sort = sort.unwrap_or_else(|| match (self.cx.pool.sort(term), is_variable) {
            // What it may become does not follow from its first value.
            (sort, true) => sort.base(),
            (sort, false) => sort,
        });
        let var = self.name_local(name, sort, *is_variable, message)?;
        let fits = self.cx.pool.and(fits);
        Ok(vec![ActionPathStep::Fit(fits), ActionPathStep::Assign(vec![(var, term)], place)])
    }

    /// Declares a new name, which must not stand for anything else.
    fn name_local(
        &mut self,
        name: &'a Name,
        sort: Sort,
        is_variable: bool,
        message: ParamScope<'_>,
    ) -> Result<VarId, Reported> {
        let is_local = self.cx.bound.iter().any(|bound| bound.name == name.text);
        let known = self.cx.values.get(&name.text).map(|entry| entry.span);
        let field = message.and_then(|message| message.fields.get(&name.text));
        let known = known.or(field.map(|field| field.span));
        // Hiding is an error here, not a warning: statements assign by name.
        if is_local || known.is_some() {
            return Err(self.cx.sink.error(|| {
                let message = format!("`{}` already has another meaning", name.text);
                let finding =
                    Diagnostic::new(Code::DuplicateName, name.span, message).help("pick another name");
                known.into_iter().fold(finding, |finding, place| finding.label(place, "declared here"))
            }));
        }
        let var = self.cx.pool.declare(&name.text, sort);
        let term = self.cx.pool.var(var);
        self.cx.bound.push(BoundName { name: name.text.clone(), term, part_of: None });
        self.locals.push(LocalName { name: name.text.clone(), var: is_variable.then_some(var) });
        Ok(var)
    }

    /// Reports that `name` cannot be assigned.
    pub(in super::super) fn unchangeable(&mut self, name: &Name) -> Reported {
        self.cx.sink.error(|| {
            let message = format!("`{}` is a name for a value and cannot be assigned", name.text);
            Diagnostic::new(Code::NotAssignable, name.span, message)
                .help(format!("declare a variable of the block: `var {} := ...`", name.text))
        })
    }

    /// Returns the items that a loop ranges over as a list, their sort, and the step that they can be evaluated.
    fn range(
        &mut self,
        range: &'a LoopRange,
        message: ParamScope<'_>,
    ) -> Result<(Term, Sort, ActionPathStep), Reported> {
        match range {
            LoopRange::Numbers(lo, hi) => self.number_list(lo, hi),
            LoopRange::Items(of) => {
                let (term, fits) =
                    self.cx.check_at(ExprContext::Update, message.cloned(), |cx| cx.infer(of, None));
                let (items, sort) = self.members_of(term?, of.span)?;
                let fits = self.cx.pool.and(fits);
                Ok((items, sort, ActionPathStep::Fit(fits)))
            }
        }
    }

    /// Returns the numbers from `lo` to `hi` as a list, for a loop over them, with the sort of the loop variable.
    fn number_list(&mut self, lo: &'a Expr, hi: &'a Expr) -> Result<(Term, Sort, ActionPathStep), Reported> {
        let (bounds, _) =
            self.cx.check_at(ExprContext::Constant, None, |cx| (cx.bound_value(lo), cx.bound_value(hi)));
        let (first, last) = (bounds.0?, bounds.1?);
        if last.saturating_sub(first) >= MAX_ROUNDS {
            return Err(self.cx.sink.error(|| {
                let message = format!("the loop goes round more than {MAX_ROUNDS} times");
                Diagnostic::new(Code::TooManyPaths, lo.span.to(hi.span), message)
            }));
        }
        let numbers: Vec<Term> = (first..=last).map(|n| self.cx.pool.int(n)).collect();
        let id = self.cx.pool.list_of(Sort::Int);
        let sort = if first <= last { Sort::Range { lo: first, hi: last } } else { Sort::Int };
        let always = ActionPathStep::Fit(self.cx.pool.tt());
        Ok((self.cx.pool.list(id, numbers), sort, always))
    }

    /// The members of a collection as a list, with their sort.
    fn members_of(&mut self, term: Term, span: Span) -> Result<(Term, Sort), Reported> {
        let sort = self.cx.pool.sort(term);
        let Some(of) = self.cx.pool.collection_of(sort) else {
            let shown = self.cx.pool.show_sort(sort.base());
            return Err(self.cx.sink.error(|| {
                let message = format!("a loop goes over a list, a set or a map, this is {shown}");
                Diagnostic::new(Code::TypeMismatch, span, message).help("numbers are `for i in 1..3 { ... }`")
            }));
        };
        if of.kind == CollectionKind::List {
            return Ok((term, of.item));
        }
        Ok((self.cx.pool.operate(TermOp::Keys, vec![term]), of.member()))
    }
}
