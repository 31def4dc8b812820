//! Many candidates compiled as one text.
//!
//! Compiling a text takes longer than judging it by a run. So the transitions as each candidate would have them are
//! written beside those of the base, all of them are compiled at once, and the model of one candidate is made of the
//! switches of the base without those that it replaces, and of its own. Where a candidate changes a function or a
//! constant, a copy of that stands beside it under another name, with copies of everything that uses it.
//!
//! What is wrong in one candidate is left out by the front end. Candidates that change other declarations, such as
//! initial values, have no place in a batch. A batch only says which candidates are worth a closer look: what helps is
//! compiled and judged once more as it is written.

use std::ops::Range;

use ioxide_lang::ast::{ItemKind, ModelDecl, ModelItem};
use ioxide_lang::lexeme::{LexemeKind, TextLexeme, lexemes};
use ioxide_model::sort::Sort;
use ioxide_model::source::{FileId, Sources, Span};
use ioxide_model::sts::{Model, Switch};
use ioxide_model::term::VarId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::LoadedModel;
use crate::edit::TextEdit;
use crate::replay::ChangedPlace;

/// The number of candidates that are compiled at once. Chosen by feel: so many that the base costs little, and so few
/// that a search which ends has not compiled many for nothing.
pub(crate) const BATCH_SIZE: usize = 48;
/// The bytes of the copies that one candidate may need. Chosen by feel: from there on, compiling it alone is as fast.
const MAX_COPIED: usize = 6_000;

/// The places in the text of a model that candidates touch.
#[derive(Debug)]
pub(crate) struct BatchLayout {
    file: FileId,
    text: String,
    /// The transitions, in the order of the text, and the states around them.
    transitions: Vec<TransitionText>,
    states: Vec<Range<usize>>,
    /// The functions and constants.
    definitions: Vec<BatchDefinition>,
    /// The names in the other declarations that a model's behaviour depends on.
    elsewhere: FxHashSet<String>,
    /// The variables and fields of the compiled model.
    vars: Vec<(VarId, Sort)>,
}

#[derive(Debug)]
struct TransitionText {
    place: Range<usize>,
    /// The names of functions and constants in it.
    names: FxHashSet<String>,
}

#[derive(Debug)]
struct BatchDefinition {
    name: String,
    is_function: bool,
    place: Range<usize>,
    names: FxHashSet<String>,
}

/// A part of the text, as a candidate would have it.
#[derive(Debug)]
struct EditedRegion {
    /// The part that it stands for; empty where something is added.
    place: Range<usize>,
    text: String,
}

/// Candidates compiled as one text.
#[derive(Debug)]
pub(crate) struct CandidateBatch {
    model: Model,
    /// The switches of the base and of all candidates.
    all: Vec<Switch>,
    /// The numbers of those of the base.
    base: Vec<usize>,
    variants: Vec<Option<BatchVariant>>,
    /// True if variables and fields have the numbers that they have in the base: replays can be shared. The parameters
    /// of copied functions move them.
    has_same_vars: bool,
}

/// The knowledge of a batch about a candidate.
pub(crate) enum BatchedCandidate<'a> {
    /// It has to be compiled by itself.
    Elsewhere,
    /// It has errors.
    Wrong,
    /// Its model, and the places at which it differs from the base; `None` if replays cannot be shared with it.
    Model(&'a mut Model, Option<Vec<ChangedPlace>>),
}

/// One candidate of a batch, by the numbers of switches.
#[derive(Debug)]
struct BatchVariant {
    replaced: Vec<usize>,
    added: Vec<usize>,
    /// True if each of its transitions has become a switch.
    is_right: bool,
}

/// A copy in the text of a batch: of which candidate, and where.
struct CopyInText {
    candidate: usize,
    place: Range<usize>,
    /// The number of transitions in it.
    n_transitions: usize,
}

impl BatchLayout {
    /// Returns the places in the text of `model`, which stands in `file` and is `compiled`.
    pub(crate) fn new(sources: &Sources, file: FileId, model: &ModelDecl, compiled: &Model) -> Self {
        let text = sources.file(file).text.to_string();
        let mut layout = Self {
            file,
            transitions: Vec::new(),
            states: Vec::new(),
            definitions: Vec::new(),
            elsewhere: FxHashSet::default(),
            vars: vars_of(compiled),
            text,
        };
        model.items.iter().for_each(|item| layout.add_item(item));
        let known: FxHashSet<String> = layout.definitions.iter().map(|it| it.name.clone()).collect();
        layout.transitions.iter_mut().for_each(|it| it.names.retain(|name| known.contains(name)));
        layout.definitions.iter_mut().for_each(|it| it.names.retain(|name| known.contains(name)));
        layout.transitions.sort_by_key(|it| it.place.start);
        layout
    }

    fn add_item(&mut self, item: &ModelItem) {
        let place = place_of(item.span);
        match &item.kind {
            ItemKind::State(state) => {
                self.states.push(place);
                state.transitions.iter().for_each(|it| self.add_transition(place_of(it.span)));
            }
            ItemKind::Any(list) => {
                self.states.push(place);
                list.iter().for_each(|it| self.add_transition(place_of(it.span)));
            }
            ItemKind::Transition(_) => self.add_transition(place),
            ItemKind::Const(decl) => self.add_definition(&decl.name.text, false, place),
            ItemKind::Fn(decl) => self.add_definition(&decl.name.text, true, place),
            ItemKind::Message(_)
            | ItemKind::Var(_)
            | ItemKind::Clock(_)
            | ItemKind::Type(_)
            | ItemKind::Enum(_)
            | ItemKind::Record(_) => {
                let names = self.names_in(&place);
                self.elsewhere.extend(names);
            }
            // What is asked about a model changes nothing in it.
            ItemKind::Purpose(_) | ItemKind::Property(_) | ItemKind::Response(_) | ItemKind::Test(_) => (),
        }
    }

    fn add_transition(&mut self, place: Range<usize>) {
        let names = self.names_in(&place);
        self.transitions.push(TransitionText { place, names });
    }

    fn add_definition(&mut self, name: &str, is_function: bool, place: Range<usize>) {
        let names = self.names_in(&place);
        self.definitions.push(BatchDefinition { name: name.to_owned(), is_function, place, names });
    }

    fn names_in(&self, place: &Range<usize>) -> FxHashSet<String> {
        let text = self.text.get(place.clone()).unwrap_or("");
        let names = lexemes(text).into_iter().filter(|it| it.kind == LexemeKind::Name);
        names.map(|it| slice(text, it).to_owned()).collect()
    }

    /// Returns the parts of the text as a candidate has them; `None` if it touches other declarations. `mark` makes the
    /// names of copied definitions different from those of all others.
    fn regions_of(&self, edits: &[TextEdit], mark: usize) -> Option<Vec<EditedRegion>> {
        if edits.iter().any(|edit| edit.file != self.file) {
            return None;
        }
        let definition = self
            .definitions
            .iter()
            .position(|it| edits.iter().all(|edit| it.place.start <= edit.start && edit.end <= it.place.end));
        match definition {
            Some(at) => self.copies_of_definition(at, edits, mark),
            None => self.edited_transitions(edits),
        }
    }

    /// Returns whether edits are of a function or constant.
    pub(crate) fn is_of_definition(&self, edits: &[TextEdit]) -> bool {
        let is_inside = |edit: &TextEdit| {
            self.definitions.iter().any(|it| it.place.start <= edit.start && edit.end <= it.place.end)
        };
        edits.iter().any(|edit| edit.file == self.file && is_inside(edit))
    }

    fn edited_transitions(&self, edits: &[TextEdit]) -> Option<Vec<EditedRegion>> {
        let mut places: Vec<Range<usize>> =
            edits.iter().map(|edit| self.place_of_edit(edit)).collect::<Option<_>>()?;
        places.sort_by_key(|place| (place.start, place.end));
        let mut merged: Vec<Range<usize>> = Vec::new();
        for place in places {
            match merged.last_mut() {
                Some(last) if place.start < last.end || *last == place => last.end = last.end.max(place.end),
                _ => merged.push(place),
            }
        }
        let edited =
            merged.into_iter().map(|place| EditedRegion { text: self.edited_part(&place, edits), place });
        Some(edited.collect())
    }

    /// Returns the transitions that an edit is of, or the point in a state where it adds some; `None` if it is of
    /// something else.
    fn place_of_edit(&self, edit: &TextEdit) -> Option<Range<usize>> {
        let is_in_state = |state: &Range<usize>| state.start < edit.start && edit.end < state.end;
        let is_inside = self.states.iter().any(is_in_state);
        // A new transition behind the last one stands on a line of its own.
        if is_inside && edit.start == edit.end && edit.text.starts_with('\n') {
            return Some(edit.start..edit.end);
        }
        let touched =
            self.transitions.iter().filter(|it| it.place.start <= edit.end && edit.start <= it.place.end);
        let hull = touched.fold(edit.start..edit.end, |hull, it| {
            hull.start.min(it.place.start)..hull.end.max(it.place.end)
        });
        (is_inside || hull != (edit.start..edit.end)).then_some(hull)
    }

    /// Returns a part of the text with the edits in it made.
    fn edited_part(&self, place: &Range<usize>, edits: &[TextEdit]) -> String {
        let mut here: Vec<&TextEdit> =
            edits.iter().filter(|edit| place.start <= edit.start && edit.end <= place.end).collect();
        here.sort_by_key(|edit| (edit.start, edit.end));
        let (mut out, mut at) = (String::new(), place.start);
        for edit in here {
            out.push_str(self.text.get(at..edit.start).unwrap_or(""));
            out.push_str(&edit.text);
            at = edit.end;
        }
        out.push_str(self.text.get(at..place.end).unwrap_or(""));
        out
    }

    /// Returns a definition as the edits have it, under another name, and everything that uses it.
    fn copies_of_definition(&self, at: usize, edits: &[TextEdit], mark: usize) -> Option<Vec<EditedRegion>> {
        let users = self.users_of(at);
        let renamed: FxHashMap<&str, bool> = users
            .iter()
            .map(|&user| (&*self.definitions[user].name, self.definitions[user].is_function))
            .collect();
        if renamed.keys().any(|name| self.elsewhere.contains(*name)) {
            return None;
        }
        let mut copies = Vec::new();
        for &user in &users {
            let place = self.definitions[user].place.clone();
            let text =
                if user == at { self.edited_part(&place, edits) } else { self.edited_part(&place, &[]) };
            // The definition itself stays for all others.
            copies
                .push(EditedRegion { place: place.end..place.end, text: with_marks(&text, &renamed, mark) });
        }
        let is_user = |it: &&TransitionText| it.names.iter().any(|name| renamed.contains_key(&**name));
        for transition in self.transitions.iter().filter(is_user) {
            let text = with_marks(&self.edited_part(&transition.place, &[]), &renamed, mark);
            copies.push(EditedRegion { place: transition.place.clone(), text });
        }
        let n_bytes: usize = copies.iter().map(|it| it.text.len()).sum();
        (n_bytes <= MAX_COPIED).then_some(copies)
    }

    /// Returns the definitions that use the one at `at`, with itself.
    fn users_of(&self, at: usize) -> Vec<usize> {
        let mut users = vec![at];
        let mut next = 0;
        while let Some(&used) = users.get(next) {
            let name = &self.definitions[used].name;
            for (other, definition) in self.definitions.iter().enumerate() {
                if definition.names.contains(name) && !users.contains(&other) {
                    users.push(other);
                }
            }
            next += 1;
        }
        users
    }
}

impl CandidateBatch {
    /// Compiles `candidates` of the text of `base`, those that are there, at once with `load`. `None` if that does not
    /// make a model that has all switches of the base, which are `n_switches`.
    pub(crate) fn new(
        sources: &Sources,
        layout: &BatchLayout,
        candidates: &[Option<&[TextEdit]>],
        n_switches: usize,
        load: &dyn Fn(&Sources, &[Span]) -> Option<LoadedModel>,
    ) -> Option<Self> {
        let regions: Vec<Option<Vec<EditedRegion>>> =
            candidates.iter().enumerate().map(|(at, edits)| layout.regions_of((*edits)?, at)).collect();
        let (text, copies) = layout.text_with_copies(&regions);
        let mut batch = sources.clone();
        batch.replace_text(layout.file, text);
        let tentative: Vec<Span> =
            copies.iter().map(|it| Span::new(layout.file, it.place.start, it.place.end)).collect();
        let (model, wrong) = load(&batch, &tentative)?;
        let has_same_vars = vars_of(&model) == layout.vars;
        let found = Self::sort_switches((model, wrong), layout.file, &regions, &copies);
        let found = Self { has_same_vars, ..found };
        (found.base.len() == n_switches).then_some(found)
    }

    /// Sorts the switches by the candidates they belong to.
    fn sort_switches(
        (model, wrong): LoadedModel,
        file: FileId,
        regions: &[Option<Vec<EditedRegion>>],
        copies: &[CopyInText],
    ) -> Self {
        let all: Vec<Switch> = model.sts.switches.iter().cloned().collect();
        let mut base: Vec<(usize, Range<usize>)> = Vec::new();
        let mut added: Vec<Vec<usize>> = vec![Vec::new(); regions.len()];
        let mut places: Vec<FxHashSet<Span>> = vec![FxHashSet::default(); copies.len()];
        for (number, switch) in all.iter().enumerate() {
            let start = switch.span.start as usize;
            let behind = copies.partition_point(|copy| copy.place.start <= start);
            let own =
                behind.checked_sub(1).filter(|&at| start < copies[at].place.end && switch.span.file == file);
            match own {
                Some(at) => {
                    added[copies[at].candidate].push(number);
                    places[at].insert(switch.span);
                }
                None => {
                    let moved: usize = copies[..behind].iter().map(|copy| copy.place.len()).sum();
                    let place = place_of(switch.span);
                    base.push((number, place.start.saturating_sub(moved)..place.end.saturating_sub(moved)));
                }
            }
        }
        let is_whole = |candidate: usize| {
            let own = copies.iter().zip(&places).filter(|(copy, _)| copy.candidate == candidate);
            own.into_iter().all(|(copy, places)| {
                let has_errors = wrong.iter().any(|span| span.start as usize == copy.place.start);
                copy.n_transitions == places.len() && !has_errors
            })
        };
        let variants = regions.iter().zip(added).enumerate().map(|(candidate, (regions, added))| {
            let regions = regions.as_ref()?;
            let is_replaced = |place: &Range<usize>| {
                regions.iter().any(|it| place.start < it.place.end && it.place.start < place.end)
            };
            let replaced =
                base.iter().filter(|(_, place)| is_replaced(place)).map(|(number, _)| *number).collect();
            Some(BatchVariant { replaced, added, is_right: is_whole(candidate) })
        });
        let variants = variants.collect();
        Self {
            variants,
            base: base.into_iter().map(|(number, _)| number).collect(),
            all,
            model,
            has_same_vars: false,
        }
    }

    /// Returns a candidate, which is the model of the batch until the next one is asked for.
    pub(crate) fn candidate(&mut self, number: usize) -> BatchedCandidate<'_> {
        let Some(variant) = &self.variants[number] else { return BatchedCandidate::Elsewhere };
        if !variant.is_right {
            return BatchedCandidate::Wrong;
        }
        let kept = self.base.iter().filter(|number| !variant.replaced.contains(number));
        let switches = kept.chain(&variant.added).map(|&number| self.all[number].clone());
        self.model.sts.switches = switches.collect();
        let changed = variant.replaced.iter().chain(&variant.added).map(|&number| &self.all[number]);
        let mut places: Vec<ChangedPlace> = changed.map(|switch| (switch.source, switch.gate)).collect();
        places.sort_unstable();
        places.dedup();
        BatchedCandidate::Model(&mut self.model, self.has_same_vars.then_some(places))
    }
}

impl BatchLayout {
    /// Returns the text with the regions of all candidates behind those that they stand for.
    fn text_with_copies(&self, regions: &[Option<Vec<EditedRegion>>]) -> (String, Vec<CopyInText>) {
        let mut all: Vec<(usize, usize, &EditedRegion)> = Vec::new();
        for (candidate, regions) in regions.iter().enumerate() {
            all.extend(regions.iter().flatten().map(|it| (it.place.end, candidate, it)));
        }
        all.sort_by_key(|(at, candidate, _)| (*at, *candidate));
        let (mut text, mut from, mut copies) = (String::new(), 0, Vec::new());
        for (at, candidate, region) in all {
            text.push_str(self.text.get(from..at).unwrap_or(""));
            from = at;
            let is_definition =
                region.place.is_empty() && self.definitions.iter().any(|it| it.place.end == at);
            let (copy, n_transitions) =
                if is_definition { (region.text.clone(), 0) } else { without_labels(&region.text) };
            let start = text.len();
            text.push('\n');
            text.push_str(&copy);
            text.push('\n');
            copies.push(CopyInText { candidate, place: start..text.len(), n_transitions });
        }
        text.push_str(self.text.get(from..).unwrap_or(""));
        (text, copies)
    }
}

/// Returns the variables and the fields of all messages of a model, with their sorts.
fn vars_of(model: &Model) -> Vec<(VarId, Sort)> {
    let vars = model.sts.vars.iter().map(|var| var.var);
    let fields = model.sts.gates.iter().flat_map(|gate| gate.fields.iter().copied());
    vars.chain(fields).map(|var| (var, model.pool.var_info(var).sort)).collect()
}

fn place_of(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

fn slice(text: &str, lexeme: TextLexeme) -> &str {
    text.get(lexeme.start as usize..lexeme.end as usize).unwrap_or("")
}

/// Returns the lexemes of a text without comments.
fn plain_lexemes(text: &str) -> Vec<TextLexeme> {
    let is_plain = |it: &TextLexeme| !matches!(it.kind, LexemeKind::Comment | LexemeKind::Doc);
    lexemes(text).into_iter().filter(is_plain).collect()
}

/// Returns transitions without their labels, which would stand there twice, and their number.
fn without_labels(text: &str) -> (String, usize) {
    let mut sources = Sources::new();
    let (head, tail) = ("model M { state s {\n", "\n} }");
    let file = sources.add("copy.iox", format!("{head}{text}{tail}"));
    let tree = ioxide_lang::parse(&sources, file).0;
    let items = tree.model.iter().flat_map(|model| &model.items);
    let transitions = items.filter_map(|item| match &item.kind {
        ItemKind::State(state) => Some(&state.transitions),
        _ => None,
    });
    let (mut out, mut from, mut n) = (String::new(), 0, 0);
    for transition in transitions.flatten() {
        n += 1;
        if let Some(label) = &transition.label {
            let start = label.span.start as usize - head.len();
            out.push_str(text.get(from..start).unwrap_or(""));
            from = (transition.verb_span.start as usize).saturating_sub(head.len());
        }
    }
    out.push_str(text.get(from..).unwrap_or(""));
    (out, n)
}

/// Returns a text in which the functions (true) and constants (false) of these names have other ones.
fn with_marks(text: &str, renamed: &FxHashMap<&str, bool>, mark: usize) -> String {
    let all = plain_lexemes(text);
    let word = |at: usize| all.get(at).map_or("", |it| slice(text, *it));
    let (mut out, mut from) = (String::new(), 0);
    for (at, lexeme) in all.iter().enumerate() {
        let Some(&is_function) = renamed.get(word(at)) else { continue };
        let before = if at > 0 { word(at - 1) } else { "" };
        let is_called = word(at + 1) == "(";
        // Fields and methods of the same name are others.
        let is_other =
            before != "const" && (before == "." || word(at + 1) == ":" || is_called != is_function);
        if !is_other {
            out.push_str(text.get(from..lexeme.end as usize).unwrap_or(""));
            out.push_str(&format!("__{mark}"));
            from = lexeme.end as usize;
        }
    }
    out.push_str(text.get(from..).unwrap_or(""));
    out
}
