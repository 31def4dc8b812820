//! Typing of what only properties can say: the place of a state, `at(busy)`, and values after the next transition,
//! `next(x)`.
//!
//! Both become variables of the goal, which the engines replace: by a constant in every location, and by the value that
//! a transition assigns.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::sort::Sort;
use ioxide_model::term::{Substitution, Term, VarId};

use super::{Checker, ExprContext, ValueItem};
use crate::ast::{ArgExpr, Expr, ExprKind, Name};
use crate::sink::Reported;

impl Checker<'_, '_> {
    /// Types `at(state)` and `next(value)` in a property; `None` for other calls.
    pub(super) fn check_frame_call(
        &mut self,
        name: &Name,
        args: &[ArgExpr],
    ) -> Option<Result<Term, Reported>> {
        if self.place != ExprContext::Property || !matches!(name.text.as_str(), "at" | "next") {
            return None;
        }
        let [ArgExpr { name: None, value }] = args else {
            return Some(Err(self.sink.error(|| {
                let message = format!("`{}` takes one argument", name.text);
                Diagnostic::new(Code::ArgumentCount, name.span, message)
                    .help("write `at(busy)` for a state, `next(x)` for a value after the next transition")
            })));
        };
        Some(if name.text == "at" { self.check_at_state(value) } else { self.check_next(name, value) })
    }

    fn check_at_state(&mut self, state: &Expr) -> Result<Term, Reported> {
        let ExprKind::Name(text) = &state.kind else {
            return Err(self.sink.error(|| {
                Diagnostic::new(Code::UnknownState, state.span, "`at` needs the name of a state")
                    .help("write `at(busy)`; in a system, `server.at(busy)`")
            }));
        };
        let name = Name { text: text.clone(), span: state.span };
        let Some(loc) = self.states.get(text).map(|entry| entry.item) else {
            return Err(self.states.report_unknown(self.sink, Code::UnknownState, &name));
        };
        let known = self.frame.places.iter().find(|(_, at)| *at == loc).map(|(var, _)| *var);
        let var = known.unwrap_or_else(|| {
            let var = self.pool.declare(&format!("at({text})"), Sort::Bool);
            self.frame.places.push((var, loc));
            var
        });
        Ok(self.pool.var(var))
    }

    /// Types `next(value)`: the value with the variables after the next transition.
    fn check_next(&mut self, name: &Name, value: &Expr) -> Result<Term, Reported> {
        let n_obligations = self.obligations.len();
        let term = self.infer(value, None)?;
        let later = self.later_variables(term, n_obligations);
        if self.frame.next.iter().any(|(later, _)| self.pool.mentions(term, *later)) {
            return Err(self.sink.error(|| {
                Diagnostic::new(Code::NotInScope, name.span, "`next` inside of `next`")
                    .help("a property speaks about a state and the one after it")
            }));
        }
        for at in n_obligations..self.obligations.len() {
            self.obligations[at] = self.pool.substitute(self.obligations[at], &later);
        }
        Ok(self.pool.substitute(term, &later))
    }

    /// Returns the substitution of the variables in `term`, and in the obligations from `n_obligations` on, by those
    /// for their values after the next transition.
    fn later_variables(&mut self, term: Term, n_obligations: usize) -> Substitution {
        let mut roots = self.obligations[n_obligations..].to_vec();
        roots.push(term);
        let mut state: Vec<VarId> = self.frame.places.iter().map(|(var, _)| *var).collect();
        let values = self.values.iter().filter_map(|(_, entry)| match entry.item {
            ValueItem::Var(var) => Some(var),
            _ => None,
        });
        state.extend(values);
        for part in self.parts.iter() {
            state.extend(part.control);
            state.extend(part.vars.iter().map(|(_, var)| *var));
        }
        let mut later = Substitution::new();
        for var in self.pool.free_vars_of(&roots) {
            if !state.contains(&var) {
                continue;
            }
            let known = self.frame.next.iter().find(|(_, before)| *before == var).map(|(next, _)| *next);
            let next = known.unwrap_or_else(|| {
                let info = self.pool.var_info(var).clone();
                let next = self.pool.declare(&format!("next({})", info.name), info.sort);
                self.frame.next.push((next, var));
                next
            });
            let next = self.pool.var(next);
            later.set(var, next);
        }
        later
    }
}
