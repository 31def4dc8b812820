//! Behaviours: `##` binds tighter than parallel composition, which binds tighter than `>>>`, `[>>` and `[><`; all group
//! to the left. Behind `>->` and `=>>` stands a behaviour without operators, or one in brackets.

use std::sync::Arc;

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::Span;

use super::super::lexer::Lexeme;
use super::super::tree::{
    BehaviourId, BehaviourKind, BehaviourTree, ChannelOffer, FormulaKind, FreeNames, OfferedOn, OfferedValue,
    SyncChannels, TxsExpr, TxsOperator, VarDef, add_name, add_names, names_around,
};
use super::super::typing::ANY;
use super::{MAX_BEHAVIOURS, TxsRead, TxsReader, without_taken};
use crate::ast::Name;

/// The greatest number of compositions in one row, each of which is one level of control. Chosen by feel, as for
/// nesting.
const MAX_ROW: usize = 64;

/// The greatest nesting depth of operators, with or without brackets. Chosen by feel: the parser is recursive, and
/// people write far less.
const MAX_DEPTH: usize = 128;

/// A prefix of a behaviour; prefixes are read in a row.
enum BehaviourPrefix {
    Offer(ChannelOffer),
    Guard(TxsExpr, Span),
}

impl TxsReader<'_> {
    /// Parses a behaviour, from the operators that bind least: enable, disable and interrupt.
    pub(super) fn parse_behaviour(&mut self) -> TxsRead<BehaviourId> {
        self.with_nesting(|reader| {
            let start = reader.span();
            let mut left = reader.parse_parallel()?;
            // A loop builds the tree to the left. Later passes recurse down that side, hence the limit on its
            // length.
            for _ in 0..MAX_ROW {
                let Lexeme::Sign(sign @ (">>>" | "[>>" | "[><")) = *reader.lexeme() else { return Ok(left) };
                reader.bump();
                let right = reader.parse_parallel()?;
                let kind = match sign {
                    ">>>" => BehaviourKind::Enable(left, right),
                    "[>>" => BehaviourKind::Disable(left, right),
                    _ => BehaviourKind::Interrupt(left, right),
                };
                left = reader.add_behaviour(kind, start)?;
            }
            reader.row_too_long()
        })
    }

    /// Parses behaviours side by side: `|||`, `||` or `|[ channels ]|`.
    fn parse_parallel(&mut self) -> TxsRead<BehaviourId> {
        let start = self.span();
        let mut left = self.parse_alternatives()?;
        for _ in 0..MAX_ROW {
            let sync = match *self.lexeme() {
                Lexeme::Sign("|||") => SyncChannels::Only(Vec::new()),
                Lexeme::Sign("||") => SyncChannels::All,
                Lexeme::Sign("|[") => {
                    self.bump();
                    let names =
                        if self.at_name() { self.parse_names("the name of a channel")? } else { Vec::new() };
                    if !self.at_sign("]|") {
                        return self.report_expected("`]|`");
                    }
                    SyncChannels::Only(names)
                }
                _ => return Ok(left),
            };
            self.bump();
            let right = self.parse_alternatives()?;
            left = self.add_behaviour(BehaviourKind::Parallel(sync, left, right), start)?;
        }
        self.row_too_long()
    }

    fn row_too_long<T>(&mut self) -> TxsRead<T> {
        let span = self.span();
        Err(self.sink.error(|| {
            let message = format!("more than {MAX_ROW} behaviours in a row");
            Diagnostic::new(Code::NestingTooDeep, span, message)
        }))
    }

    /// Parses the alternatives of a choice, separated by `##`.
    fn parse_alternatives(&mut self) -> TxsRead<BehaviourId> {
        let start = self.span();
        let first = self.parse_sequence()?;
        let mut all = vec![first];
        while self.eat("##") {
            all.push(self.parse_sequence()?);
        }
        if all.len() == 1 { Ok(first) } else { self.add_behaviour(BehaviourKind::Choice(all), start) }
    }

    /// `A ? x >-> [[ x > 0 ]] =>> B >-> rest`
    fn parse_sequence(&mut self) -> TxsRead<BehaviourId> {
        let mut before = Vec::new();
        let mut last = loop {
            if self.at_sign("[[") {
                let start = self.span();
                let guard = self.parse_condition()?;
                self.expect_sign("=>>")?;
                before.push(BehaviourPrefix::Guard(guard, self.span_since(start)));
            } else if self.is_offer() {
                before.push(BehaviourPrefix::Offer(self.parse_offer()?));
                // A communication at the end stops, as if `>-> STOP` were written.
                if !self.eat(">->") {
                    let start = self.span();
                    break self.add_behaviour(BehaviourKind::Stop, start)?;
                }
            } else {
                break self.with_nesting(Self::parse_simple)?;
            }
        };
        // From the last to the first: every node is made with the one behind it, so ids of children are
        // smaller.
        while let Some(one) = before.pop() {
            let (kind, span) = match one {
                BehaviourPrefix::Guard(guard, span) => (BehaviourKind::Guard(guard, last), span),
                BehaviourPrefix::Offer(offer) => {
                    let span = offer.span;
                    (BehaviourKind::Prefix(offer, last), span)
                }
            };
            last = self.add_behaviour(kind, span)?;
        }
        Ok(last)
    }

    /// Returns whether a communication stands here, not a call.
    fn is_offer(&self) -> bool {
        match self.lexeme() {
            Lexeme::Word(word) if ["EXIT", "HIT", "MISS", "ISTEP", "QSTEP"].contains(&&**word) => true,
            // A name with a bracket behind it is the call of a process with its channels.
            _ => self.at_name() && *self.lexeme_after(1) != Lexeme::Sign("["),
        }
    }

    /// `Chan ? x ! e | Other ! f | EXIT [[ guard ]]`
    pub(super) fn parse_offer(&mut self) -> TxsRead<ChannelOffer> {
        let start = self.span();
        let alone = match self.lexeme() {
            Lexeme::Word(word) if word == "HIT" => Some(OfferedOn::Hit),
            Lexeme::Word(word) if word == "MISS" => Some(OfferedOn::Miss),
            Lexeme::Word(word) if word == "QSTEP" => Some(OfferedOn::Quiet),
            _ => None,
        };
        let mut offer = ChannelOffer {
            on: OfferedOn::Internal,
            with: Vec::new(),
            exit: None,
            values: Vec::new(),
            guard: None,
            span: start,
        };
        match alone {
            Some(on) => {
                self.bump();
                offer.on = on;
                offer.values = self.parse_offers()?;
            }
            None => self.parse_communication(&mut offer)?,
        }
        if self.at_sign("[[") {
            offer.guard = Some(self.parse_condition()?);
        }
        offer.span = self.span_since(start);
        Ok(offer)
    }

    /// Parses channels with their values, `EXIT` and `ISTEP`, with `|` between them. `ISTEP` adds nothing to a
    /// communication.
    fn parse_communication(&mut self, offer: &mut ChannelOffer) -> TxsRead<()> {
        let mut ending: Option<Vec<OfferedValue>> = None;
        loop {
            let span = self.span();
            if self.eat_word("EXIT") {
                if ending.is_some() {
                    let message = "`EXIT` occurs twice in one communication";
                    return Err(self.sink.error(|| Diagnostic::new(Code::DuplicateName, span, message)));
                }
                ending = Some(self.parse_offers()?);
            } else if self.eat_word("ISTEP") {
                if !self.parse_offers()?.is_empty() {
                    self.sink.error(|| Diagnostic::new(Code::ArgumentCount, span, "`ISTEP` has no values"));
                }
            } else {
                let channel = self.expect_name("a channel")?;
                let own = self.parse_offers()?;
                match offer.on {
                    OfferedOn::Channel(_) => offer.with.push((channel, own.len())),
                    _ => offer.on = OfferedOn::Channel(channel),
                }
                offer.values.extend(own);
            }
            if !self.eat("|") {
                break;
            }
        }
        if let Some(values) = ending {
            match offer.on {
                OfferedOn::Channel(_) => offer.exit = Some(values.len()),
                _ => offer.on = OfferedOn::Exit,
            }
            offer.values.extend(values);
        }
        Ok(())
    }

    /// `[[ a, b ]]`, all of which hold.
    fn parse_condition(&mut self) -> TxsRead<TxsExpr> {
        self.expect_sign("[[")?;
        let start = self.span();
        let first = self.parse_formula()?;
        let mut rest = Vec::new();
        while self.at_sign(",") {
            let operator = TxsOperator { sign: "/\\", span: self.span() };
            self.bump();
            rest.push((operator, self.parse_formula()?));
        }
        let span = self.span_since(start);
        self.expect_sign("]]")?;
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(TxsExpr { kind: FormulaKind::Chain(Box::new(first), rest), span })
    }

    /// `? x :: Int ! e`
    pub(super) fn parse_offers(&mut self) -> TxsRead<Vec<OfferedValue>> {
        let mut values = Vec::new();
        loop {
            if self.eat("?") {
                values.push(OfferedValue::Take(self.var_def()?));
            } else if self.eat("!") {
                values.push(offered_value(self.parse_formula()?));
            } else {
                return Ok(values);
            }
        }
    }

    /// A behaviour that starts with a word or a bracket.
    fn parse_simple(&mut self) -> TxsRead<BehaviourId> {
        let start = self.span();
        if self.eat("(") {
            let inner = self.parse_behaviour()?;
            self.expect_sign(")")?;
            return Ok(inner);
        }
        let kind = match self.lexeme().clone() {
            Lexeme::Word(word) if word == "STOP" => {
                self.bump();
                BehaviourKind::Stop
            }
            Lexeme::Word(word) if word == "LET" => {
                let groups = self.parse_bindings()?;
                BehaviourKind::Let(groups, self.parse_enclosed()?)
            }
            Lexeme::Word(word) if word == "HIDE" => {
                self.bump();
                let channels = self.channel_params()?;
                self.expect_word("IN")?;
                BehaviourKind::Hide(channels, self.parse_enclosed()?)
            }
            Lexeme::Word(word) if word == "ACCEPT" => {
                self.bump();
                let offered = self.parse_offers()?;
                self.expect_word("IN")?;
                BehaviourKind::Accept(offered, self.parse_enclosed()?)
            }
            _ => return self.parse_call(),
        };
        self.add_behaviour(kind, start)
    }

    /// `behaviour NI`
    fn parse_enclosed(&mut self) -> TxsRead<BehaviourId> {
        let inner = self.parse_behaviour()?;
        self.expect_word("NI")?;
        Ok(inner)
    }

    /// `process [A, B] (1, x)`
    fn parse_call(&mut self) -> TxsRead<BehaviourId> {
        let start = self.span();
        let process = self.expect_name("a behaviour")?;
        self.expect_sign("[")?;
        let channels = if self.at_name() { self.parse_names("the name of a channel")? } else { Vec::new() };
        self.expect_sign("]")?;
        self.expect_sign("(")?;
        let mut args = Vec::new();
        while !self.at_sign(")") {
            args.push(self.parse_formula()?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect_sign(")")?;
        self.add_behaviour(BehaviourKind::Call { process, channels, args }, start)
    }

    /// Adds a node to the tree of behaviours; too many or too deeply nested ones are reported.
    pub(super) fn add_behaviour(&mut self, kind: BehaviourKind, start: Span) -> TxsRead<BehaviourId> {
        let span = self.span_since(start);
        if self.spec.behaviours.len() >= MAX_BEHAVIOURS {
            return Err(self.sink.error(|| {
                Diagnostic::new(Code::TooLarge, span, "the behaviours of this text are too many")
            }));
        }
        // Computed from the children, without a walk: each node knows its own.
        let depth = self.depth_of(&kind);
        if depth > MAX_DEPTH {
            return Err(self.sink.error(|| {
                let message = format!("operators are nested more than {MAX_DEPTH} deep here");
                Diagnostic::new(Code::NestingTooDeep, span, message).help("name inner parts with `PROCDEF`")
            }));
        }
        self.spec.has_joint_exit |= matches!(&kind, BehaviourKind::Prefix(offer, _) if offer.exit.is_some());
        let free = self.free_names(&kind);
        Ok(self.spec.behaviours.push(BehaviourTree { kind, span, owner: self.owner, free, depth }))
    }

    /// Returns the nesting depth of `kind`; the behaviour behind an offer or a guard is not deeper than the whole.
    fn depth_of(&self, kind: &BehaviourKind) -> usize {
        let of = |id: &BehaviourId| self.spec.behaviours[*id].depth;
        match kind {
            BehaviourKind::Stop | BehaviourKind::Call { .. } | BehaviourKind::Enter { .. } => 0,
            BehaviourKind::Prefix(_, next) | BehaviourKind::Guard(_, next) => of(next),
            BehaviourKind::Accept(_, body) | BehaviourKind::Hide(_, body) | BehaviourKind::Let(_, body) => {
                of(body) + 1
            }
            BehaviourKind::Choice(all) => all.iter().map(of).max().unwrap_or(0) + 1,
            BehaviourKind::Parallel(_, a, b)
            | BehaviourKind::Enable(a, b)
            | BehaviourKind::Disable(a, b)
            | BehaviourKind::Interrupt(a, b) => of(a).max(of(b)) + 1,
        }
    }

    /// The names that `kind` mentions and does not bind, from those of its parts.
    fn free_names(&self, kind: &BehaviourKind) -> FreeNames {
        let of = |id: &BehaviourId| self.spec.behaviours[*id].free.clone();
        let mut free = match kind {
            BehaviourKind::Stop | BehaviourKind::Call { .. } | BehaviourKind::Enter { .. } => {
                FreeNames::default()
            }
            BehaviourKind::Prefix(_, next)
            | BehaviourKind::Guard(_, next)
            | BehaviourKind::Accept(_, next) => of(next),
            BehaviourKind::Hide(_, body) | BehaviourKind::Let(_, body) => of(body),
            BehaviourKind::Choice(all) => {
                let mut free = all.first().map(of).unwrap_or_default();
                all.iter().skip(1).for_each(|one| free.add_all(&self.spec.behaviours[*one].free));
                free
            }
            BehaviourKind::Parallel(_, a, b)
            | BehaviourKind::Enable(a, b)
            | BehaviourKind::Disable(a, b)
            | BehaviourKind::Interrupt(a, b) => {
                let mut free = of(a);
                free.add_all(&self.spec.behaviours[*b].free);
                free
            }
        };
        // Now the node itself: what it binds is taken out of the names of its parts, and then what it reads
        // is added, because that is outside of what it binds.
        match kind {
            BehaviourKind::Prefix(offer, _) => {
                if let Some(guard) = &offer.guard {
                    guard.names(Arc::make_mut(&mut free.vars));
                }
                free.add_offers(&offer.values);
                if let OfferedOn::Channel(name) = &offer.on {
                    add_name(&mut free.channels, &name.text);
                }
                offer.with.iter().for_each(|(name, _)| add_name(&mut free.channels, &name.text));
            }
            BehaviourKind::Accept(offered, _) => free.add_offers(offered),
            BehaviourKind::Guard(guard, _) => guard.names(Arc::make_mut(&mut free.vars)),
            BehaviourKind::Hide(channels, _) => {
                for channel in channels {
                    if free.channels.contains(&channel.name.text) {
                        Arc::make_mut(&mut free.channels).remove(&channel.name.text);
                    }
                }
            }
            BehaviourKind::Let(groups, _) => names_around(groups, Arc::make_mut(&mut free.vars)),
            BehaviourKind::Parallel(SyncChannels::Only(names), ..) => {
                names.iter().for_each(|name| add_name(&mut free.channels, &name.text));
            }
            BehaviourKind::Call { channels, args, .. } => {
                channels.iter().for_each(|name| add_name(&mut free.channels, &name.text));
                args.iter().for_each(|arg| arg.names(Arc::make_mut(&mut free.vars)));
            }
            BehaviourKind::Enter { channels, args, .. } => {
                add_names(&mut free.channels, channels);
                args.iter().for_each(|arg| arg.names(Arc::make_mut(&mut free.vars)));
            }
            _ => {}
        }
        free
    }
}

/// Returns the offer of `value`. An offer of any value takes whatever the other sides give, under a name that no text
/// can mention.
fn offered_value(value: TxsExpr) -> OfferedValue {
    match value {
        TxsExpr { kind: FormulaKind::Any, span } => {
            let text = format!("{ANY}.{}", span.start);
            OfferedValue::Take(VarDef { name: Name { text, span }, sort: None })
        }
        value => OfferedValue::Give(value),
    }
}

impl FreeNames {
    /// Adds the free names of another behaviour.
    fn add_all(&mut self, other: &Self) {
        add_names(&mut self.vars, &other.vars);
        add_names(&mut self.channels, &other.channels);
    }

    /// Removes the names bound by received values, and adds those mentioned in sent ones.
    fn add_offers(&mut self, offered: &[OfferedValue]) {
        if offered.is_empty() {
            return;
        }
        let vars = Arc::make_mut(&mut self.vars);
        without_taken(vars, offered);
        for one in offered {
            if let OfferedValue::Give(value) = one {
                value.names(vars);
            }
        }
    }
}
