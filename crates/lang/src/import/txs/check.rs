//! The checks of behaviours: names, channels, sorts, exits.
//!
//! The exit of a behaviour is its offer on `EXIT`: nothing, or values of some sorts. Both sides of a composition agree
//! on it; the behaviour behind `>>>` accepts it.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::index::IndexVec;
use ioxide_model::sort::Sort;
use ioxide_model::source::Span;
use ioxide_model::term::TermPool;

use super::circles::CallGraph;
use super::overload::may_be;
use super::tree::{
    BehaviourId, BehaviourKind, ChanDef, ChannelOffer, ExitDef, ModelDef, OfferedOn, OfferedValue,
    PurposeDef, Specification, SyncChannels, VarDef,
};
use super::typing::{Scope, Typing};
use super::words::Vocabulary;
use crate::ast::Name;
use crate::sink::{FindingSink, Reported};
use crate::suggest;

/// The ways in which a behaviour may end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BehaviourEnding {
    Never,
    Exit(Vec<Sort>),
    Hit,
}

/// The signature of a process, known before its body is checked.
#[derive(PartialEq, Eq)]
pub(super) struct ProcessSignature {
    pub(super) channels: Vec<Vec<Sort>>,
    pub(super) params: Vec<Sort>,
    pub(super) exit: BehaviourEnding,
}

/// The processes and channels of a text, with their sorts.
pub(super) struct ProcessInterface {
    /// The signatures, by the number of the process.
    pub(super) signatures: Vec<ProcessSignature>,
    /// The processes of each name: they differ in their channels, parameters or exits.
    processes: BTreeMap<String, Vec<usize>>,
    /// The process that each call means.
    pub(super) called: BTreeMap<BehaviourId, usize>,
    /// True for behaviours that may end with `EXIT`, `HIT` or `MISS`.
    pub(super) ends: IndexVec<BehaviourId, bool>,
    /// The channels of the text.
    pub(super) channels: BTreeMap<String, Vec<Sort>>,
}

/// The channels in scope, with their sorts.
type ChannelSorts = BTreeMap<String, Vec<Sort>>;

/// Checks all processes, models and purposes, and returns the interface; errors go into `sink`.
pub(super) fn check_specification(
    spec: &Specification,
    vocabulary: &Vocabulary,
    pool: &TermPool,
    sink: &mut FindingSink,
) -> ProcessInterface {
    let mut interface = collect_interface(spec, vocabulary, sink);
    let mut pool = pool.clone();
    let mut checker = BehaviourChecker {
        spec,
        words: vocabulary,
        interface: &interface,
        pool: &mut pool,
        called: BTreeMap::new(),
        sink,
    };
    for (at, process) in spec.processes.iter().enumerate() {
        checker.check_process(at, process);
    }
    spec.models.iter().chain(&spec.mappers).for_each(|model| checker.check_model(model));
    spec.purposes.iter().for_each(|purpose| checker.check_purpose(purpose));
    interface.called = checker.called;
    interface.ends = find_ends(spec, &interface);
    interface
}

/// Collects the names and signatures of all processes and channels, and reports those declared twice.
fn collect_interface(
    spec: &Specification,
    vocabulary: &Vocabulary,
    sink: &mut FindingSink,
) -> ProcessInterface {
    let mut processes: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut signatures: Vec<ProcessSignature> = Vec::with_capacity(spec.processes.len());
    for (at, process) in spec.processes.iter().enumerate() {
        let channels =
            process.channels.iter().map(|channel| resolve_sorts(vocabulary, &channel.sorts, sink)).collect();
        let params = process
            .params
            .iter()
            // An unknown sort was reported; with a sort in its place the body is checked all the same and its
            // other errors are found in the same round.
            .map(|param| vocabulary.var_sort(param, sink).unwrap_or(Sort::Int))
            .collect();
        let exit = match &process.exit {
            ExitDef::Never => BehaviourEnding::Never,
            ExitDef::Hit => BehaviourEnding::Hit,
            ExitDef::Exit(names) => BehaviourEnding::Exit(resolve_sorts(vocabulary, names, sink)),
        };
        let signature = ProcessSignature { channels, params, exit };
        let name = process.name.text.clone();
        // The process that an automaton is, by the other name that TorXakis gives it.
        let other = process.is_automaton.then(|| format!("stdi_{name}"));
        for name in std::iter::once(name).chain(other) {
            let same_name = processes.entry(name).or_default();
            if same_name.iter().any(|&other: &usize| signatures[other] == signature) {
                report_twice(sink, "process", &process.name);
            } else {
                same_name.push(at);
            }
        }
        signatures.push(signature);
    }
    let mut channels = BTreeMap::new();
    for channel in &spec.channels {
        if channels
            .insert(channel.name.text.clone(), resolve_sorts(vocabulary, &channel.sorts, sink))
            .is_some()
        {
            report_twice(sink, "channel", &channel.name);
        }
    }
    ProcessInterface { signatures, processes, called: BTreeMap::new(), ends: IndexVec::new(), channels }
}

/// Returns the sorts that `names` denote; an unknown one is reported and read as `int`.
fn resolve_sorts(vocabulary: &Vocabulary, names: &[Name], sink: &mut FindingSink) -> Vec<Sort> {
    names.iter().map(|name| vocabulary.sort(name, sink).unwrap_or(Sort::Int)).collect()
}

/// Reports a second declaration of a name.
fn report_twice(sink: &mut FindingSink, what: &str, name: &Name) {
    sink.error(|| {
        Diagnostic::new(Code::DuplicateName, name.span, format!("{what} `{}` is declared twice", name.text))
    });
}

fn both_ways(sink: &mut FindingSink, name: &Name) {
    let message = format!("channel `{}` is an input and an output at once", name.text);
    sink.error(|| {
        Diagnostic::new(Code::DuplicateName, name.span, message).help(
            "declare two channels, one for each direction: a message is sent by the tester or by the system",
        )
    });
}

struct BehaviourChecker<'a> {
    spec: &'a Specification,
    words: &'a Vocabulary,
    interface: &'a ProcessInterface,
    pool: &'a mut TermPool,
    called: BTreeMap<BehaviourId, usize>,
    sink: &'a mut FindingSink,
}

impl BehaviourChecker<'_> {
    /// Checks the body of a process against its signature.
    fn check_process(&mut self, at: usize, process: &super::tree::ProcDef) {
        let signature = &self.interface.signatures[at];
        let mut reach = ChannelSorts::new();
        for (channel, sorts) in process.channels.iter().zip(&signature.channels) {
            if reach.insert(channel.name.text.clone(), sorts.clone()).is_some() {
                report_twice(self.sink, "channel", &channel.name);
            }
        }
        let mut scope = Scope::new();
        for (param, &sort) in process.params.iter().zip(&signature.params) {
            if scope.contains_key(&param.name.text) {
                report_twice(self.sink, "parameter", &param.name);
            }
            self.declare_variable(&mut scope, param, sort);
        }
        let ending = self.check_behaviour(process.body, scope, &reach);
        // A body that never ends fits every heading: it makes no exit that could differ from the declared
        // one.
        if ending != BehaviourEnding::Never && ending != signature.exit {
            let (body, heading) = (self.ending_name(&ending), self.ending_name(&signature.exit));
            let name = &process.name;
            self.sink.error(|| {
                let message =
                    format!("process `{}` ends with {body}, but its heading declares {heading}", name.text);
                Diagnostic::new(Code::BadExit, name.span, message)
                    .help("the sorts of the exit follow the parameters: `EXIT Int # Bool`")
            });
        }
    }

    fn ending_name(&mut self, ending: &BehaviourEnding) -> String {
        match ending {
            BehaviourEnding::Never => "no exit".into(),
            BehaviourEnding::Hit => "`HIT`".into(),
            BehaviourEnding::Exit(sorts) if sorts.is_empty() => "`EXIT`".into(),
            BehaviourEnding::Exit(sorts) => {
                let typing = Typing { words: self.words, pool: self.pool, sink: self.sink };
                let names: Vec<String> = sorts.iter().map(|&sort| typing.sort_name(sort)).collect();
                format!("`EXIT {}`", names.join(" # "))
            }
        }
    }

    /// Checks the behaviour of a model, which may not end as the goals of purposes do.
    fn check_model(&mut self, model: &ModelDef) {
        let reach = self.outer_channels(&model.inputs, &model.outputs);
        if self.check_behaviour(model.body, Scope::new(), &reach) == BehaviourEnding::Hit {
            let message = "`HIT` and `MISS` belong to the goals of a `PURPDEF`";
            self.sink.error(|| Diagnostic::new(Code::BadExit, model.name.span, message));
        }
    }

    /// Checks the goals of a purpose, which may not end with `EXIT`.
    fn check_purpose(&mut self, purpose: &PurposeDef) {
        let reach = self.outer_channels(&purpose.inputs, &purpose.outputs);
        for (name, body) in &purpose.goals {
            if matches!(self.check_behaviour(*body, Scope::new(), &reach), BehaviourEnding::Exit(_)) {
                let message = format!("goal `{}` ends with `EXIT`", name.text);
                self.sink.error(|| {
                    Diagnostic::new(Code::BadExit, name.span, message)
                        .help("a goal ends with `HIT` or `MISS`")
                });
            }
        }
    }

    /// Returns the channels of a model or purpose, which the text must declare.
    fn outer_channels(&mut self, inputs: &[Name], outputs: &[Name]) -> ChannelSorts {
        let mut reach = ChannelSorts::new();
        for name in inputs.iter().chain(outputs) {
            let found = self.channel_sorts(name, &self.interface.channels);
            let Ok(sorts) = found else { continue };
            if reach.insert(name.text.clone(), sorts).is_some() {
                let is_in = |names: &[Name]| names.iter().any(|other| other.text == name.text);
                if is_in(inputs) && is_in(outputs) {
                    both_ways(self.sink, name)
                } else {
                    report_twice(self.sink, "channel", name)
                }
            }
        }
        reach
    }

    /// Returns the sorts of a channel in scope.
    fn channel_sorts(&mut self, name: &Name, reach: &ChannelSorts) -> Result<Vec<Sort>, Reported> {
        if let Some(sorts) = reach.get(&name.text) {
            return Ok(sorts.clone());
        }
        let names = reach.keys().map(String::as_str);
        Err(self.sink.missing(&name.text, || {
            let message = format!("there is no channel `{}` here", name.text);
            suggest::suggest_nearest(Diagnostic::new(Code::UnknownGate, name.span, message), name, names)
        }))
    }

    /// Declares a variable and puts it into the scope.
    fn declare_variable(&mut self, scope: &mut Scope, var: &VarDef, sort: Sort) {
        let id = self.pool.declare(&var.name.text, sort);
        scope.insert(var.name.text.clone(), self.pool.var(id));
    }

    /// Returns the checker of expressions, on the same pool and findings.
    fn typing(&mut self) -> Typing<'_> {
        Typing { words: self.words, pool: self.pool, sink: self.sink }
    }

    /// Checks a behaviour and returns its ending.
    fn check_behaviour(
        &mut self,
        mut id: BehaviourId,
        mut scope: Scope,
        reach: &ChannelSorts,
    ) -> BehaviourEnding {
        let spec = self.spec;
        // A loop along the sequence, recursion only into branches: texts may have sequences longer than the stack
        // is deep.
        let mut ending = BehaviourEnding::Never;
        loop {
            let behaviour = &spec.behaviours[id];
            let span = behaviour.span;
            let (more, next) = match &behaviour.kind {
                BehaviourKind::Stop => return ending,
                BehaviourKind::Prefix(offer, next) => {
                    (self.check_offer(offer, &mut scope, reach), Some(*next))
                }
                BehaviourKind::Guard(guard, next) => {
                    _ = self.typing().check(guard, Sort::Bool, &scope);
                    (BehaviourEnding::Never, Some(*next))
                }
                BehaviourKind::Let(groups, next) => {
                    // Without the names that it binds, everything behind would be reported as unknown.
                    let Ok(bound) = self.typing().bind(groups, &scope) else { return ending };
                    scope = bound;
                    (BehaviourEnding::Never, Some(*next))
                }
                BehaviourKind::Choice(all) => {
                    let mut joint = BehaviourEnding::Never;
                    for &one in all {
                        let ending = self.check_behaviour(one, scope.clone(), reach);
                        joint = self.joint(joint, ending, spec.behaviours[one].span);
                    }
                    (joint, None)
                }
                BehaviourKind::Parallel(sync, left, right) => {
                    if let SyncChannels::Only(names) = sync {
                        names.iter().for_each(|name| drop(self.channel_sorts(name, reach)));
                    }
                    (self.check_sides(*left, *right, &scope, reach), None)
                }
                BehaviourKind::Disable(left, right) => (self.check_both(*left, *right, &scope, reach), None),
                // What interrupts comes back to what it interrupted, so only that says how the whole ends.
                BehaviourKind::Interrupt(left, right) => {
                    self.check_behaviour(*right, scope.clone(), reach);
                    (self.check_behaviour(*left, scope.clone(), reach), None)
                }
                BehaviourKind::Enable(left, right) => {
                    let exit = self.check_behaviour(*left, scope.clone(), reach);
                    (self.check_enabled(*right, &exit, scope.clone(), reach), None)
                }
                BehaviourKind::Accept(..) => {
                    let message = "`ACCEPT` must follow `>>>` directly";
                    self.sink.error(|| Diagnostic::new(Code::BadExit, span, message));
                    return ending;
                }
                BehaviourKind::Hide(channels, body) => {
                    let inner = self.with_hidden_channels(channels, reach);
                    (self.check_behaviour(*body, scope.clone(), &inner), None)
                }
                BehaviourKind::Call { process, channels, args } => {
                    let call = WrittenCall { process, channels, args };
                    (self.check_call(id, call, &scope, reach), None)
                }
                // The parser has made the call from the heading, so only the values of variables can be wrong.
                BehaviourKind::Enter { process, args, .. } => {
                    let signature = &self.interface.signatures[*process];
                    for (arg, &sort) in args.iter().zip(&signature.params) {
                        _ = self.typing().check(arg, sort, &scope);
                    }
                    (signature.exit.clone(), None)
                }
            };
            ending = self.joint(ending, more, span);
            match next {
                Some(next) => id = next,
                None => return ending,
            }
        }
    }

    /// Returns how two behaviours side by side end: with `EXIT` only if both do, because they exit together.
    fn check_sides(
        &mut self,
        left: BehaviourId,
        right: BehaviourId,
        scope: &Scope,
        reach: &ChannelSorts,
    ) -> BehaviourEnding {
        let first = self.check_behaviour(left, scope.clone(), reach);
        let second = self.check_behaviour(right, scope.clone(), reach);
        match (&first, &second) {
            (BehaviourEnding::Never, BehaviourEnding::Exit(_))
            | (BehaviourEnding::Exit(_), BehaviourEnding::Never) => BehaviourEnding::Never,
            _ => self.joint(first, second, self.spec.behaviours[right].span),
        }
    }

    fn check_both(
        &mut self,
        left: BehaviourId,
        right: BehaviourId,
        scope: &Scope,
        reach: &ChannelSorts,
    ) -> BehaviourEnding {
        let first = self.check_behaviour(left, scope.clone(), reach);
        let second = self.check_behaviour(right, scope.clone(), reach);
        self.joint(first, second, self.spec.behaviours[right].span)
    }

    /// Returns the ending that two behaviours have in common, or that of the only one that ends.
    fn joint(&mut self, first: BehaviourEnding, second: BehaviourEnding, span: Span) -> BehaviourEnding {
        match (first, second) {
            // A side that never ends leaves the ending to the other one.
            (BehaviourEnding::Never, other) | (other, BehaviourEnding::Never) => other,
            (first, second) => {
                if first != second {
                    let (a, b) = (self.ending_name(&first), self.ending_name(&second));
                    self.sink.error(|| {
                        Diagnostic::new(
                            Code::BadExit,
                            span,
                            format!("this ends with {b}, but the other process ends with {a}"),
                        )
                    });
                }
                first
            }
        }
    }

    /// Returns the channels in reach inside a `HIDE`.
    fn with_hidden_channels(&mut self, channels: &[ChanDef], reach: &ChannelSorts) -> ChannelSorts {
        let mut inner = reach.clone();
        for channel in channels {
            inner.insert(channel.name.text.clone(), resolve_sorts(self.words, &channel.sorts, self.sink));
        }
        inner
    }

    /// Checks the behaviour behind `>>>`, which accepts the exit values, and returns its ending.
    fn check_enabled(
        &mut self,
        right: BehaviourId,
        exit: &BehaviourEnding,
        mut scope: Scope,
        reach: &ChannelSorts,
    ) -> BehaviourEnding {
        let spec = self.spec;
        let behaviour = &spec.behaviours[right];
        let sorts = match exit {
            BehaviourEnding::Exit(sorts) => sorts.clone(),
            BehaviourEnding::Never | BehaviourEnding::Hit => {
                let left = "the behaviour before `>>>` never ends with `EXIT`";
                self.sink.error(|| Diagnostic::new(Code::BadExit, behaviour.span, left));
                return BehaviourEnding::Never;
            }
        };
        let (offered, body): (&[OfferedValue], _) = match &behaviour.kind {
            BehaviourKind::Accept(offered, body) => (offered, *body),
            _ => (&[], right),
        };
        self.check_offers(offered, &sorts, behaviour.span, "`EXIT`", &mut scope);
        self.check_behaviour(body, scope, reach)
    }

    /// Checks one offer on a channel, declares the variables it binds, and returns how it can end.
    fn check_offer(
        &mut self,
        offer: &ChannelOffer,
        scope: &mut Scope,
        reach: &ChannelSorts,
    ) -> BehaviourEnding {
        let ending = match &offer.on {
            OfferedOn::Channel(name) => {
                let sorts = match self.channel_sorts(name, reach) {
                    Ok(sorts) => sorts,
                    Err(why) => {
                        // The variables are declared all the same, so that one unknown channel is one finding and
                        // not one for each use.
                        self.guess(offer, scope, why);
                        return BehaviourEnding::Never;
                    }
                };
                let (sorts, what) = self.with_further(name, sorts, offer, reach);
                let outer = scope.clone();
                let (values, ending) = offer.split_values();
                self.check_offers(values, &sorts, offer.span, &what, scope);
                match offer.exit {
                    Some(_) => BehaviourEnding::Exit(self.exit_values(ending, &outer, scope)),
                    None => BehaviourEnding::Never,
                }
            }
            OfferedOn::Exit => {
                let outer = scope.clone();
                BehaviourEnding::Exit(self.exit_values(&offer.values, &outer, scope))
            }
            on => {
                if !offer.values.is_empty() {
                    self.sink
                        .error(|| Diagnostic::new(Code::ArgumentCount, offer.span, "this has no values"));
                }
                if matches!(on, OfferedOn::Hit | OfferedOn::Miss) {
                    BehaviourEnding::Hit
                } else {
                    BehaviourEnding::Never
                }
            }
        };
        if let Some(guard) = &offer.guard {
            _ = self.typing().check(guard, Sort::Bool, scope);
        }
        ending
    }

    /// Returns the sorts of all channels of a communication, and its description for messages; each channel must have
    /// its own number of values.
    fn with_further(
        &mut self,
        name: &Name,
        sorts: Vec<Sort>,
        offer: &ChannelOffer,
        reach: &ChannelSorts,
    ) -> (Vec<Sort>, String) {
        if offer.with.is_empty() {
            return (sorts, format!("channel `{}`", name.text));
        }
        let rest: usize = offer.with.iter().map(|(_, n)| n).sum();
        let mut all = Vec::new();
        let mut names: Vec<&str> = Vec::new();
        let first = offer.split_values().0.len().saturating_sub(rest);
        for (name, n) in std::iter::once((name, first)).chain(offer.with.iter().map(|(name, n)| (name, *n))) {
            let own = self.channel_sorts(name, reach).unwrap_or_default();
            if names.contains(&&*name.text) {
                let message = format!("channel `{}` occurs twice in one communication", name.text);
                self.sink.error(|| Diagnostic::new(Code::DuplicateName, name.span, message));
            }
            if own.len() != n {
                let message = format!("channel `{}` has {} values, here are {n}", name.text, own.len());
                self.sink.error(|| Diagnostic::new(Code::ArgumentCount, name.span, message));
            }
            names.push(&name.text);
            all.extend(own);
        }
        (all, format!("communication on `{}`", names.join("`, `")))
    }

    /// Declares the variables received on an unknown channel, reported as `why`, if their sorts are written; else uses
    /// of their names are not reported.
    fn guess(&mut self, offer: &ChannelOffer, scope: &mut Scope, why: Reported) {
        for value in &offer.values {
            let OfferedValue::Take(var) = value else { continue };
            match self.words.written_sort(var, self.sink) {
                Ok(Some(sort)) => self.declare_variable(scope, var, sort),
                Ok(None) => self.sink.excuse(&var.name.text, why),
                Err(why) => self.sink.excuse(&var.name.text, why),
            }
        }
    }

    /// Checks values against the sorts they must have; received variables are in scope from here on.
    fn check_offers(
        &mut self,
        offered: &[OfferedValue],
        sorts: &[Sort],
        span: Span,
        what: &str,
        scope: &mut Scope,
    ) {
        if offered.len() != sorts.len() {
            let message = format!("{what} has {} values, here are {}", sorts.len(), offered.len());
            self.sink.error(|| Diagnostic::new(Code::ArgumentCount, span, message));
        }
        // Values that are given do not see the variables that the same offer takes.
        let outer = scope.clone();
        for (at, one) in offered.iter().enumerate() {
            let sort = sorts.get(at).copied();
            match one {
                OfferedValue::Take(var) => {
                    let written = self.words.written_sort(var, self.sink).ok().flatten();
                    if let (Some(sort), Some(written)) = (sort, written)
                        && sort != written
                    {
                        let typing = self.typing();
                        let (wanted, found) = (typing.sort_name(sort), typing.sort_name(written));
                        let message = format!("{what} has a `{wanted}` here, not a `{found}`");
                        self.sink.error(|| Diagnostic::new(Code::TypeMismatch, var.name.span, message));
                    }
                    self.declare_variable(scope, var, sort.or(written).unwrap_or(Sort::Int));
                }
                OfferedValue::Give(value) => {
                    _ = match sort {
                        Some(sort) => self.typing().check(value, sort, &outer),
                        None => self.typing().infer(value, None, &outer),
                    };
                }
            }
        }
    }

    /// Returns the sorts of the values of an `EXIT`. Those that are given are about the names of `outer`; those that
    /// are taken are added to `scope`.
    fn exit_values(&mut self, offered: &[OfferedValue], outer: &Scope, scope: &mut Scope) -> Vec<Sort> {
        let mut sorts = Vec::with_capacity(offered.len());
        for one in offered {
            sorts.push(match one {
                OfferedValue::Take(var) => match self.exit_sort(var) {
                    Ok(sort) => {
                        self.declare_variable(scope, var, sort);
                        sort
                    }
                    Err(_) => Sort::Int,
                },
                OfferedValue::Give(value) => {
                    let term = self.typing().infer(value, None, outer);
                    term.map_or(Sort::Int, |term| self.pool.sort(term).base())
                }
            });
        }
        sorts
    }

    /// Returns the sort of a variable that an `EXIT` takes, which must be written.
    fn exit_sort(&mut self, var: &VarDef) -> Result<Sort, Reported> {
        self.words.written_sort(var, self.sink)?.ok_or_else(|| {
            let message = format!("the type of `{}` is not known", var.name.text);
            self.sink.error(|| {
                Diagnostic::new(Code::CannotInfer, var.name.span, message).help("write it: `EXIT ? x :: Int`")
            })
        })
    }

    /// Checks a call of a process: number and sorts of its channels and arguments; returns how the call can end.
    fn check_call(
        &mut self,
        id: BehaviourId,
        call: WrittenCall<'_>,
        scope: &Scope,
        reach: &ChannelSorts,
    ) -> BehaviourEnding {
        let WrittenCall { process, channels, args } = call;
        let Ok(at) = self.called_process(call, scope, reach) else { return BehaviourEnding::Never };
        self.called.insert(id, at);
        let signature = &self.interface.signatures[at];
        let declared = self.spec.processes[at].name.span;
        let wrong = |sink: &mut FindingSink, what: &str, wanted: usize, found: usize| {
            sink.error(|| {
                let message = format!("process `{}` has {wanted} {what}, here are {found}", process.text);
                Diagnostic::new(Code::ArgumentCount, process.span, message).label(declared, "declared here")
            });
        };
        if channels.len() != signature.channels.len() {
            wrong(self.sink, "channels", signature.channels.len(), channels.len());
        }
        if args.len() != signature.params.len() {
            wrong(self.sink, "parameters", signature.params.len(), args.len());
        }
        for (name, sorts) in channels.iter().zip(&signature.channels) {
            if self.channel_sorts(name, reach).is_ok_and(|found| found != *sorts) {
                self.sink.error(|| {
                    let message = format!(
                        "channel `{}` has other values than process `{}` has here",
                        name.text, process.text
                    );
                    Diagnostic::new(Code::TypeMismatch, name.span, message).label(declared, "declared here")
                });
            }
        }
        for (arg, &sort) in args.iter().zip(&signature.params) {
            _ = self.typing().check(arg, sort, scope);
        }
        signature.exit.clone()
    }

    /// Returns the process that a call means: the only one of its name, or the only one of them whose channels and
    /// parameters fit.
    fn called_process(
        &mut self,
        call: WrittenCall<'_>,
        scope: &Scope,
        reach: &ChannelSorts,
    ) -> Result<usize, Reported> {
        let (process, interface) = (call.process, self.interface);
        let same_name = interface.processes.get(&process.text).map_or(&[][..], Vec::as_slice);
        match same_name {
            [] => {
                let names = interface.processes.keys().map(String::as_str).filter(|name| !name.contains('.'));
                return Err(self.sink.missing(&process.text, || {
                    let message = format!("there is no process `{}`", process.text);
                    suggest::suggest_nearest(
                        Diagnostic::new(Code::UnknownName, process.span, message),
                        process,
                        names,
                    )
                }));
            }
            [only] => return Ok(*only),
            _ => {}
        }
        let args = self.typing().possible_sorts(call.args, scope);
        let fits = |&&at: &&usize| {
            let ProcessSignature { channels, params, .. } = &interface.signatures[at];
            channels.len() == call.channels.len()
                && params.len() == args.len()
                && params.iter().zip(&args).all(|(&sort, found)| may_be(found, sort))
                && call
                    .channels
                    .iter()
                    .zip(channels)
                    .all(|(name, sorts)| reach.get(&name.text).is_none_or(|found| found == sorts))
        };
        let fitting: Vec<&usize> = same_name.iter().filter(fits).collect();
        if let [only] = *fitting {
            return Ok(*only);
        }
        let (code, message) = if fitting.is_empty() {
            (Code::TypeMismatch, format!("no process `{}` has these channels and parameters", process.text))
        } else {
            (Code::CannotInfer, format!("it is unclear which process `{}` is meant here", process.text))
        };
        Err(self.sink.error(|| {
            let all = Diagnostic::new(code, process.span, message);
            same_name
                .iter()
                .fold(all, |all, &at| all.label(self.spec.processes[at].name.span, "declared here"))
        }))
    }
}

/// A call of a process as it is written.
#[derive(Clone, Copy)]
struct WrittenCall<'s> {
    process: &'s Name,
    channels: &'s [Name],
    args: &'s [super::tree::TxsExpr],
}

/// Refuses processes that call themselves before anything happens, and returns the calls that may create processes
/// without bound: their caller is not at its end and may come back to them.
pub(super) fn check_bounds(
    spec: &Specification,
    interface: &ProcessInterface,
    sink: &mut FindingSink,
) -> BTreeSet<BehaviourId> {
    let mut growing = BTreeSet::new();
    let calls: Vec<Vec<ProcessCall>> =
        spec.processes.iter().map(|process| calls_in(spec, interface, process.body)).collect();
    // A process comes back to itself by a call if both are in one component of the graph of calls.
    let components = |counts: fn(&ProcessCall) -> bool| {
        let counted =
            |made: &Vec<ProcessCall>| made.iter().filter(|call| counts(call)).map(|call| call.to).collect();
        CallGraph::new(calls.iter().map(counted).collect()).components()
    };
    let (at_once, at_all) = (components(|call| !call.is_guarded), components(|_| true));
    for (from, made) in calls.iter().enumerate() {
        // A condition may bound the calls by values, which is not decided here: unfolding has a limit of its own.
        // Two ways to have no bound. A call before any message can be unfolded for ever at one place. A call
        // inside of a composition comes after messages, but each round leaves one operator more.
        for call in made.iter().filter(|call| !call.is_conditional) {
            let name = &spec.processes[from].shown;
            if !call.is_guarded && at_once[call.to] == at_once[from] {
                sink.error(|| {
                    let message = format!("process `{name}` calls itself here before any message");
                    Diagnostic::new(Code::UnboundedProcesses, call.span, message)
                        .help("put a communication before the call: `Chan >-> process[...](...)`")
                });
            } else if !call.is_tail && at_all[call.to] == at_all[from] {
                growing.insert(call.id);
            }
        }
    }
    growing
}

/// Returns for every behaviour whether it may end with `EXIT`, `HIT` or `MISS`, which others may have to wait for.
fn find_ends(spec: &Specification, interface: &ProcessInterface) -> IndexVec<BehaviourId, bool> {
    let mut ends: IndexVec<BehaviourId, bool> = IndexVec::new();
    let of_process = |at: &usize| interface.signatures[*at].exit != BehaviourEnding::Never;
    // The parts of a behaviour stand before it.
    for (id, behaviour) in spec.behaviours.iter_enumerated() {
        let found = match &behaviour.kind {
            BehaviourKind::Stop => false,
            BehaviourKind::Prefix(offer, next) => {
                let is_end = matches!(offer.on, OfferedOn::Exit | OfferedOn::Hit | OfferedOn::Miss);
                is_end || offer.exit.is_some() || ends[*next]
            }
            BehaviourKind::Guard(_, next)
            | BehaviourKind::Accept(_, next)
            | BehaviourKind::Let(_, next)
            | BehaviourKind::Hide(_, next)
            | BehaviourKind::Enable(_, next)
            | BehaviourKind::Interrupt(next, _) => ends[*next],
            BehaviourKind::Choice(all) => all.iter().any(|one| ends[*one]),
            BehaviourKind::Parallel(_, a, b) => ends[*a] && ends[*b],
            BehaviourKind::Disable(a, b) => ends[*a] || ends[*b],
            BehaviourKind::Call { .. } => interface.called.get(&id).is_some_and(of_process),
            BehaviourKind::Enter { process, .. } => of_process(process),
        };
        ends.push(found);
    }
    ends
}

/// A call of a process, with its context.
struct ProcessCall {
    id: BehaviourId,
    to: usize,
    /// True if nothing of the caller is left when it is made.
    is_tail: bool,
    /// True if something happens before it is made.
    is_guarded: bool,
    /// True if nothing happens before it is made but a condition must hold, so that values may bound it.
    is_conditional: bool,
    span: Span,
}

/// The context of a place in a process.
#[derive(Clone, Copy)]
struct ProcessWay {
    is_tail: bool,
    is_guarded: bool,
    has_condition: bool,
}

fn calls_in(spec: &Specification, interface: &ProcessInterface, body: BehaviourId) -> Vec<ProcessCall> {
    let mut found = Vec::new();
    let mut open = vec![(body, ProcessWay { is_tail: true, is_guarded: false, has_condition: false })];
    while let Some((id, way)) = open.pop() {
        let behaviour = &spec.behaviours[id];
        // Inside of a composition the operator stays when the call is made, so each round would add one more.
        let inside = ProcessWay { is_tail: false, ..way };
        let behind = ProcessWay { is_guarded: true, ..way };
        match &behaviour.kind {
            BehaviourKind::Stop => {}
            BehaviourKind::Prefix(_, next) => open.push((*next, behind)),
            BehaviourKind::Guard(_, next) => open.push((*next, ProcessWay { has_condition: true, ..way })),
            BehaviourKind::Let(_, next) | BehaviourKind::Accept(_, next) => open.push((*next, way)),
            // The branches of a choice vanish with the first step, so a call at the front of one is as good
            // as a call at the end of a sequence.
            BehaviourKind::Choice(all) => open.extend(all.iter().map(|&one| (one, way))),
            BehaviourKind::Parallel(_, left, right) | BehaviourKind::Interrupt(left, right) => {
                open.extend([(*left, inside), (*right, inside)]);
            }
            // What stands behind `>>>` comes after an exit, and then nothing is left of the operator.
            BehaviourKind::Enable(left, right) => open.extend([(*left, inside), (*right, behind)]),
            // When the right side has taken over, nothing is left of the operator; but its first step may be
            // the first of all, so the call is not guarded.
            BehaviourKind::Disable(left, right) => open.extend([(*left, inside), (*right, way)]),
            BehaviourKind::Hide(_, body) => open.push((*body, inside)),
            BehaviourKind::Call { .. } | BehaviourKind::Enter { .. } => {
                let entered = if let BehaviourKind::Enter { process, .. } = &behaviour.kind {
                    Some(*process)
                } else {
                    None
                };
                if let Some(to) = entered.or_else(|| interface.called.get(&id).copied()) {
                    let ProcessWay { is_tail, is_guarded, has_condition } = way;
                    let is_conditional = has_condition && !is_guarded;
                    found.push(ProcessCall {
                        id,
                        to,
                        is_tail,
                        is_guarded,
                        is_conditional,
                        span: behaviour.span,
                    });
                }
            }
        }
    }
    found
}
