//! The text of declarations, transitions, purposes and tests.

use super::Printer;
use super::expr::{expr_text, pattern_text, type_text};
use ioxide_model::term::string_literal;

use crate::ast::{
    Attr, AttrKind, ConstDecl, DirectionDecl, Expr, FieldDecl, ItemKind, MessageDecl, MessagePattern,
    ModelDecl, ModelItem, Name, PinDecl, Property, PropertyKind, PurposeDecl, PurposeGoal, ResponseDecl,
    StateDecl, StepDecl, StepKind, TestDecl, TransitionDecl, Update, UpdateKind, VariantDecl,
};

impl Printer<'_> {
    /// Writes a model with its items.
    pub(super) fn write_model(&mut self, model: &ModelDecl) {
        let heading = format!("model {}", model.name.written());
        let first = model.items.first().map(|item| item.span);
        self.write_block(model.span, &model.meta, &heading, first, |printer| {
            model.items.iter().for_each(|item| printer.write_item(item));
        });
    }

    /// Writes one item of a model, with the comments and docs before it.
    pub(super) fn write_item(&mut self, item: &ModelItem) {
        let (span, meta) = (item.span, &item.meta);
        match &item.kind {
            ItemKind::State(state) => {
                let heading = format!("state {}", state.name.written());
                let first = state.transitions.first().map(|first| first.span);
                self.write_block(span, meta, &heading, first, |printer| {
                    printer.write_transitions(&state.transitions)
                });
            }
            ItemKind::Any(transitions) => {
                let first = transitions.first().map(|first| first.span);
                self.write_block(span, meta, "any", first, |printer| printer.write_transitions(transitions));
            }
            ItemKind::Test(test) => self.write_test(test, item),
            ItemKind::Purpose(PurposeDecl { name, goal: PurposeGoal::Observer(observer) }) => {
                let items = observer.items.iter().map(|item| item.span);
                let first = items.chain(observer.states.iter().map(|state| state.span)).next();
                let heading = format!("purpose {}", name.written());
                self.write_block(span, meta, &heading, first, |printer| {
                    observer.items.iter().for_each(|item| printer.write_item(item));
                    observer.states.iter().for_each(|state| printer.observer_state(state));
                });
            }
            _ => self.write_unit(span, meta, |printer| printer.plain_item(item)),
        }
    }

    fn plain_item(&mut self, item: &ModelItem) {
        match &item.kind {
            ItemKind::Message(message) => self.write_message(message),
            ItemKind::Var(decl) => {
                let heading = format!("var {}: {}", decl.name.written(), type_text(&decl.ty));
                self.write_definition(&heading, decl.init.as_ref());
            }
            ItemKind::Clock(name) => self.write_line(&format!("clock {}", name.written())),
            ItemKind::Const(decl) => self.write_constant(decl),
            ItemKind::Type(decl) => {
                self.write_line(&format!("type {} = {}", decl.name.written(), type_text(&decl.ty)))
            }
            ItemKind::Enum(decl) => {
                let names: Vec<BracketPart<'_>> = decl.variants.iter().map(variant_part).collect();
                self.write_braced(&format!("enum {} ", decl.name.written()), &names);
            }
            ItemKind::Record(decl) => {
                let fields: Vec<BracketPart<'_>> = decl.fields.iter().map(field_part).collect();
                self.write_braced(&format!("record {} ", decl.name.written()), &fields);
            }
            ItemKind::Fn(decl) => {
                let params: Vec<String> = decl.params.iter().map(field_text).collect();
                let heading = format!(
                    "fn {}({}) -> {}",
                    decl.name.written(),
                    params.join(", "),
                    type_text(&decl.result)
                );
                self.write_definition(&heading, Some(&decl.body));
            }
            ItemKind::Transition(transition) => self.write_transition(transition),
            ItemKind::Purpose(purpose) => self.write_purpose(purpose),
            ItemKind::Property(property) => self.write_property(property),
            ItemKind::Response(response) => self.write_response(response),
            ItemKind::State(_) | ItemKind::Any(_) | ItemKind::Test(_) => {}
        }
    }

    /// Writes the declaration of a constant, on several lines if its value is long.
    pub(super) fn write_constant(&mut self, decl: &ConstDecl) {
        let annotation = decl.ty.as_ref().map_or(String::new(), |t| format!(": {}", type_text(t)));
        self.write_definition(&format!("const {}{annotation}", decl.name.written()), Some(&decl.value));
    }

    /// Writes the declaration of an input or output; fields go on lines of their own where one does not suffice.
    fn write_message(&mut self, message: &MessageDecl) {
        let direction = match message.direction {
            DirectionDecl::Input => "input",
            DirectionDecl::Observed => "observed input",
            DirectionDecl::Output => "output",
        };
        let heading = format!("{direction} {}", message.name.written());
        let fields: Vec<BracketPart<'_>> = message.fields.iter().map(field_part).collect();
        self.write_call(&heading, &fields);
    }

    /// Writes `heading(parts)`, on one line or one part per line; no brackets if there are no parts.
    fn write_call(&mut self, heading: &str, parts: &[BracketPart<'_>]) {
        if parts.is_empty() {
            return self.write_line(heading);
        }
        let line = format!("{heading}({})", join_parts(parts));
        if self.fits(&line) && !has_docs(parts) {
            return self.write_line(&line);
        }
        self.write_line(&format!("{heading}("));
        self.write_parts(parts);
        self.write_line(")");
    }

    /// Writes `heading{ parts }`, on one line or one part per line.
    fn write_braced(&mut self, heading: &str, parts: &[BracketPart<'_>]) {
        if parts.is_empty() {
            return self.write_line(&format!("{heading}{{}}"));
        }
        let line = format!("{heading}{{ {} }}", join_parts(parts));
        if self.fits(&line) && !has_docs(parts) {
            return self.write_line(&line);
        }
        self.write_line(&format!("{heading}{{"));
        self.write_parts(parts);
        self.write_line("}");
    }

    fn write_parts(&mut self, parts: &[BracketPart<'_>]) {
        self.level += 1;
        for part in parts {
            self.write_docs(part.docs);
            self.write_line(&format!("{},", part.text));
        }
        self.level -= 1;
    }

    /// Writes `heading = value`, the value broken over lines if it is long.
    fn write_definition(&mut self, heading: &str, value: Option<&Expr>) {
        let Some(value) = value else { return self.write_line(heading) };
        let line = format!("{heading} = {}", expr_text(value));
        if self.fits(&line) {
            return self.write_line(&line);
        }
        self.write_line(&format!("{heading} ="));
        self.level += 1;
        self.broken("", value);
        self.level -= 1;
    }

    // States and transitions.

    /// Writes transitions, each with the comments before it.
    fn write_transitions(&mut self, transitions: &[TransitionDecl]) {
        for transition in transitions {
            self.write_unit(transition.span, &transition.meta, |printer| {
                printer.write_transition(transition)
            });
        }
    }

    /// Writes one transition: on one line if it fits, otherwise one line for each of its clauses.
    fn write_transition(&mut self, transition: &TransitionDecl) {
        let label = transition.label.as_ref().map_or(String::new(), |label| format!("{}: ", label.written()));
        let gate =
            transition.gate.as_ref().map_or(String::new(), |gate| format!(" {}", gate.written_message()));
        let head = format!("{label}{}{gate}", transition.verb.word());
        let pins: Vec<String> = transition.pins.iter().map(pin_text).collect();
        let updates: Vec<String> = transition.updates.iter().map(update_text).collect();
        let mut line = head.clone();
        if !pins.is_empty() {
            line.push_str(&format!("({})", pins.join(", ")));
        }
        let condition = condition_text(transition);
        if !condition.is_empty() {
            line.push_str(&format!(" when {condition}"));
        }
        if !updates.is_empty() {
            line.push_str(&format!(" {{ {} }}", updates.join(", ")));
        }
        if let Some(target) = &transition.target {
            line.push_str(&format!(" -> {}", target.written()));
        }
        if self.fits(&line) {
            return self.write_line(&line);
        }
        self.write_call(&head, &plain_parts(&pins));
        self.level += 1;
        let lets = let_texts(transition).join(" && ");
        match &transition.guard {
            Some(guard) if lets.is_empty() => self.broken("when ", guard),
            Some(guard) => self.broken(&format!("when {lets} && "), guard),
            None if lets.is_empty() => {}
            None => self.write_line(&format!("when {lets}")),
        }
        if !updates.is_empty() {
            self.write_braced("", &plain_parts(&updates));
        }
        if let Some(target) = &transition.target {
            self.write_line(&format!("-> {}", target.written()));
        }
        self.level -= 1;
    }

    // Goals.

    /// Writes a purpose: a path, a condition to reach, or an observer.
    fn write_purpose(&mut self, purpose: &PurposeDecl) {
        let heading = format!("purpose {}: ", purpose.name.written());
        match &purpose.goal {
            PurposeGoal::Path(labels) => self.write_path(&heading, labels),
            PurposeGoal::Reach { state, when } => {
                let state = state.as_ref().map_or(String::new(), |state| format!(" {}", state.written()));
                let condition =
                    when.as_ref().map_or(String::new(), |when| format!(" when {}", expr_text(when)));
                let line = format!("{heading}reach{state}{condition}");
                match when {
                    Some(when) if !self.fits(&line) => {
                        self.write_line(&format!("{heading}reach{state}"));
                        self.level += 1;
                        self.broken("when ", when);
                        self.level -= 1;
                    }
                    _ => self.write_line(&line),
                }
            }
            PurposeGoal::Observer(_) => {}
        }
    }

    /// Labels with commas, as many per line as fit.
    fn write_path(&mut self, heading: &str, labels: &[Name]) {
        let mut line = heading.to_owned();
        let mut is_first_line = true;
        for (index, label) in labels.iter().enumerate() {
            let comma = if index + 1 < labels.len() { "," } else { "" };
            let more = format!("{}{comma}", label.written_label());
            let gap = if line.ends_with(' ') || line.is_empty() { "" } else { " " };
            if line.len() > heading.len() && line.len() + gap.len() + more.len() > self.room() {
                self.write_line(&line);
                self.level += usize::from(is_first_line);
                is_first_line = false;
                line = more;
            } else {
                line.push_str(gap);
                line.push_str(&more);
            }
        }
        self.write_line(&line);
        self.level -= usize::from(!is_first_line);
    }

    fn observer_state(&mut self, state: &StateDecl) {
        let heading = format!("state {}", state.name.written());
        let first = state.transitions.first().map(|first| first.span);
        self.write_block(state.span, &state.meta, &heading, first, |printer| {
            printer.write_transitions(&state.transitions)
        });
    }

    /// Writes a property of states.
    fn write_property(&mut self, property: &Property) {
        let label = property.label.as_ref().map_or(String::new(), |label| format!("{}: ", label.written()));
        let word = match property.kind {
            PropertyKind::Always => "always",
            PropertyKind::Sometimes => "sometimes",
            PropertyKind::Assume => "assume",
        };
        let line = format!("{label}{word} {}", expr_text(&property.condition));
        if self.fits(&line) {
            return self.write_line(&line);
        }
        self.write_line(&format!("{label}{word}"));
        self.level += 1;
        self.broken("", &property.condition);
        self.level -= 1;
    }

    /// Writes a response; it stands on one line, as its parts cannot be told apart otherwise.
    fn write_response(&mut self, response: &ResponseDecl) {
        let label = response.label.as_ref().map_or(String::new(), |label| format!("{}: ", label.written()));
        let within =
            response.within.as_ref().map_or(String::new(), |time| format!(" within {}", expr_text(time)));
        let (trigger, answer) = (message_text(&response.trigger), message_text(&response.answer));
        self.write_line(&format!("{label}every {trigger} is followed by {answer}{within}"));
    }

    /// Writes a test with its steps.
    fn write_test(&mut self, test: &TestDecl, item: &ModelItem) {
        let heading = format!("test {}", string_literal(&test.name));
        let first = test.steps.first().map(|first| first.span);
        self.write_block(item.span, &item.meta, &heading, first, |printer| {
            for step in &test.steps {
                printer.write_unit(step.span, &crate::ast::DeclMeta::default(), |printer| {
                    printer.write_step(step)
                });
            }
        });
    }

    fn write_step(&mut self, step: &StepDecl) {
        match &step.kind {
            StepKind::Send(pattern) => self.write_pattern("send", pattern),
            StepKind::Expect(pattern) => self.write_pattern("expect", pattern),
            StepKind::Quiet(None) => self.write_line("quiet"),
            StepKind::Quiet(Some(duration)) => self.write_line(&format!("quiet {}", expr_text(duration))),
        }
    }

    /// Writes a message of a test or an observer behind `word`, with its pins and its guard.
    fn write_pattern(&mut self, word: &str, pattern: &MessagePattern) {
        let head = format!("{word} {}", pattern.gate.written_message());
        let pins: Vec<String> = pattern.pins.iter().map(pin_text).collect();
        let Some(guard) = &pattern.guard else { return self.write_call(&head, &plain_parts(&pins)) };
        let pinned = if pins.is_empty() { head.clone() } else { format!("{head}({})", pins.join(", ")) };
        let line = format!("{pinned} when {}", expr_text(guard));
        if self.fits(&line) {
            return self.write_line(&line);
        }
        self.write_call(&head, &plain_parts(&pins));
        self.level += 1;
        self.broken("when ", guard);
        self.level -= 1;
    }
}

/// Returns a message with its conditions on one line.
fn message_text(pattern: &MessagePattern) -> String {
    let pins: Vec<String> = pattern.pins.iter().map(pin_text).collect();
    let pins = if pins.is_empty() { String::new() } else { format!("({})", pins.join(", ")) };
    let guard = pattern.guard.as_ref().map_or(String::new(), |guard| format!(" when {}", expr_text(guard)));
    format!("{}{pins}{guard}", pattern.gate.written_message())
}

/// Returns an attribute as it is written in a model.
pub(super) fn attribute_text(attr: &Attr) -> String {
    match &attr.kind {
        AttrKind::Req(text) => format!("@req({})", string_literal(text)),
        AttrKind::Weight(weight) => format!("@weight({weight})"),
    }
}

/// Returns the `let` clauses of a transition.
fn let_texts(transition: &TransitionDecl) -> Vec<String> {
    let each = transition.lets.iter();
    each.map(|it| format!("let {} = {}", pattern_text(&it.pattern), expr_text(&it.value))).collect()
}

/// Returns the text behind `when`: the patterns and the guard.
fn condition_text(transition: &TransitionDecl) -> String {
    let mut parts = let_texts(transition);
    parts.extend(transition.guard.as_ref().map(expr_text));
    parts.join(" && ")
}

/// One of several parts in brackets.
struct BracketPart<'p> {
    docs: &'p [String],
    text: String,
}

/// Makes parts without doc comments.
fn plain_parts(texts: &[String]) -> Vec<BracketPart<'static>> {
    texts.iter().map(|text| BracketPart { docs: &[], text: text.clone() }).collect()
}

fn join_parts(parts: &[BracketPart<'_>]) -> String {
    parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(", ")
}

/// Returns whether some part has a doc comment, which needs a line of its own.
fn has_docs(parts: &[BracketPart<'_>]) -> bool {
    parts.iter().any(|part| !part.docs.is_empty())
}

/// Returns a variant with its fields, as a part of the list of an enum.
fn variant_part(variant: &VariantDecl) -> BracketPart<'_> {
    let fields: Vec<String> = variant.fields.iter().map(field_text).collect();
    let text = if fields.is_empty() {
        variant.name.written().into_owned()
    } else {
        format!("{}({})", variant.name.written(), fields.join(", "))
    };
    BracketPart { docs: &variant.docs, text }
}

fn field_part(one: &FieldDecl) -> BracketPart<'_> {
    BracketPart { docs: &one.docs, text: field_text(one) }
}

/// Returns a field as `name: type`.
fn field_text(field: &FieldDecl) -> String {
    format!("{}: {}", field.name.written(), type_text(&field.ty))
}

/// `(field: value, ...)`; nothing if there are none.
pub(super) fn pins_text(pins: &[PinDecl]) -> String {
    let all: Vec<String> = pins.iter().map(pin_text).collect();
    if all.is_empty() { String::new() } else { format!("({})", all.join(", ")) }
}

/// Returns a pin as `field: value`.
fn pin_text(pin: &PinDecl) -> String {
    format!("{}: {}", pin.field.written(), expr_text(&pin.value))
}

/// Returns an assignment, an assignment to one key, or a reset.
fn update_text(update: &Update) -> String {
    match &update.kind {
        UpdateKind::Assign(target, value) => format!("{} = {}", target.written(), expr_text(value)),
        UpdateKind::Put(target, key, value) => {
            format!("{}[{}] = {}", target.written(), expr_text(key), expr_text(value))
        }
        UpdateKind::Reset(clock) => format!("reset {}", clock.written()),
    }
}
