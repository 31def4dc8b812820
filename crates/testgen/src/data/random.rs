//! Random values: of a sort, near values of interest, in random patterns of equality.

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use ioxide_model::number::Rational;
use ioxide_model::sort::{DataId, Sort};
use ioxide_model::term::{RegexId, Term, TermNode, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::{DataValue, Value};

use super::hints::{Hints, ValueWeights, constants, is_comparison, is_wide};
use super::inner_texts::{TextInside, TextLength};
use super::keys::FieldKeys;
use super::members::DemandedMember;
use super::{ValueRequest, collection, edge, number, text};

/// The depth to which values of recursive types are nested. Chosen by feel: deep enough for a list of pairs of lists;
/// values grow exponentially with it.
const MAX_DEPTH: u32 = 4;

/// The number of draws of a value that is unlike everything known. Chosen by feel: a small range may have no value
/// that is unlike the known ones.
const MAX_TRIES: usize = 4;

/// The values to draw near to, and the weights of the kinds of values.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValuePalette<'p> {
    /// Values of the run, the latest last.
    recent: &'p [Value],
    /// Values of the state and constants of the guard.
    here: &'p [Value],
    /// Constants of the model.
    constants: &'p [Value],
    weights: ValueWeights,
}

/// The parts of a request that many draws share.
pub(super) struct ValueDraw<'w> {
    pub(super) wish: &'w ValueRequest<'w>,
    hints: &'w Hints<'w>,
    here: Vec<Value>,
    /// The patterns that the guard mentions for a field.
    patterns: Vec<(VarId, RegexId)>,
    /// The patterns that the guard mentions for texts inside a field.
    inside: Vec<TextInside>,
    /// The lengths that the guard allows for texts.
    lengths: Vec<TextLength>,
    /// The fields that the guard equates with terms over other fields, with those terms.
    equations: Vec<(VarId, Term)>,
    /// The comparisons to whose edges a field may be moved.
    atoms: Vec<Term>,
    /// The fields that are keys.
    keys: Vec<FieldKeys>,
    /// The members that the guard demands.
    members: Vec<DemandedMember>,
}

impl<'w> ValueDraw<'w> {
    /// Collects the constants of the guard and the values of the state, which all draws for the fields `open` share.
    pub(super) fn new(
        pool: &TermPool,
        open: &[VarId],
        request: &'w ValueRequest<'w>,
        hints: &'w Hints<'w>,
        members: Vec<DemandedMember>,
    ) -> Self {
        let mut here = constants(pool, &[request.guard]);
        // Parts too: what lies inside a collection or record is what a field is mostly compared with.
        for (_, value) in request.state.iter() {
            collection::with_parts(value, &mut here);
        }
        let mut draft = Self {
            wish: request,
            hints,
            here,
            patterns: Vec::new(),
            inside: Vec::new(),
            lengths: Vec::new(),
            equations: Vec::new(),
            atoms: hints.atoms.to_vec(),
            keys: FieldKeys::collect(pool, open, hints.keys, hints.used_keys, request.state),
            members,
        };
        for term in pool.subterms(&[request.guard], |term| !pool.is_ground(term)) {
            draft.read_term(pool, open, term);
        }
        // A text of a pattern has the lengths that the pattern says.
        let is_free = |length: &TextLength| {
            !draft.inside.iter().any(|text| length.is_of(text))
                && !draft.patterns.iter().any(|(field, _)| length.is_field(*field))
        };
        draft.lengths = TextLength::collect(pool, open, request.guard).into_iter().filter(is_free).collect();
        for conjunct in pool.conjuncts(request.guard) {
            draft.equations.extend(equation(pool, open, conjunct));
        }
        draft
    }

    /// Returns whether the guard equates a field with a term over other fields.
    pub(super) fn is_tied(&self) -> bool {
        !self.equations.is_empty()
    }

    /// Returns whether a field is a key.
    pub(super) fn has_keys(&self) -> bool {
        !self.keys.is_empty() || !self.members.is_empty()
    }

    fn read_term(&mut self, pool: &TermPool, open: &[VarId], term: Term) {
        if let TermNode::Matches(side, pattern) = *pool.node(term)
            && let TermNode::Var(var) = *pool.node(side)
            && open.contains(&var)
        {
            self.patterns.push((var, pattern));
        }
        self.inside.extend(TextInside::said_by(pool, open, term));
        if is_comparison(pool, term) && !self.atoms.contains(&term) {
            self.atoms.push(term);
        }
    }

    /// Returns `fixed` with a random value for every field of `open`.
    pub(super) fn draw(
        &self,
        pool: &TermPool,
        rng: &mut ChaCha8Rng,
        open: &[VarId],
        fixed: &Valuation,
    ) -> Valuation {
        let mut drawn = self.draw_grouped(pool, rng, open, fixed);
        // Now and then as it was drawn: the pattern need not be wanted.
        if !self.inside.is_empty() && !rng.random_ratio(1, 16) {
            self.inside.iter().for_each(|text| text.repair_texts(pool, rng, &mut drawn));
        }
        if !self.lengths.is_empty() && !rng.random_ratio(1, 16) {
            self.lengths.iter().for_each(|length| length.repair_texts(rng, &mut drawn));
        }
        if rng.random_range(0..100) < self.hints.weights.onto_edges
            && let Some(&atom) = self.atoms.choose(rng)
            && let Some(moved) = edge::move_to_edge(pool, rng, atom, open, &drawn, self.wish.state)
        {
            drawn = moved;
        }
        // Last, as the guard demands them: every other change before could break an equation.
        for &(field, term) in &self.equations {
            if let Ok(value) = pool.eval(term, &(&drawn, self.wish.state)) {
                drawn.set(field, value);
            }
        }
        drawn
    }

    /// Draws values for fields of one sort in random groups, equal within a group.
    fn draw_grouped(
        &self,
        pool: &TermPool,
        rng: &mut ChaCha8Rng,
        open: &[VarId],
        fixed: &Valuation,
    ) -> Valuation {
        let palette = ValuePalette {
            recent: self.hints.recent,
            here: &self.here,
            constants: self.hints.constants,
            weights: self.hints.weights,
        };
        let mut drawn = fixed.clone();
        // Members that the guard demands come before everything else, since nothing else can make the guard true.
        for member in &self.members {
            let values = member.draw(rng, self.hints.used_keys);
            values.iter().for_each(|(field, value)| drawn.set(*field, value.clone()));
        }
        let mut groups: Vec<(Sort, Vec<Value>)> = Vec::new();
        for &field in open {
            let sort = pool.var_info(field).sort;
            if drawn.get(field).is_some() {
                continue;
            }
            if let Some(matching) = self.matching(pool, rng, field) {
                drawn.set(field, matching);
                continue;
            }
            let at = groups.iter().position(|(base, _)| *base == sort.base()).unwrap_or_else(|| {
                groups.push((sort.base(), Vec::new()));
                groups.len() - 1
            });
            let group = &mut groups[at].1;
            let keys = self.keys.iter().find(|keys| keys.field == field);
            if let Some(key) = keys.and_then(|keys| keys.draw(rng)) {
                // Other fields may join it: a value that is equal to a key is worth a try too.
                group.push(key.clone());
                drawn.set(field, key.clone());
                continue;
            }
            // Joins one of the values drawn so far, or begins a group of its own, each as likely.
            let chosen = rng.random_range(0..=group.len());
            if chosen == group.len() {
                group.push(palette.value(pool, rng, sort));
            }
            drawn.set(field, group[chosen].clone());
        }
        drawn
    }

    /// Draws a text from a pattern that the guard mentions for `field`; sometimes a known text that matches, sometimes
    /// `None`.
    fn matching(&self, pool: &TermPool, rng: &mut ChaCha8Rng, field: VarId) -> Option<Value> {
        let of_field: Vec<RegexId> =
            self.patterns.iter().filter(|(var, _)| *var == field).map(|(_, pattern)| *pattern).collect();
        let pattern = pool.pattern_info(*of_field.choose(rng)?);
        match rng.random_range(0..16u32) {
            0 => None,
            1..=3 => {
                let fits = |value: &&Value| value.as_str().is_some_and(|text| pattern.matches(text));
                let known: Vec<&Value> = self.hints.recent.iter().chain(&self.here).filter(fits).collect();
                known.choose(rng).map(|&value| value.clone())
            }
            _ => text::matching(rng, &pattern.text).map(|text| Value::str(&text)),
        }
    }
}

/// Returns the open field and the term that `conjunct` equates, if the term does not mention the field.
fn equation(pool: &TermPool, open: &[VarId], conjunct: Term) -> Option<(VarId, Term)> {
    let TermNode::Eq(a, b) = *pool.node(conjunct) else { return None };
    [(a, b), (b, a)].into_iter().find_map(|(side, other)| match *pool.node(side) {
        TermNode::Var(var) if open.contains(&var) && !pool.free_vars(other).contains(&var) => {
            Some((var, other))
        }
        _ => None,
    })
}

/// Draws a value of `sort`, a third of the time near one of `interesting`, if any is of that sort.
pub fn any_value(pool: &TermPool, rng: &mut ChaCha8Rng, sort: Sort, interesting: &[Value]) -> Value {
    let palette =
        ValuePalette { recent: &[], here: interesting, constants: &[], weights: ValueWeights::PLAIN };
    palette.value(pool, rng, sort)
}

/// A kind of value to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DrawKind {
    Near,
    Fresh,
    Small,
    Edge,
    Wide,
}

impl ValuePalette<'_> {
    /// Draws a value of `sort`.
    fn value(&self, pool: &TermPool, rng: &mut ChaCha8Rng, sort: Sort) -> Value {
        self.value_within(pool, rng, sort, 0)
    }

    /// Draws a value that is `depth` levels inside another one.
    fn value_within(&self, pool: &TermPool, rng: &mut ChaCha8Rng, sort: Sort, depth: u32) -> Value {
        let kind = self.kind(rng);
        if kind == DrawKind::Near
            && let Some(near) = self.draw_related(rng, sort)
            && pool.has_sort(&near, sort)
        {
            return near;
        }
        // Only a fresh value has to be unlike the known ones.
        let tries = if kind == DrawKind::Fresh { MAX_TRIES } else { 1 };
        let mut drawn = self.draw_unrelated(pool, rng, sort, (kind, depth));
        for _ in 1..tries {
            if !self.is_known(&drawn) {
                break;
            }
            drawn = self.draw_unrelated(pool, rng, sort, (kind, depth));
        }
        drawn
    }

    fn is_known(&self, value: &Value) -> bool {
        [self.recent, self.here, self.constants].iter().any(|list| list.contains(value))
    }

    /// Draws the kind of the next value, by the weights.
    fn kind(&self, rng: &mut ChaCha8Rng) -> DrawKind {
        let ValueWeights { near, fresh, small, edge, wide, .. } = self.weights;
        let mut drawn = rng.random_range(0..(near + fresh + small + edge + wide).max(1));
        let shares = [
            (DrawKind::Near, near),
            (DrawKind::Fresh, fresh),
            (DrawKind::Small, small),
            (DrawKind::Edge, edge),
        ];
        for (kind, share) in shares {
            if drawn < share {
                return kind;
            }
            drawn -= share;
        }
        DrawKind::Wide
    }

    /// Draws a value in a relation to a known one; `None` if none of the sort is known.
    fn draw_related(&self, rng: &mut ChaCha8Rng, sort: Sort) -> Option<Value> {
        let base = self.draw_base(rng, sort)?;
        let other = if rng.random_ratio(1, 2) { self.draw_base(rng, sort) } else { None };
        let number = |value: &Value| value.to_rational();
        Some(match base {
            Value::Int(_) => {
                let (base, other) = (number(base)?, other.and_then(number));
                Value::Int(number::draw_neighbour(rng, &base, other.as_ref()).floor())
            }
            Value::Real(base) => {
                let other: Option<Rational> = other.and_then(number);
                Value::Real(number::draw_neighbour(rng, base, other.as_ref()))
            }
            Value::Str(_) => {
                Value::str(&text::draw_neighbour(rng, base.as_str()?, other.and_then(|value| value.as_str())))
            }
            Value::Bool(_) | Value::Data(_) => base.clone(),
            Value::Collection(items) => {
                collection::draw_neighbour(rng, items, other.and_then(Value::as_collection))
            }
        })
    }

    /// Draws a known value of the base sort of `sort`; the latest of the run is the likeliest.
    fn draw_base(&self, rng: &mut ChaCha8Rng, sort: Sort) -> Option<&Value> {
        let fits = |value: &&Value| value.base_sort() == sort.base();
        // Which list is asked first: the run half of the time, the state and the model a quarter each. The others
        // follow in turn if it has no value of the sort.
        let start = [0, 0, 1, 2][rng.random_range(0..4usize)];
        let lists = [self.recent, self.here, self.constants];
        let fitting = |at: usize| lists[(start + at) % 3].iter().filter(fits).collect::<Vec<_>>();
        let (at, list) =
            (0..3).map(|at| ((start + at) % 3, fitting(at))).find(|(_, list)| !list.is_empty())?;
        if at > 0 {
            return list.choose(rng).copied();
        }
        let mut back = 0;
        // The last value with one half, the one before it with a quarter, and so on.
        while back + 1 < list.len() && rng.random_ratio(1, 2) {
            back += 1;
        }
        list.get(list.len() - 1 - back).copied()
    }

    /// Draws a value without regard to known ones.
    fn draw_unrelated(
        &self,
        pool: &TermPool,
        rng: &mut ChaCha8Rng,
        sort: Sort,
        (kind, depth): (DrawKind, u32),
    ) -> Value {
        match sort {
            Sort::Bool => Value::Bool(rng.random()),
            Sort::Range { lo, hi } if is_wide(sort) => Value::int(match kind {
                DrawKind::Small => number::small_in_range(rng, lo, hi),
                DrawKind::Edge => number::end_of_range(rng, lo, hi),
                DrawKind::Near | DrawKind::Fresh | DrawKind::Wide => number::in_range(rng, lo, hi),
            }),
            Sort::Range { lo, hi } => Value::int(number::in_range(rng, lo, hi)),
            Sort::Int => match kind {
                DrawKind::Fresh => Value::int(number::common(rng)),
                DrawKind::Near | DrawKind::Small => Value::int(number::small(rng)),
                DrawKind::Edge => Value::Int(number::edge(rng)),
                DrawKind::Wide => Value::int(number::wide(rng)),
            },
            Sort::Real => {
                let whole = match kind {
                    DrawKind::Fresh => number::common(rng).into(),
                    DrawKind::Near | DrawKind::Small => number::small(rng).into(),
                    DrawKind::Edge => number::edge(rng),
                    DrawKind::Wide => number::wide(rng).into(),
                };
                number::fraction(rng, whole)
            }
            Sort::Str => Value::str(&match kind {
                DrawKind::Near | DrawKind::Fresh | DrawKind::Small => text::short(rng),
                DrawKind::Edge => text::odd(rng),
                DrawKind::Wide => text::long(rng),
            }),
            Sort::Data(data) => self.draw_constructed(pool, rng, data, depth),
            Sort::Collection(sort) => {
                let mut item = |rng: &mut ChaCha8Rng, sort| self.value_within(pool, rng, sort, depth + 1);
                collection::draw_fresh(pool, rng, sort, depth, &mut item)
            }
        }
    }

    /// Draws a value of a data type by any of its constructors; at the greatest depth, by one that ends the nesting.
    fn draw_constructed(&self, pool: &TermPool, rng: &mut ChaCha8Rng, data: DataId, depth: u32) -> Value {
        let ctors = &pool.data(data).ctors;
        let ctor = match depth {
            0..MAX_DEPTH => rng.random_range(0..ctors.len()),
            _ => pool.finite_ctor(data).unwrap_or(0),
        };
        let args = ctors[ctor]
            .fields
            .iter()
            .map(|field| self.value_within(pool, rng, field.sort, depth + 1))
            .collect();
        Value::Data(DataValue { data, ctor: u32::try_from(ctor).unwrap_or(0), args })
    }
}
