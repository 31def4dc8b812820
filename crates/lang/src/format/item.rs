//! The text of declarations, transitions, purposes and tests.

use super::Printer;
use super::expr::{expr, pattern, ty};
use ioxide_model::term::string_literal;

use crate::ast::{
    Attr, AttrKind, ConstDecl, DirectionDecl, Expr, FieldDecl, ItemKind, MessageDecl, MessagePattern,
    ModelDecl, ModelItem, Name, PinDecl, Property, PropertyKind, PurposeDecl, PurposeGoal, StateDecl,
    StepDecl, StepKind, TestDecl, TransitionDecl, Update, UpdateKind, VariantDecl,
};

impl Printer<'_> {
    pub(super) fn model(&mut self, model: &ModelDecl) {
        let heading = format!("model {}", model.name.text);
        let first = model.items.first().map(|item| item.span);
        self.block(model.span, &model.meta, &heading, first, |printer| {
            model.items.iter().for_each(|item| printer.item(item));
        });
    }

    pub(super) fn item(&mut self, item: &ModelItem) {
        let (span, meta) = (item.span, &item.meta);
        match &item.kind {
            ItemKind::State(state) => {
                let heading = format!("state {}", state.name.text);
                let first = state.transitions.first().map(|first| first.span);
                self.block(span, meta, &heading, first, |printer| printer.transitions(&state.transitions));
            }
            ItemKind::Any(transitions) => {
                let first = transitions.first().map(|first| first.span);
                self.block(span, meta, "any", first, |printer| printer.transitions(transitions));
            }
            ItemKind::Test(test) => self.test(test, item),
            ItemKind::Purpose(PurposeDecl { name, goal: PurposeGoal::Observer(observer) }) => {
                let items = observer.items.iter().map(|item| item.span);
                let first = items.chain(observer.states.iter().map(|state| state.span)).next();
                let heading = format!("purpose {}", name.text);
                self.block(span, meta, &heading, first, |printer| {
                    observer.items.iter().for_each(|item| printer.item(item));
                    observer.states.iter().for_each(|state| printer.observer_state(state));
                });
            }
            _ => self.unit(span, meta, |printer| printer.plain_item(item)),
        }
    }

    fn plain_item(&mut self, item: &ModelItem) {
        match &item.kind {
            ItemKind::Message(message) => self.message(message),
            ItemKind::Var(decl) => {
                let heading = format!("var {}: {}", decl.name.text, ty(&decl.ty));
                self.write_definition(&heading, decl.init.as_ref());
            }
            ItemKind::Clock(name) => self.write_line(&format!("clock {}", name.text)),
            ItemKind::Const(decl) => self.constant(decl),
            ItemKind::Type(decl) => self.write_line(&format!("type {} = {}", decl.name.text, ty(&decl.ty))),
            ItemKind::Enum(decl) => {
                let names: Vec<BracketPart<'_>> = decl.variants.iter().map(variant).collect();
                self.write_braced(&format!("enum {} ", decl.name.text), &names);
            }
            ItemKind::Record(decl) => {
                let fields: Vec<BracketPart<'_>> = decl.fields.iter().map(field_part).collect();
                self.write_braced(&format!("record {} ", decl.name.text), &fields);
            }
            ItemKind::Fn(decl) => {
                let params: Vec<String> = decl.params.iter().map(field).collect();
                let heading = format!("fn {}({}) -> {}", decl.name.text, params.join(", "), ty(&decl.result));
                self.write_definition(&heading, Some(&decl.body));
            }
            ItemKind::Transition(transition) => self.transition(transition),
            ItemKind::Purpose(purpose) => self.purpose(purpose),
            ItemKind::Property(property) => self.property(property),
            ItemKind::State(_) | ItemKind::Any(_) | ItemKind::Test(_) => {}
        }
    }

    pub(super) fn constant(&mut self, decl: &ConstDecl) {
        let annotation = decl.ty.as_ref().map_or(String::new(), |t| format!(": {}", ty(t)));
        self.write_definition(&format!("const {}{annotation}", decl.name.text), Some(&decl.value));
    }

    fn message(&mut self, message: &MessageDecl) {
        let direction = match message.direction {
            DirectionDecl::Input => "input",
            DirectionDecl::Observed => "observed input",
            DirectionDecl::Output => "output",
        };
        let heading = format!("{direction} {}", message.name.text);
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
            self.docs(part.docs);
            self.write_line(&format!("{},", part.text));
        }
        self.level -= 1;
    }

    /// Writes `heading = value`, the value broken over lines if it is long.
    fn write_definition(&mut self, heading: &str, value: Option<&Expr>) {
        let Some(value) = value else { return self.write_line(heading) };
        let line = format!("{heading} = {}", expr(value));
        if self.fits(&line) {
            return self.write_line(&line);
        }
        self.write_line(&format!("{heading} ="));
        self.level += 1;
        self.broken("", value);
        self.level -= 1;
    }

    // States and transitions.

    fn transitions(&mut self, transitions: &[TransitionDecl]) {
        for transition in transitions {
            self.unit(transition.span, &transition.meta, |printer| printer.transition(transition));
        }
    }

    fn transition(&mut self, transition: &TransitionDecl) {
        let label = transition.label.as_ref().map_or(String::new(), |label| format!("{}: ", label.text));
        let gate = transition.gate.as_ref().map_or(String::new(), |gate| format!(" {}", gate.text));
        let head = format!("{label}{}{gate}", transition.verb.word());
        let pins: Vec<String> = transition.pins.iter().map(pin).collect();
        let updates: Vec<String> = transition.updates.iter().map(update).collect();
        let mut line = head.clone();
        if !pins.is_empty() {
            line.push_str(&format!("({})", pins.join(", ")));
        }
        let condition = condition(transition);
        if !condition.is_empty() {
            line.push_str(&format!(" when {condition}"));
        }
        if !updates.is_empty() {
            line.push_str(&format!(" {{ {} }}", updates.join(", ")));
        }
        if let Some(target) = &transition.target {
            line.push_str(&format!(" -> {}", target.text));
        }
        if self.fits(&line) {
            return self.write_line(&line);
        }
        self.write_call(&head, &plain_parts(&pins));
        self.level += 1;
        let lets = lets(transition).join(" && ");
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
            self.write_line(&format!("-> {}", target.text));
        }
        self.level -= 1;
    }

    // Goals.

    fn purpose(&mut self, purpose: &PurposeDecl) {
        let heading = format!("purpose {}: ", purpose.name.text);
        match &purpose.goal {
            PurposeGoal::Path(labels) => self.path(&heading, labels),
            PurposeGoal::Reach { state, when } => {
                let state = state.as_ref().map_or(String::new(), |state| format!(" {}", state.text));
                let condition = when.as_ref().map_or(String::new(), |when| format!(" when {}", expr(when)));
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
    fn path(&mut self, heading: &str, labels: &[Name]) {
        let mut line = heading.to_owned();
        let mut is_first_line = true;
        for (index, label) in labels.iter().enumerate() {
            let comma = if index + 1 < labels.len() { "," } else { "" };
            let more = format!("{}{comma}", label.text);
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
        let heading = format!("state {}", state.name.text);
        let first = state.transitions.first().map(|first| first.span);
        self.block(state.span, &state.meta, &heading, first, |printer| {
            printer.transitions(&state.transitions)
        });
    }

    fn property(&mut self, property: &Property) {
        let label = property.label.as_ref().map_or(String::new(), |label| format!("{}: ", label.text));
        let word = match property.kind {
            PropertyKind::Always => "always",
            PropertyKind::Sometimes => "sometimes",
        };
        let line = format!("{label}{word} {}", expr(&property.condition));
        if self.fits(&line) {
            return self.write_line(&line);
        }
        self.write_line(&format!("{label}{word}"));
        self.level += 1;
        self.broken("", &property.condition);
        self.level -= 1;
    }

    fn test(&mut self, test: &TestDecl, item: &ModelItem) {
        let heading = format!("test {}", string_literal(&test.name));
        let first = test.steps.first().map(|first| first.span);
        self.block(item.span, &item.meta, &heading, first, |printer| {
            for step in &test.steps {
                printer.unit(step.span, &crate::ast::DeclMeta::default(), |printer| printer.write_step(step));
            }
        });
    }

    fn write_step(&mut self, step: &StepDecl) {
        match &step.kind {
            StepKind::Send(pattern) => self.pattern("send", pattern),
            StepKind::Expect(pattern) => self.pattern("expect", pattern),
            StepKind::Quiet(None) => self.write_line("quiet"),
            StepKind::Quiet(Some(duration)) => self.write_line(&format!("quiet {}", expr(duration))),
        }
    }

    fn pattern(&mut self, word: &str, pattern: &MessagePattern) {
        let head = format!("{word} {}", pattern.gate.text);
        let pins: Vec<String> = pattern.pins.iter().map(pin).collect();
        let Some(guard) = &pattern.guard else { return self.write_call(&head, &plain_parts(&pins)) };
        let pinned = if pins.is_empty() { head.clone() } else { format!("{head}({})", pins.join(", ")) };
        let line = format!("{pinned} when {}", expr(guard));
        if self.fits(&line) {
            return self.write_line(&line);
        }
        self.write_call(&head, &plain_parts(&pins));
        self.level += 1;
        self.broken("when ", guard);
        self.level -= 1;
    }
}

pub(super) fn attribute(attr: &Attr) -> String {
    match &attr.kind {
        AttrKind::Req(text) => format!("@req({})", string_literal(text)),
        AttrKind::Weight(weight) => format!("@weight({weight})"),
    }
}

fn lets(transition: &TransitionDecl) -> Vec<String> {
    let each = transition.lets.iter();
    each.map(|it| format!("let {} = {}", pattern(&it.pattern), expr(&it.value))).collect()
}

/// Returns the text behind `when`: the patterns and the guard.
fn condition(transition: &TransitionDecl) -> String {
    let mut parts = lets(transition);
    parts.extend(transition.guard.as_ref().map(expr));
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

fn variant(variant: &VariantDecl) -> BracketPart<'_> {
    let fields: Vec<String> = variant.fields.iter().map(field).collect();
    let text = if fields.is_empty() {
        variant.name.text.clone()
    } else {
        format!("{}({})", variant.name.text, fields.join(", "))
    };
    BracketPart { docs: &variant.docs, text }
}

fn field_part(one: &FieldDecl) -> BracketPart<'_> {
    BracketPart { docs: &one.docs, text: field(one) }
}

fn field(field: &FieldDecl) -> String {
    format!("{}: {}", field.name.text, ty(&field.ty))
}

/// `(field: value, ...)`; nothing if there are none.
pub(super) fn pins(pins: &[PinDecl]) -> String {
    let all: Vec<String> = pins.iter().map(pin).collect();
    if all.is_empty() { String::new() } else { format!("({})", all.join(", ")) }
}

fn pin(pin: &PinDecl) -> String {
    format!("{}: {}", pin.field.text, expr(&pin.value))
}

fn update(update: &Update) -> String {
    match &update.kind {
        UpdateKind::Assign(target, value) => format!("{} = {}", target.text, expr(value)),
        UpdateKind::Put(target, key, value) => format!("{}[{}] = {}", target.text, expr(key), expr(value)),
        UpdateKind::Reset(clock) => format!("reset {}", clock.text),
    }
}
